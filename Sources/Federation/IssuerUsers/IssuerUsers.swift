import Authentication
public import Directory
public import Storage
public import Values

/// Whose account the word of an issuer leads to: the one place that decides about links and new accounts.
public struct IssuerUsers: Sendable {
    /// Puts into the post what tells an account's owner that `issuer` leads to it from now on. Joins the transaction.
    public typealias Notice =
        @Sendable (_ owner: User, _ issuer: String, _ now: Timestamp, _ db: any Transaction) throws -> Void

    private let database: any Database
    let notice: Notice

    public init(database: any Database, notice: @escaping Notice) {
        self.database = database
        self.notice = notice
    }

    /// What there is to be found out about a person; nothing has changed.
    public enum Finding: Sendable, Equatable {
        /// Linked to this account.
        case known(UserID)
        /// Not linked, yet this account has their address, and both sides know that it is theirs.
        case linkable(UserID)
        /// Nobody's yet, and the issuer may make accounts.
        case newcomer
        case unknown
        /// Their account is disabled by administration.
        case disabled
        /// Their account will be deleted, as they asked.
        case leaving(UserID)
        /// Their address has an account that the issuer's word does not lead to: its owner signs in and links them.
        case addressTaken
    }

    /// What became of a person.
    public enum Resolution: Sendable, Equatable {
        case known(UserID)
        case linked(UserID)
        case created(UserID)
        case unknown
        case disabled
        case leaving(UserID)
        case addressTaken
    }

    func find(_ person: IssuerUser) async throws -> Finding {
        try await database.read { db in try find(person, in: db) }
    }

    /// Looks for the account of `person`.
    public func find(_ person: IssuerUser, in db: any Transaction) throws -> Finding {
        if let link = try IssuerSubjects.find(person.subject, of: person.issuer.id, in: db) {
            guard !link.isLeaving else { return .leaving(link.user) }
            return link.isDisabled ? .disabled : .known(link.user)
        }
        let mayCome = person.issuer.createsUsers
        guard let email = person.ownAddress, let user = try Users.find(email, in: db) else {
            return mayCome ? .newcomer : .unknown
        }
        // An unverified address proves nothing: somebody else may have made the account. And an issuer knows nobody by two
        // subjects: the address may have become another person's there.
        guard person.issuer.rules.linksByEmail, user.emailVerified, user.deletionDueAt == nil,
            try !IssuerSubjects.has(user.id, linkedTo: person.issuer.id, in: db)
        else { return mayCome ? .addressTaken : .unknown }
        return user.disabledAt == nil ? .linkable(user.id) : .disabled
    }

    /// Finds the account of `person`, links the one there is or makes one, as the issuer's rules have it. `newcomer` is the
    /// id that a new account gets: made outside of the transaction, which may run twice.
    public func resolve(
        _ person: IssuerUser, newcomer: UserID, at now: Timestamp, in db: any Transaction
    ) throws -> Resolution {
        switch try find(person, in: db) {
        case .known(let user): return .known(user)
        case .unknown: return .unknown
        case .disabled: return .disabled
        case .leaving(let user): return .leaving(user)
        case .addressTaken: return .addressTaken
        case .linkable(let user):
            try link(person, to: user, at: now, in: db)
            if let email = person.ownAddress, let owner = try Users.find(email, in: db) {
                try notice(owner, person.issuer.title, now, db)
            }
            return .linked(user)
        case .newcomer:
            try Users.insertLinked(newcomer, email: person.ownAddress, profile: person.profile, at: now, in: db)
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
