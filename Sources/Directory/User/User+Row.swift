import JSON
public import Storage
public import Values

extension User {
    package static let columns: SQL.Columns =
        """
        id, email, email_verified, profile, created_at, updated_at, disabled_at, deletion_due_at, attributes, subject, \
        verified_phone
        """

    package init(_ row: Row) throws {
        let profile: String = try row.get("profile")
        self.init(
            id: try row.get("id"), email: try row.get("email"), emailVerified: try row.get("email_verified"),
            profile: try JSON(stored: profile), createdAt: try row.get("created_at"),
            updatedAt: try row.get("updated_at"), disabledAt: try row.get("disabled_at"),
            deletionDueAt: try row.get("deletion_due_at"),
            attributes: try JSON(stored: try row.get("attributes")), subject: try row.get("subject"),
            verifiedPhone: try row.get("verified_phone", as: String?.self).flatMap { PhoneNumber($0) })
    }

    /// The `sub` of the user for clients without another one. For a deleted user it is the number.
    package static func sub(of id: UserID, in database: any Database) async throws -> String {
        let rows = try await database.rows("SELECT subject FROM users WHERE id = \(id)")
        return try rows.first?.get("subject", as: String?.self) ?? id.description
    }

    /// The `sub` that an import kept for the user, in the caller's transaction.
    package static func keptSubject(of id: UserID, in db: any Transaction) throws -> String? {
        try db.rows("SELECT subject FROM users WHERE id = \(id)").first?.get("subject")
    }

    /// The user whose `sub` an import kept, and who still has it.
    package static func id(ofSubject subject: String, in db: any Transaction) throws -> UserID? {
        try db.rows("SELECT id FROM users WHERE subject = \(subject)").first?.get("id")
    }

    /// The user with this id, in an open transaction.
    public static func find(_ id: UserID, in db: any Transaction) throws -> User? {
        try db.rows("SELECT \(columns) FROM users WHERE id = \(id)").first.map(User.init)
    }
}
