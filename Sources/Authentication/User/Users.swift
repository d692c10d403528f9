import Audit
public import Cryptography
public import Directory
public import JSON
public import Storage
public import Values

/// An authority that creates and changes users.
public protocol UserAuthority: Authority {
    /// Whose turn the hashing of a password takes (`HashingPool`).
    var sender: String { get }
    /// The merchant that is charged for new and changed users; nil if none is.
    var charged: Merchant.ID? { get }
    /// The client that new users are connected to; nil if to none.
    var connects: Client.ID? { get }
    /// Throws unless it may create a user with these values.
    func permit(making user: UserChanges) throws
    /// Throws unless it may make `changes`.
    func permit(changing changes: UserChanges) throws
    /// Whether it may change this user.
    func covers(_ user: UserID, in db: any Transaction) throws -> Bool
}

/// The users, as administrators and users themselves change them.
public struct Users: Sendable {
    let database: any Database
    let hashing: HashingPool
    let clock: any WallClock
    let random: any RandomSource
    let events: UserEvents

    public init(
        database: any Database, hashing: HashingPool, clock: any WallClock, random: any RandomSource,
        events: UserEvents
    ) {
        self.database = database
        self.hashing = hashing
        self.clock = clock
        self.random = random
        self.events = events
    }

    /// A merchant's administrator, backends and issuers have made many users: wait this long.
    public struct TooManyNew: Error, Sendable {
        public let wait: Duration
    }

    /// A chosen number or `sub` is another user's, or a client's.
    public struct Taken: Error, Sendable {
        public let member: String
    }

    /// Creates a user. Throws `StorageError.conflict` when the address is taken, `Taken` and `TooManyNew`.
    public func create(_ changes: UserChanges, by authority: some UserAuthority) async throws -> User {
        try authority.permit(making: changes)
        guard let email = changes.email else { throw JSONFault("email", "given") }
        guard email.isOrdinary else { throw UserChanges.unusualEmail }
        let now = clock.now
        var hash: String?
        if let password = changes.password {
            hash = try await hashing.hash(password.text, for: authority.sender, random: random).encoded
        }
        let user = User(
            id: changes.id ?? .random(from: random), email: email.text, emailVerified: changes.emailVerified ?? false,
            profile: .object(changes.profile), createdAt: now, updatedAt: now,
            disabledAt: changes.disabled == true ? now : nil, deletionDueAt: nil,
            attributes: try changes.attributes?.applied() ?? .object([]), subject: changes.subject)
        let passwordHash = hash
        let trail = AuditTrail(by: authority.actor, at: now, random: random)
        try await database.write { db in
            // A retry after a COMMIT of unknown outcome finds its own row, which is no conflict.
            if let found = try User.find(user.id, in: db) {
                guard found.createdAt == now, found.email == user.email else { throw Taken(member: "user_id") }
                return
            }
            try authority.confirm(in: db)
            if let subject = user.subject, try Self.isTaken(subject, in: db) { throw Taken(member: "sub") }
            if let merchant = authority.charged, let wait = try Throttle.chargeUser(by: merchant, at: now, in: db) {
                throw TooManyNew(wait: wait)
            }
            try User.insert(user, passwordHash: passwordHash, in: db)
            try trail.record("user.created", on: .user(user.id), after: user.adminJSON, in: db)
            if let client = authority.connects { try Connections.connect(user.id, to: client, at: now, in: db) }
        }
        return user
    }

    /// Whether a user has this `sub`, or a client has it as its id, which is the `sub` of its own tokens (RFC 9068 §5).
    private static func isTaken(_ subject: String, in db: any Transaction) throws -> Bool {
        try User.id(ofSubject: subject, in: db) != nil || !clients(named: [subject], in: db).isEmpty
    }

    /// The user that a public `sub` names.
    public func id(ofSubject subject: String) async throws -> UserID? {
        if let id = try await database.read({ db in try User.id(ofSubject: subject, in: db) }) { return id }
        return UserID(subject)
    }

    public func find(_ id: UserID) async throws -> User? {
        try await database.read { db in try User.find(id, in: db) }
    }

    public func find(_ email: EmailAddress) async throws -> User? {
        try await database.read { db in try Self.find(email, in: db) }
    }

    /// At most `count` users after `cursor`: all of them, or those connected to clients of `merchant`, with
    /// `ofOwnClients` only to its first-party clients.
    public func list(
        connectedTo merchant: Merchant.ID?, ofOwnClients: Bool = false, after cursor: Int64, count: Int
    ) async throws -> [User] {
        try await database.scan(for: .of(merchant)) { db in
            guard let merchant else {
                return try db.rows(
                    "SELECT \(User.columns) FROM users WHERE id > \(cursor) ORDER BY id LIMIT \(count)"
                ).map(User.init)
            }
            let counted = ofOwnClients ? ClientRight.shareWithMerchant.held(by: "clients") : .always
            let clients: [Client.ID] = try db.rows(
                "SELECT id FROM clients WHERE merchant_id = \(merchant) AND deleted_at IS NULL AND \(counted)"
            ).map { try $0.get("id") }
            // Each client's first users in index order, which include the first of all.
            var numbers: Set<Int64> = []
            for client in clients {
                let rows = try db.rows(
                    """
                    SELECT user_id FROM connections WHERE client_id = \(client) AND user_id > \(cursor)
                    ORDER BY user_id LIMIT \(count)
                    """)
                for row in rows { numbers.insert(try row.get("user_id")) }
            }
            guard !numbers.isEmpty else { return [] }
            let page = numbers.sorted().prefix(count)
            return try db.rows(
                "SELECT \(User.columns) FROM users WHERE id IN (\(list: Array(page))) ORDER BY id"
            ).map(User.init)
        }
    }

    /// Stores `changes`. A new password and disabling end all tokens and sessions of the user. Another address, or the
    /// loss of the verified number, ends those that codes to the former one opened. A new password together with
    /// another address, or for an unverified address, also ends what another party may have set up, as the first reset
    /// by mail does (`UserEvent.takenOver`). Nil if the user does not exist, or if `authority` may not change the user,
    /// or no longer. Throws `PasswordSignIn.Refusal.throttled` after many changes.
    public func change(_ id: UserID, _ changes: UserChanges, by authority: some UserAuthority) async throws -> User? {
        try authority.permit(changing: changes)
        let now = clock.now
        var hash: String?
        if let password = changes.password {
            hash = try await hashing.hash(password.text, for: authority.sender, random: random).encoded
        }
        let newHash = hash
        return try await events.write(to: database, at: now, by: authority.actor) { db, announcement in
            try authority.confirm(in: db)
            guard try authority.covers(id, in: db), var user = try User.find(id, in: db) else { return nil }
            let former = user
            if changes.forgetsPhone { user.verifiedPhone = nil }
            try user.take(changes, at: now)
            // Disabling a user again ends what they have, too.
            let isChanged = changes.forgetsPhone || changes.disabled == true || !user.reads(like: former)
            guard newHash != nil || isChanged else { return former }
            if let merchant = authority.charged {
                try Throttle.chargeChange(of: id, by: merchant, at: now, in: db)
            }
            try announcement.watching(id, in: db) {
                try User.update(user, passwordHash: newHash, in: db)
                if changes.forgetsPhone { try User.forgetPhone(of: id, at: now, in: db) }
            }
            let endsAccess = newHash != nil || changes.disabled == true
            // First the end: sites are told only while they are connected to the user, which a takeover ends.
            if endsAccess { try announcement.say(.accessRevoked(keeping: nil), id, db) }
            if newHash != nil, former.email != nil, !former.emailVerified || user.email != former.email {
                // The owner of the new password need not be the former user, because the address was never proved.
                try announcement.say(.takenOver(signUp: nil), id, db)
            }
            guard !endsAccess else { return user }
            if user.email != former.email {
                // A link on its way to the former address must not sign in.
                try Verifications.endAll(of: id, at: now, in: db)
                try announcement.say(.methodRevoked(.mail, keeping: nil), id, db)
            }
            if changes.forgetsPhone { try announcement.say(.methodRevoked(.text, keeping: nil), id, db) }
            return user
        }
    }
}

extension User {
    fileprivate mutating func take(_ changes: UserChanges, at now: Timestamp) throws(JSONFault) {
        if let address = changes.email?.text, !address.utf8.elementsEqual((email ?? "").utf8) {
            guard changes.email?.isOrdinary == true else { throw UserChanges.unusualEmail }
            // The old address was verified, the new one is not.
            email = address
            emailVerified = false
        }
        guard email != nil || changes.emailVerified != true else {
            throw JSONFault("email_verified", "false, or together with an email: the user has no address")
        }
        emailVerified = changes.emailVerified ?? emailVerified
        let named = Set(changes.profile.map(\.name)).union(changes.withoutClaims)
        profile = .object((profile.members ?? []).filter { !named.contains($0.name) } + changes.profile)
        if let change = changes.attributes { attributes = try change.applied(to: attributes) }
        if let disabled = changes.disabled { disabledAt = disabled ? disabledAt ?? now : nil }
        updatedAt = now
    }

    /// Whether everything that administration can change is equal.
    fileprivate func reads(like other: User) -> Bool {
        (email ?? "").utf8.elementsEqual((other.email ?? "").utf8) && emailVerified == other.emailVerified
            && disabledAt == other.disabledAt && attributes == other.attributes
            && Set(profile.members ?? []) == Set(other.profile.members ?? [])
    }
}

/// Users created from the assertion of an issuer or identity provider, without signing up themselves.
extension Users {
    /// Whether a user has the address, in the caller's transaction.
    public static func has(_ email: EmailAddress, in db: any Transaction) throws -> Bool {
        try !db.rows("SELECT id FROM users WHERE email = \(email)").isEmpty
    }

    /// The user with this address, in the caller's transaction.
    public static func find(_ email: EmailAddress, in db: any Transaction) throws -> User? {
        try db.rows("SELECT \(User.columns) FROM users WHERE email = \(email)").first.map(User.init)
    }

    /// The user with this id, in the caller's transaction.
    public static func find(_ id: UserID, in db: any Transaction) throws -> User? {
        try User.find(id, in: db)
    }

    /// Stores a user in the caller's transaction. `email` is given only when it is known to be theirs. A merchant's own
    /// issuer can make up users, so the merchant is charged. Throws `TooManyNew`.
    public static func insertLinked(
        _ id: UserID, email: EmailAddress?, profile: [JSON.Member], chargedTo merchant: Merchant.ID? = nil,
        at now: Timestamp, in db: any Transaction
    ) throws {
        if let merchant, let wait = try Throttle.chargeUser(by: merchant, at: now, in: db) {
            throw TooManyNew(wait: wait)
        }
        let user = User(
            id: id, email: email?.text, emailVerified: email != nil, profile: .object(profile), createdAt: now,
            updatedAt: now, disabledAt: nil, deletionDueAt: nil)
        try User.insert(user, passwordHash: nil, in: db)
    }
}
