public import Authentication
public import Directory
public import OAuth
public import Storage
public import Values

/// What administrators do to users. A merchant's administrator sees only the users connected to its clients.
public struct UserAdministration: Sendable {
    /// Throws when the caller is no longer an administrator, or has fewer rights than before.
    public typealias Confirm = @Sendable (any Transaction) throws -> Void

    private let users: Users
    private let families: TokenFamilies
    private let deletion: UserDeletion
    private let clock: any WallClock

    public init(users: Users, families: TokenFamilies, deletion: UserDeletion, clock: any WallClock) {
        self.users = users
        self.families = families
        self.deletion = deletion
        self.clock = clock
    }

    /// Creates a user; if a merchant's administrator does so, connected to that administrator's client. Throws
    /// `StorageError.conflict` when the address is taken, and `Users.TooManyNew`.
    public func create(
        _ changes: UserChanges, by administrator: Administrator, confirm: @escaping Confirm = { _ in }
    ) async throws -> User {
        try administrator.permit(making: changes)
        return try await users.create(
            changes, for: administrator.sender, chargedTo: administrator.confines
        ) { id, now, db in
            try confirm(db)
            guard case .merchant(_, let client) = administrator else { return }
            try Connections.connect(id, to: client, at: now, in: db)
        }
    }

    /// The users that `administrator` may see, or only those of `merchant`.
    public func list(
        by administrator: Administrator, connectedTo merchant: Merchant.ID? = nil, after cursor: Int64, count: Int
    ) async throws -> [User] {
        try await users.list(
            connectedTo: administrator.confines ?? merchant, ofOwnClients: administrator.confines != nil, after: cursor,
            count: count)
    }

    /// The user with this address, if `administrator` may see them.
    public func find(_ email: EmailAddress, by administrator: Administrator) async throws -> User? {
        guard let user = try await users.find(email), try await covers(user.id, by: administrator) else { return nil }
        return user
    }

    /// Whether `administrator` may see and change the user.
    public func covers(_ id: UserID, by administrator: Administrator) async throws -> Bool {
        guard let merchant = administrator.confines else { return true }
        return try await families.isConnected(id, to: merchant)
    }

    /// Nil for a user that does not exist, or that `administrator` may not change, or not any more. Throws
    /// `PasswordSignIn.Refusal.throttled` after many changes by a merchant's own administrator.
    public func change(
        _ id: UserID, _ changes: UserChanges, by administrator: Administrator, confirm: @escaping Confirm = { _ in }
    ) async throws -> User? {
        try administrator.permit(changing: changes)
        do {
            return try await users.change(
                id, changes, for: administrator.sender, chargedTo: administrator.confines
            ) { db in
                try confirm(db)
                guard let merchant = administrator.confines else { return }
                guard try TokenFamilies.isConnected(id, to: merchant, in: db) else { throw NotCovered() }
            }
        } catch is NotCovered {
            return nil
        }
    }

    /// The user has left the merchant.
    private struct NotCovered: Error {}

    public enum Removal: Sendable {
        case deleted
        /// A merchant only ends the user's connections to its own clients.
        case disconnected
        /// The user no longer exists, or is no longer the merchant's.
        case notFound
    }

    /// The platform deletes the user at once. Of a merchant's simultaneous removals of a user, only one goes through
    /// what the user has there. The caller has checked that `administrator` may do so (`covers`).
    public func remove(
        _ id: UserID, by administrator: Administrator, within budget: BulkErasure.Budget = .request,
        confirm: @escaping Confirm = { _ in }
    ) async throws -> Removal {
        guard let merchant = administrator.confines else {
            return try await deletion.delete(id, within: budget, confirm: confirm) ? .deleted : .notFound
        }
        do {
            try await families.disconnect(id, from: merchant, at: clock.now) { db in
                try confirm(db)
                guard try TokenFamilies.isConnected(id, to: merchant, in: db) else { throw NotCovered() }
            }
        } catch is NotCovered {
            return .notFound
        }
        return .disconnected
    }
}
