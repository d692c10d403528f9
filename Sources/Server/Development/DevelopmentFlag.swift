import Storage
import Values

/// Marks a database as served with `--dev`: its users signed in without proof of identity.
///
/// The database is then never served under an https issuer, and a database that already has users or merchants is never
/// marked.
struct DevelopmentFlag {
    private static let fact = "development_since"
    let database: any Database

    /// Since when the database is marked; nil when it is not.
    func find() async throws -> String? {
        try await database.read { db in try Self.stored(in: db) }
    }

    /// Marks the database. Throws when it has users or merchants that were not made in development mode.
    func set(at now: Timestamp) async throws {
        let isSet = try await database.write { db in
            if try Self.stored(in: db) != nil { return true }
            guard try db.rows("SELECT id FROM users LIMIT 1").isEmpty,
                try db.rows("SELECT id FROM merchants LIMIT 1").isEmpty
            else { return false }
            try Facts.note(now.iso8601, as: Self.fact, in: db)
            return true
        }
        guard isSet else { throw InstallationError.usersInDevelopment }
    }

    /// Throws when a marked database is to be served under an https issuer.
    func refuse(under issuer: IssuerURL) async throws {
        guard issuer.isSecure, let since = try await find() else { return }
        throw InstallationError.forDevelopment(since: since)
    }

    private static func stored(in db: any Transaction) throws -> String? {
        try Facts.value(of: fact, in: db)
    }
}
