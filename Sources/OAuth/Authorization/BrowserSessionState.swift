public import Directory
public import Values

/// The signed-in user of the browser that brings an authorization request, and what is known about the user.
public struct BrowserSessionState: Sendable {
    /// The origin of the session.
    public enum Session: Sendable, Equatable {
        /// The user signed in here.
        case signIn
        /// A session code bought it, with a token of a client of this merchant. Behind it may be such an assertion.
        case bought(by: Merchant.ID?, isDated: Bool = true)
        /// An identity provider asserted the user: one of this merchant, or with nil one that all merchants trust. Only
        /// some providers say when the user signed in there.
        case asserted(for: Merchant.ID?, isDated: Bool)
    }

    /// The state of the user's e-mail address.
    public enum Email: Sendable, Equatable {
        case none
        case unverified
        /// The user has proved to own it.
        case verified
    }

    public let subject: Subject
    public let session: Session
    public let email: Email
    /// The scope that the user allowed the client before; nil when the client never asked.
    public let consented: Scope?
    /// Whether this is the user that the request names, if it names one.
    public let isMeant: Bool
    /// Whether the user has been introduced to the client's merchant, or need not be.
    public let isIntroduced: Bool
    /// Whether the user signed out of the client alone, and no page has asked since whether they are back.
    public let isGone: Bool
    /// Whether the user has just answered a page of ours about this very request.
    public let isPresent: Bool

    public init(
        subject: Subject, session: Session, email: Email, consented: Scope?, isMeant: Bool = true, isIntroduced: Bool,
        isGone: Bool = false, isPresent: Bool
    ) {
        self.isGone = isGone
        self.isMeant = isMeant
        self.isIntroduced = isIntroduced
        self.isPresent = isPresent
        self.subject = subject
        self.session = session
        self.email = email
        self.consented = consented
    }
}

extension BrowserSessionState.Session {
    /// A session bought with a merchant's token, or asserted by its identity provider, is no sign-in for another
    /// merchant's client. Otherwise any merchant could impersonate its users elsewhere.
    public func isGood(for client: Client) -> Bool {
        switch self {
        case .signIn: true
        case .bought(let merchant, _): Merchant.same(merchant, client.merchant)
        case .asserted(let merchant, _): merchant == nil || merchant == client.merchant
        }
    }

    /// Whether the time of the user's sign-in is known.
    var isDated: Bool {
        switch self {
        case .signIn: true
        case .bought(_, let isDated), .asserted(_, let isDated): isDated
        }
    }
}
