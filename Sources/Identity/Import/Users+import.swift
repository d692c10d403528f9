import Cryptography
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
        let query = SQL("SELECT email FROM accounts WHERE email IN (", batch.map(\.email))
        let taken = try await database.read { db in
            Set(try db.rows(query).map { try $0.get("email", as: String.self) })
        }
        return batch.filter { !taken.contains($0.email.text) }
    }
}

extension ImportedUser {
    /// Stores those whose address is free, in the caller's transaction, with one statement: a network may lie between.
    static func insert(_ accounts: [ImportedUser], at now: Timestamp, in db: any Transaction) throws -> Int {
        guard !accounts.isEmpty else { return 0 }
        var sql = SQL.StringInterpolation(literalCapacity: accounts.count * 40, interpolationCount: accounts.count * 8)
        sql.appendLiteral(
            """
            INSERT INTO accounts (id, email, email_verified, password_hash, profile, created_at, updated_at,
                disabled_at)
            VALUES
            """)
        for (index, account) in accounts.enumerated() {
            sql.appendLiteral(index == 0 ? " " : ", ")
            sql.append(account, at: now)
        }
        sql.appendLiteral(" ON CONFLICT (email) DO NOTHING")
        guard try db.execute(SQL(stringInterpolation: sql)) < accounts.count else { return accounts.count }
        // A retry after a COMMIT of unknown outcome meets its own rows, which are stored as well.
        return try db.rows(SQL("SELECT id FROM accounts WHERE id IN (", accounts.map(\.id))).count
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
    fileprivate mutating func append(_ account: ImportedUser, at now: Timestamp) {
        appendLiteral("(")
        appendInterpolation(account.id)
        appendLiteral(", ")
        appendInterpolation(account.email)
        appendLiteral(", ")
        appendInterpolation(account.emailVerified)
        appendLiteral(", ")
        appendInterpolation(account.passwordHash?.encoded)
        appendLiteral(", ")
        appendInterpolation(account.profile.text)
        appendLiteral(", ")
        appendInterpolation(now)
        appendLiteral(", ")
        appendInterpolation(now)
        appendLiteral(", ")
        appendInterpolation(account.isDisabled ? now : nil)
        appendLiteral(")")
    }
}
