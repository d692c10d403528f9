public import Directory
public import JSON
public import Storage
public import Values

/// Accounts that somebody else than the person made: an issuer's word, or a provider's, is all they came of.
extension Users {
    /// Whether an address has an account, in the caller's transaction.
    public static func has(_ email: EmailAddress, in db: any Transaction) throws -> Bool {
        try !db.rows("SELECT id FROM users WHERE email = \(email)").isEmpty
    }

    /// The account of an address, in the caller's transaction.
    public static func find(_ email: EmailAddress, in db: any Transaction) throws -> User? {
        try db.rows("SELECT \(User.columns) FROM users WHERE email = \(email)").first.map(User.init)
    }

    /// The account of that number, in the caller's transaction.
    public static func find(_ id: UserID, in db: any Transaction) throws -> User? {
        try User.find(id, in: db)
    }

    /// Stores an account in the caller's transaction. The address is given only where it is known to be the person's.
    public static func insertLinked(
        _ id: UserID, email: EmailAddress?, profile: [JSON.Member], at now: Timestamp, in db: any Transaction
    ) throws {
        let user = User(
            id: id, email: email?.text, emailVerified: email != nil, profile: .object(profile), createdAt: now,
            updatedAt: now, disabledAt: nil, deletionDueAt: nil)
        try User.insert(user, passwordHash: nil, in: db)
    }
}
