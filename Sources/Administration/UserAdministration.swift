public import Authentication
public import Directory
public import OAuth
public import Storage
public import Values

/// What administrators do to users. A merchant's administrator sees only the users connected to its clients.
public struct UserAdministration: Sendable {
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

    /// Whether there is this user, whom `administrator` may see and change.
    public func reaches(_ id: UserID, by administrator: Administrator) async throws -> Bool {
        guard try await users.find(id) != nil else { return false }
        return try await covers(id, by: administrator)
    }

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
        _ id: UserID, by administrator: Administrator, within budget: BulkErasure.Budget = .request
    ) async throws -> Removal {
        try administrator.requireAdministrator()
        guard let merchant = administrator.confines else {
            return try await deletion.delete(id, within: budget, by: administrator) ? .deleted : .notFound
        }
        return try await families.disconnect(id, from: merchant, at: clock.now, by: administrator)
            ? .disconnected : .notFound
    }
}

/// What a merchant's administrator may not set of users, because users belong to the whole deployment, and the one
/// thing that the platform's support sets.
extension Administrator: UserAuthority {
    public var sender: String { connects?.text ?? "" }
    public var charged: Merchant.ID? { confines }
    public var connects: Client.ID? { if case .merchant(_, let access) = self { access.token.client } else { nil } }

    public func covers(_ user: UserID, in db: any Transaction) throws -> Bool {
        guard let confines else { return true }
        return try TokenFamilies.isConnected(user, to: confines, in: db)
    }

    /// Throws unless it may begin a deletion that a user can cancel for `grace`: support takes away nothing for good.
    public func permitDeletion(after grace: Duration) throws {
        guard !isAdministrator, grace < .days(1) else { return }
        throw AdministrationRefusal(
            "Support may begin a deletion only if the user has a day to cancel it: 'deletion_grace' is shorter.")
    }

    public func permit(making user: UserChanges) throws {
        try requireAdministrator()
        guard confines != nil else { return }
        if let member = user.chosenMember {
            // A name of another system says that the user is one who is known there.
            throw AdministrationRefusal("Only the platform may choose the number or `sub` of a user.", member: member)
        }
        if user.verifiesEmail {
            // Users belong to the deployment: one merchant cannot verify an address for the others.
            throw AdministrationRefusal(
                "Only the platform may say that an address is verified.", member: "email_verified")
        }
        if user.setsPassword {
            // Otherwise the owner of the address could later find a user that another party can sign in as.
            throw AdministrationRefusal(
                "Only the platform may set a password. The user sets one at /password, by a link in a mail.",
                member: "password")
        }
        if user.setsAttributes {
            // Attributes reach the clients of every merchant.
            throw AdministrationRefusal("Only the platform may set attributes.", member: "attributes")
        }
        if user.disables {
            // It would keep the address's owner out of every merchant's applications.
            throw AdministrationRefusal("Only the platform may create a disabled user.", member: "disabled")
        }
    }

    public func permit(changing changes: UserChanges) throws {
        guard isAdministrator else {
            // Support keeps a user out; it lets none in, and a merchant's may not keep one out of the others.
            if !roles.contains(.platformSupport) || !changes.onlyDisables { try requireAdministrator() }
            return
        }
        guard confines != nil, let member = changes.sensitiveMember else { return }
        throw AdministrationRefusal(
            "Only the platform may set the address, password, verified flag, attributes and disabling of a user.",
            member: member)
    }
}
