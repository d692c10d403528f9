import Storage
import Values

/// Says of a database that it was served with `--dev`: nobody showed to be who they are in it.
///
/// Such a database is never served under an https issuer, and one with people in it never becomes such a database.
struct DevelopmentFlag {
    private static let fact = "development_since"
    let database: any Database

    /// Since when it has been one; nil for every other.
    func find() async throws -> String? {
        try await database.read { db in try Self.stored(in: db) }
    }

    /// Marks it. Refused where people are that signed up otherwise.
    func set(at now: Timestamp) async throws {
        let isSet = try await database.write { db in
            if try Self.stored(in: db) != nil { return true }
            guard try db.rows("SELECT id FROM users LIMIT 1").isEmpty else { return false }
            try Facts.note(now.iso8601, as: Self.fact, in: db)
            return true
        }
        guard isSet else { throw InstallationError.peopleInDevelopment }
    }

    /// Refuses to let people in where anybody could be anybody.
    func refuse(under issuer: IssuerURL) async throws {
        guard issuer.isSecure, let since = try await find() else { return }
        throw InstallationError.forDevelopment(since: since)
    }

    private static func stored(in db: any Transaction) throws -> String? {
        try Facts.value(of: fact, in: db)
    }
}
