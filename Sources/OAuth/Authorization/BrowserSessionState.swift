public import Directory

/// The signed-in user of the browser that brings an authorization request, and what is known about the user.
public struct BrowserSessionState: Sendable {
    /// The state of the user's e-mail address.
    public enum Email: Sendable, Equatable {
        case none
        case unverified
        /// The user has proved to own it.
        case verified
    }

    public let subject: Subject
    /// How the session came about.
    public let origin: Session.Origin
    /// Whether the time of the sign-in is known.
    public let isDated: Bool
    public let email: Email
    /// The scope that the user allowed the client before; nil when the client never asked.
    public let consented: Scope?
    /// Whether this is the user that the request names, if it names one.
    public let isMeant: Bool
    /// Whether the user has been introduced to the client's merchant, or needs no introduction.
    public let isIntroduced: Bool
    /// Whether the user signed out of this client alone, and no page has asked since whether they are back.
    public let isGone: Bool
    /// Whether the user has just answered a page of ours about this very request.
    public let isPresent: Bool

    public init(
        subject: Subject, origin: Session.Origin = .signIn, isDated: Bool = true, email: Email, consented: Scope?,
        isMeant: Bool = true, isIntroduced: Bool,
        isGone: Bool = false, isPresent: Bool
    ) {
        self.isGone = isGone
        self.isMeant = isMeant
        self.isIntroduced = isIntroduced
        self.isPresent = isPresent
        self.subject = subject
        self.origin = origin
        self.isDated = isDated
        self.email = email
        self.consented = consented
    }
}
