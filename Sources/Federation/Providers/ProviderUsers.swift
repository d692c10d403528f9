import Authentication
public import Cryptography
public import Directory
import OAuth
public import Storage
public import Values

/// Accounts that a provider's word leads to: made of it, or linked to it by their person.
public struct ProviderUsers: Sendable {
    private let database: any Database
    private let assertions: ProviderAssertions
    private let clock: any WallClock
    private let random: any RandomSource

    public init(
        database: any Database, assertions: ProviderAssertions, clock: any WallClock, random: any RandomSource
    ) {
        self.database = database
        self.assertions = assertions
        self.clock = clock
        self.random = random
    }

    /// Refuses by throwing when who asks may not any more: the provider may take seconds to answer.
    public typealias Confirm = @Sendable (any Transaction) throws -> Void

    /// Makes an account for whom the token in `assertion` stands for, connected to `connected`. Nil when there is one: the
    /// provider's person is linked, or their address has an account, of which nobody is told more than that.
    public func register(
        _ assertion: String, from client: Client, connectedTo connected: Client.ID, confirm: @escaping Confirm
    ) async throws -> UserID? {
        let (holder, person) = try await assertions.person(assertion, for: .registration, from: client)
        let user = UserID.random(from: random)
        let now = clock.now
        do {
            let isMade = try await database.write { db in
                try holder.confirm(in: db)
                try confirm(db)
                if let link = try IssuerSubjects.find(holder.subject, of: holder.issuer, in: db) {
                    // A retry after a COMMIT of unknown outcome meets its own.
                    return link.user == user
                }
                if let email = person.email, try Users.has(email, in: db) { return false }
                try Users.insertLinked(user, email: person.email, profile: person.profile, at: now, in: db)
                try IssuerSubjects.link(holder.subject, of: holder.issuer, to: user, at: now, in: db)
                try TokenFamilies.connect(user, to: connected, at: now, in: db)
                return true
            }
            return isMade ? user : nil
        } catch StorageError.conflict {
            // Another registration of the same person, or of the address, was first.
            return nil
        }
    }

    /// Links the account to whom the token in `assertion` stands for. False when that person is linked to another account.
    /// `post` makes what tells the account's owner of a new link, and joins its transaction.
    public func attach(
        _ assertion: String, from client: Client, to user: UserID, confirm: @escaping Confirm,
        post: (Provider) -> @Sendable (any Transaction) throws -> Void
    ) async throws -> Bool {
        let holder = try await assertions.holder(assertion, for: .attach, from: client)
        let post = post(holder.provider)
        let now = clock.now
        do {
            return try await database.write { db in
                try holder.confirm(in: db)
                try confirm(db)
                if let link = try IssuerSubjects.find(holder.subject, of: holder.issuer, in: db) {
                    return link.user == user
                }
                try IssuerSubjects.link(
                    holder.subject, of: holder.issuer, to: user, isConfined: true, at: now, in: db)
                try post(db)
                return true
            }
        } catch StorageError.constraint {
            // The account went while the provider was asked.
            throw OAuthError.tokenRefused("account_gone")
        } catch StorageError.conflict {
            // The unique key decided for another; it may have been this very person on a second screen.
            return try await database.read { db in
                try IssuerSubjects.find(holder.subject, of: holder.issuer, in: db)?.user == user
            }
        }
    }
}

extension ProviderAssertions.Holder {
    fileprivate func confirm(in db: any Transaction) throws {
        guard try TrustedIssuers.stands(trusted, in: db) else { throw OAuthError.providerUnknown(provider) }
    }
}
