import JSON
package import Storage
package import Values

extension User {
    /// Stores users that conflict with none of `holders`, in the caller's transaction. It is one statement, because the
    /// database may be across a network.
    package static func insert(
        _ users: [(user: User, passwordHash: String?)], in db: any Transaction
    ) throws {
        guard !users.isEmpty else { return }
        var sql = SQL.StringInterpolation(literalCapacity: users.count * 40, interpolationCount: users.count * 8)
        sql.appendLiteral(
            """
            INSERT INTO users (id, email, email_verified, password_hash, profile, created_at, updated_at,
                disabled_at, subject)
            VALUES
            """)
        for (index, (user, passwordHash)) in users.enumerated() {
            sql.appendLiteral(index == 0 ? " (" : ", (")
            sql.appendInterpolation(user.id)
            sql.appendLiteral(", ")
            sql.appendInterpolation(user.email)
            sql.appendLiteral(", ")
            sql.appendInterpolation(user.emailVerified)
            sql.appendLiteral(", ")
            sql.appendInterpolation(passwordHash)
            sql.appendLiteral(", ")
            sql.appendInterpolation(user.profile.text)
            sql.appendLiteral(", ")
            sql.appendInterpolation(user.createdAt)
            sql.appendLiteral(", ")
            sql.appendInterpolation(user.updatedAt)
            sql.appendLiteral(", ")
            sql.appendInterpolation(user.disabledAt)
            sql.appendLiteral(", ")
            sql.appendInterpolation(user.subject)
            sql.appendLiteral(")")
        }
        try db.execute(SQL(stringInterpolation: sql))
    }

    /// The unique values of a stored user.
    package struct Holder: Sendable {
        package let id: UserID
        package let email: String?
        package let subject: String?
        package let updatedAt: Timestamp
    }

    /// The users who have the address, the number or the `sub` of one of `users`.
    package static func holders(of users: [User], in db: any Transaction) throws -> [Holder] {
        guard !users.isEmpty else { return [] }
        let columns: SQL.Columns = "id, email, subject, updated_at"
        var rows = try db.rows("SELECT \(columns) FROM users WHERE email IN (\(list: users.compactMap(\.email)))")
        rows += try db.rows("SELECT \(columns) FROM users WHERE id IN (\(list: users.map(\.id)))")
        let subjects = users.compactMap(\.subject)
        if !subjects.isEmpty {
            rows += try db.rows("SELECT \(columns) FROM users WHERE subject IN (\(list: subjects))")
        }
        return try rows.map { row in
            Holder(
                id: try row.get("id"), email: try row.get("email"), subject: try row.get("subject"),
                updatedAt: try row.get("updated_at"))
        }
    }
}
