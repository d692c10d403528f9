import Authentication
public import Directory
public import Storage
public import Values

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

    func find(_ person: IssuerUser) async throws -> Finding {
        try await database.read { db in try find(person, in: db) }
    }

    /// Looks for the user that `person` leads to.
    public func find(_ person: IssuerUser, in db: any Transaction) throws -> Finding {
        if let link = try IssuerSubjects.find(person.subject, of: person.issuer.id, in: db) {
            guard !link.isLeaving else { return .leaving(link.user) }
            return link.isDisabled ? .disabled : .known(link.user)
        }
        let mayCome = person.issuer.createsUsers
        guard let email = person.ownAddress, let user = try Users.find(email, in: db) else {
            guard mayCome else { return .unknown }
            return try RemovedSignIns.contain(person.subject, of: person.issuer.id, in: db)
                ? .removed : .newcomer
        }
        // An unverified address proves nothing: another user may have entered it. An issuer has only one subject for a
        // user, so a second subject with the address belongs to a new owner of the mailbox. And what the user has
        // disconnected is not connected again.
        guard person.issuer.rules.linksByEmail, user.emailVerified, user.deletionDueAt == nil,
            try !IssuerSubjects.has(user.id, linkedTo: person.issuer.id, in: db),
            try !hasAnotherAccount(user.id, than: person, in: db),
            try !RemovedSignIns.has(user.id, removed: person.issuer.id, in: db)
        else { return mayCome ? .addressTaken : .unknown }
        return user.disabledAt == nil ? .linkable(user.id) : .disabled
    }

    /// Whether the user is linked to another subject at other merchants' registrations of Google, where a user has the
    /// same subject in all apps.
    private func hasAnotherAccount(_ user: UserID, than person: IssuerUser, in db: any Transaction) throws -> Bool {
        guard person.issuer.app?.provider == .google else { return false }
        return try IssuerSubjects.has(
            user, linkedToOtherThan: person.subject, atProviderOf: person.issuer.id, in: db)
    }

    /// Finds the user that `person` leads to, links an existing one or creates one, as the issuer's rules say.
    /// `newcomer` is the id of a new user, made outside the transaction because that may run twice. Throws
    /// `Users.TooManyNew`.
    public func resolve(
        _ person: IssuerUser, newcomer: UserID, at now: Timestamp, in db: any Transaction
    ) throws -> Resolution {
        switch try find(person, in: db) {
        case .known(let user): return .known(user)
        case .unknown: return .unknown
        case .disabled: return .disabled
        case .leaving(let user): return .leaving(user)
        case .addressTaken: return .addressTaken
        case .removed: return .removed
        case .linkable(let user):
            try link(person, to: user, at: now, in: db)
            try events.say(.linked(issuer: person.issuer.nameInWarnings), user, at: now, in: db)
            return .linked(user)
        case .newcomer:
            try Users.insertLinked(
                newcomer, email: person.ownAddress?.ordinary, profile: person.profile,
                chargedTo: person.issuer.merchant, at: now, in: db)
            try link(person, to: newcomer, at: now, in: db)
            return .created(newcomer)
        }
    }

    private func link(
        _ person: IssuerUser, to user: UserID, at now: Timestamp, in db: any Transaction
    ) throws {
        try IssuerSubjects.link(person.subject, of: person.issuer.id, to: user, at: now, in: db)
    }
}
