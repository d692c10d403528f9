import Cryptography
import Directory
import JOSE
import Storage
import Values

extension Users {
    /// Stores those of `batch` whose address is free, in one transaction. Returns how many.
    func insert(_ batch: [ImportedUser]) async throws -> Int {
        let now = clock.now
        return try await database.write { db in try ImportedUser.insert(batch, at: now, in: db) }
    }

    /// Those of `batch` whose address has no account.
    func free(_ batch: [ImportedUser]) async throws -> [ImportedUser] {
        guard !batch.isEmpty else { return [] }
        let query = SQL("SELECT email FROM users WHERE email IN (", batch.map(\.email))
        let taken = try await database.read { db in
            Set(try db.rows(query).map { try $0.get("email", as: String.self) })
        }
        return batch.filter { !taken.contains($0.email.text) }
    }
}

extension ImportedUser {
    /// Stores those whose address is free, in the caller's transaction, with one statement: a network may lie between.
    static func insert(_ users: [ImportedUser], at now: Timestamp, in db: any Transaction) throws -> Int {
        guard !users.isEmpty else { return 0 }
        var sql = SQL.StringInterpolation(literalCapacity: users.count * 40, interpolationCount: users.count * 8)
        sql.appendLiteral(
            """
            INSERT INTO users (id, email, email_verified, password_hash, profile, created_at, updated_at,
                disabled_at)
            VALUES
            """)
        for (index, user) in users.enumerated() {
            sql.appendLiteral(index == 0 ? " " : ", ")
            sql.append(user, at: now)
        }
        sql.appendLiteral(" ON CONFLICT (email) DO NOTHING")
        guard try db.execute(SQL(stringInterpolation: sql)) < users.count else { return users.count }
        // A retry after a COMMIT of unknown outcome meets its own rows, which are stored as well.
        return try db.rows(SQL("SELECT id FROM users WHERE id IN (", users.map(\.id))).count
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

extension SQL.StringInterpolation {
    /// The values of one row, in the order of the statement above.
    fileprivate mutating func append(_ user: ImportedUser, at now: Timestamp) {
        appendLiteral("(")
        appendInterpolation(user.id)
        appendLiteral(", ")
        appendInterpolation(user.email)
        appendLiteral(", ")
        appendInterpolation(user.emailVerified)
        appendLiteral(", ")
        appendInterpolation(user.passwordHash?.encoded)
        appendLiteral(", ")
        appendInterpolation(user.profile.text)
        appendLiteral(", ")
        appendInterpolation(now)
        appendLiteral(", ")
        appendInterpolation(now)
        appendLiteral(", ")
        appendInterpolation(user.isDisabled ? now : nil)
        appendLiteral(")")
    }
}
