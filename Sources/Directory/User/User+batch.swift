import JSON
package import Storage
import Values

extension User {
    /// Stores those whose e-mail address is free, in the caller's transaction, with one statement: a network may lie
    /// between. Returns how many.
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
        // A retry after a COMMIT of unknown outcome meets its own rows, which are stored as well.
        return try db.rows(SQL("SELECT id FROM users WHERE id IN (", users.map(\.user.id))).count
    }

    /// Those of `emails` that a user has.
    package static func taken(_ emails: [EmailAddress], in db: any Transaction) throws -> Set<String> {
        guard !emails.isEmpty else { return [] }
        let rows = try db.rows(SQL("SELECT email FROM users WHERE email IN (", emails))
        return Set(try rows.map { try $0.get("email", as: String.self) })
    }
}

extension SQL {
    /// `start` and a list of as many values as there are.
    fileprivate init(_ start: String, _ values: [some SQLBindable]) {
        var sql = StringInterpolation(
            literalCapacity: start.utf8.count + values.count * 2, interpolationCount: values.count)
        sql.appendLiteral(start)
        for (index, value) in values.enumerated() {
            if index > 0 { sql.appendLiteral(", ") }
            sql.appendInterpolation(value)
        }
        sql.appendLiteral(")")
        self.init(stringInterpolation: sql)
    }
}
