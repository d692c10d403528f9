import JSON
package import Storage
import Values

extension User {
    /// Stores the users whose e-mail address is free, in the caller's transaction. It is one statement, because a
    /// network may lie between. Returns how many of `users` are stored.
    package static func insert(
        _ users: [(user: User, passwordHash: String?)], in db: any Transaction
    ) throws -> Int {
        guard !users.isEmpty else { return 0 }
        var sql = SQL.StringInterpolation(literalCapacity: users.count * 40, interpolationCount: users.count * 8)
        sql.appendLiteral(
            """
            INSERT INTO users (id, email, email_verified, password_hash, profile, created_at, updated_at,
                disabled_at)
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
            sql.appendLiteral(")")
        }
        sql.appendLiteral(" ON CONFLICT (email) DO NOTHING")
        guard try db.execute(SQL(stringInterpolation: sql)) < users.count else { return users.count }
        // Counts the rows by id: a retry after a COMMIT of unknown outcome finds its own rows, which are stored as
        // well.
        return try db.rows("SELECT id FROM users WHERE id IN (\(list: users.map(\.user.id)))").count
    }

    /// The ones of `emails` that a user has.
    package static func taken(_ emails: [EmailAddress], in db: any Transaction) throws -> Set<String> {
        guard !emails.isEmpty else { return [] }
        let rows = try db.rows("SELECT email FROM users WHERE email IN (\(list: emails))")
        return Set(try rows.map { try $0.get("email", as: String.self) })
    }
}
