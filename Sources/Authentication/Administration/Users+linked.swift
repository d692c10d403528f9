public import Directory
public import JSON
public import Storage
public import Values

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
