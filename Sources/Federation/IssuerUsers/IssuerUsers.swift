import Audit
import Authentication
public import Directory
public import JSON
public import Storage
public import Values

/// A user as an issuer describes them.
public struct IssuerUser: Sendable {
    public let issuer: TrustedIssuer
    /// The issuer's identifier of the user: the only one that never passes to another user.
    public let subject: String
    public let email: EmailAddress?
    /// Whether the issuer says that the user proved to read the address.
    public let isEmailVerified: Bool
    /// Whether the issuer can know that: it runs the mailbox, or an administrator says so. Otherwise any user who
    /// registers there with another user's address would become that user here.
    public let isAuthoritative: Bool
    public let profile: [JSON.Member]

    /// Reads the claims of an ID token or of a userinfo response.
    public init(_ claims: JSON, subject: String, of issuer: TrustedIssuer) {
        self.issuer = issuer
        self.subject = subject
        email = claims["email"]?.string.flatMap(EmailAddress.init)
        isEmailVerified = Self.isVerified(claims)
        isAuthoritative = isEmailVerified && Self.isAuthoritative(issuer, for: email, claims)
        var names = ProviderUser()
        for claim in ["name", "given_name", "family_name", "locale"] { names.take(claim, claims[claim]) }
        profile = names.profile
    }

    /// Reads the answer of a provider's own API. Uses only addresses that the provider is authoritative for.
    init(_ user: ProviderUser, subject: String, of issuer: TrustedIssuer) {
        self.issuer = issuer
        self.subject = subject
        email = user.email
        isEmailVerified = user.email != nil
        isAuthoritative = user.email != nil
        profile = user.profile
    }

    /// The address that may lead to an existing user, or become a new user's.
    var ownAddress: EmailAddress? { isAuthoritative ? email : nil }

    /// Apple, and sometimes Google, send it as a string.
    private static func isVerified(_ claims: JSON) -> Bool {
        claims["email_verified"]?.bool ?? (claims["email_verified"] == "true")
    }

    private static func isAuthoritative(_ issuer: TrustedIssuer, for email: EmailAddress?, _ claims: JSON) -> Bool {
        guard let email else { return false }
        if issuer.rules.authoritativeDomains.contains(email.domain) { return true }
        return switch issuer.app?.provider {
        case .google: isGoogles(email, claims)
        // The user has proved to Apple that they read the address, or Apple runs the mailbox.
        case .apple: true
        // Facebook does not say whether the address was verified.
        case .facebook, nil: false
        }
    }

    /// Whether Google runs the mailbox: at Gmail, or for an organisation (`hd`) whose mail Google hosts.
    static func isGoogles(_ email: EmailAddress, _ claims: JSON) -> Bool {
        email.domain == "gmail.com" || claims["hd"]?.string?.isEmpty == false
    }
}

/// Decides which user an issuer's token leads to. No other code decides about links and new users.
public struct IssuerUsers: Sendable {
    private let database: any Database
    let events: UserEvents

    public init(database: any Database, events: UserEvents) {
        self.database = database
        self.events = events
    }

    /// What is known about a user at an issuer. Nothing has changed yet.
    public enum Finding: Sendable, Equatable {
        /// Linked to this user.
        case known(UserID)
        /// Not linked, but this user has the address, and both sides have verified it.
        case linkable(UserID)
        /// Not linked to any user yet, and the issuer may create users.
        case newcomer
        case unknown
        /// An administrator disabled the user.
        case disabled
        /// The user asked for deletion, which is pending.
        case leaving(UserID)
        /// Another user has the address and is not linked to this issuer: that user must sign in and link the issuer.
        case addressTaken
        /// A user has removed this sign-in from their account, and must connect it there again.
        case removed
    }

    /// The outcome of `resolve`.
    public enum Resolution: Sendable, Equatable {
        case known(UserID)
        case linked(UserID)
        case created(UserID)
        case unknown
        case disabled
        case leaving(UserID)
        case addressTaken
        case removed
    }

    func find(_ issuerUser: IssuerUser) async throws -> Finding {
        try await database.read { db in try find(issuerUser, in: db) }
    }

    /// Looks for the user that `issuerUser` leads to.
    public func find(_ issuerUser: IssuerUser, in db: any Transaction) throws -> Finding {
        if let link = try IssuerSubjects.find(issuerUser.subject, of: issuerUser.issuer.id, in: db) {
            guard !link.isLeaving else { return .leaving(link.user) }
            return link.isDisabled ? .disabled : .known(link.user)
        }
        let mayCome = issuerUser.issuer.createsUsers
        guard let email = issuerUser.ownAddress, let user = try Users.find(email, in: db) else {
            guard mayCome else { return .unknown }
            return try RemovedSignIns.contain(issuerUser.subject, of: issuerUser.issuer.id, in: db)
                ? .removed : .newcomer
        }
        // An unverified address proves nothing: another user may have entered it. An issuer has only one subject for a
        // user, so a second subject with the address belongs to a new owner of the mailbox. And what the user has
        // disconnected is not connected again.
        guard issuerUser.issuer.rules.linksByEmail, user.emailVerified, user.deletionDueAt == nil,
            try !IssuerSubjects.has(user.id, linkedTo: issuerUser.issuer.id, in: db),
            try !hasAnotherAccount(user.id, than: issuerUser, in: db),
            try !RemovedSignIns.has(user.id, removed: issuerUser.issuer.id, in: db)
        else { return mayCome ? .addressTaken : .unknown }
        return user.disabledAt == nil ? .linkable(user.id) : .disabled
    }

    /// Whether the user is linked to another subject at other merchants' registrations of Google, where a user has the
    /// same subject in all apps.
    private func hasAnotherAccount(_ user: UserID, than issuerUser: IssuerUser, in db: any Transaction) throws -> Bool {
        guard issuerUser.issuer.app?.provider == .google else { return false }
        return try IssuerSubjects.has(
            user, linkedToOtherThan: issuerUser.subject, atProviderOf: issuerUser.issuer.id, in: db)
    }

    /// Finds the user that `issuerUser` leads to, links an existing one or creates one, as the issuer's rules say.
    /// `newcomer` is the id of a new user, made outside the transaction because that may run twice. Throws
    /// `Users.TooManyNew`.
    public func resolve(
        _ issuerUser: IssuerUser, newcomer: UserID, at now: Timestamp, in db: any Transaction
    ) throws -> Resolution {
        switch try find(issuerUser, in: db) {
        case .known(let user): return .known(user)
        case .unknown: return .unknown
        case .disabled: return .disabled
        case .leaving(let user): return .leaving(user)
        case .addressTaken: return .addressTaken
        case .removed: return .removed
        case .linkable(let user):
            try link(issuerUser, to: user, at: now, in: db)
            try sayLinked(issuerUser, to: user, at: now, in: db)
            return .linked(user)
        case .newcomer:
            try Users.insertLinked(
                newcomer, email: issuerUser.ownAddress?.ordinary, profile: issuerUser.profile,
                chargedTo: issuerUser.issuer.merchant, at: now, in: db)
            try link(issuerUser, to: newcomer, at: now, in: db)
            try events.announcement(at: now, by: Actor(.user(newcomer))).trail(of: newcomer).record(
                "user.created", on: .user(newcomer),
                after: .members(["issuer": .string(issuerUser.issuer.nameInWarnings)]), in: db)
            return .created(newcomer)
        }
    }

    /// The transaction does not know the request: the user acts, by the issuer's word.
    private func sayLinked(
        _ issuerUser: IssuerUser, to user: UserID, at now: Timestamp, in db: any Transaction
    ) throws {
        try events.say(
            .linked(issuer: issuerUser.issuer.nameInWarnings), user, at: now, by: Actor(.user(user)), in: db)
    }

    private func link(
        _ issuerUser: IssuerUser, to user: UserID, at now: Timestamp, in db: any Transaction
    ) throws {
        try IssuerSubjects.link(issuerUser.subject, of: issuerUser.issuer.id, to: user, at: now, in: db)
    }
}

extension IssuerUsers {
    /// Links `issuerUser` to `user`, who is signed in here and asked for it. False when either is already linked
    /// elsewhere: an issuer has only one subject for a user.
    func connect(
        _ issuerUser: IssuerUser, to user: UserID, at now: Timestamp, in db: any Transaction
    ) throws -> Bool {
        if let link = try IssuerSubjects.find(issuerUser.subject, of: issuerUser.issuer.id, in: db) {
            guard link.user == user else { return false }
            // The user knew a link to one merchant's applications. From now on it is good wherever the issuer's
            // sign-ins are.
            if try IssuerSubjects.release(issuerUser.subject, of: issuerUser.issuer.id, for: user, in: db) {
                try sayLinked(issuerUser, to: user, at: now, in: db)
            }
            return true
        }
        guard try !IssuerSubjects.has(user, linkedTo: issuerUser.issuer.id, in: db),
            let owner = try User.find(user, in: db), owner.disabledAt == nil, owner.deletionDueAt == nil
        else { return false }
        try IssuerSubjects.link(issuerUser.subject, of: issuerUser.issuer.id, to: user, at: now, in: db)
        try sayLinked(issuerUser, to: user, at: now, in: db)
        return true
    }
}
