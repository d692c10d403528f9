public import Storage
package import Values

/// Sign-ins in browsers of which a site was told that nobody is signed in: it asks again then.
///
/// Only such a browser has the cookie with this mark, and only a sign-in writes a row.
public struct NoticedSignIns: Sendable {
    /// How long a site goes by what it was told.
    public static let memory: Duration = .hours(1)

    /// A browser of which a site was told so.
    public enum Browser {}

    private let database: any Database

    public init(database: any Database) { self.database = database }

    /// Whether somebody signed in to `browser` after `time`.
    package func contain(_ browser: Fingerprint<Browser>, after time: Timestamp) async throws -> Bool {
        try await database.read { db in
            try !db.rows(
                "SELECT browser FROM noticed_sign_ins WHERE browser = \(browser) AND signed_in_at >= \(time)"
            ).isEmpty
        }
    }

    /// Notes a sign-in to `browser`.
    package func note(_ browser: Fingerprint<Browser>, at now: Timestamp) async throws {
        try await database.write { db in try Self.note(browser, at: now, in: db) }
    }

    package static func note(
        _ browser: Fingerprint<Browser>, at now: Timestamp, in db: any Transaction
    ) throws {
        try db.execute(
            """
            INSERT INTO noticed_sign_ins (browser, signed_in_at, expires_at)
            VALUES (\(browser), \(now), \(now + memory))
            ON CONFLICT (browser) DO UPDATE
            SET signed_in_at = excluded.signed_in_at, expires_at = excluded.expires_at
            """)
    }
}
