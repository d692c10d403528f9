public import Directory
public import Values

/// Who is signed in to the browser that brings an authorization request, and what is known of that person.
public struct BrowserSessionState: Sendable {
    /// How the session came about.
    public enum Session: Sendable, Equatable {
        /// The person signed in here.
        case signIn
        /// A session code bought it, with a token of a client of this merchant.
        case bought(by: Merchant.ID?)
        /// An issuer vouched for the person; one of this merchant's, unless it is trusted by all. Only some say when the
        /// person signed in there.
        case vouched(for: Merchant.ID?, isDated: Bool)
    }

    /// The person's e-mail address.
    public enum Email: Sendable, Equatable {
        case none
        case unverified
        /// The person has shown to read it.
        case verified
    }

    public let subject: Subject
    public let session: Session
    public let email: Email
    /// What the person allowed the client before; nil when the client never asked.
    public let consented: Scope?
    /// Whether it is the person the request is about, if it names one.
    public let isMeant: Bool
    /// Whether the person has met the client's merchant, or need not have.
    public let isIntroduced: Bool
    /// Whether the person has just answered a page of ours about this very request.
    public let isPresent: Bool

    public init(
        subject: Subject, session: Session, email: Email, consented: Scope?, isMeant: Bool = true, isIntroduced: Bool,
        isPresent: Bool
    ) {
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
    /// A session that a merchant's token bought, or its issuer's word, is no sign-in for another merchant's client: else any merchant could
    /// become its users elsewhere.
    public func isGood(for client: Client) -> Bool {
        switch self {
        case .signIn: true
        case .bought(let merchant): Merchant.same(merchant, client.merchant)
        case .vouched(let merchant, _): merchant == nil || merchant == client.merchant
        }
    }

    /// Whether it is known when the person signed in.
    var isDated: Bool { if case .vouched(_, isDated: false) = self { false } else { true } }
}
