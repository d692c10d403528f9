public import Storage
public import Values

/// Forgets what has no use any more, in batches small enough never to stall issuance.
public struct Retention: Sendable {
    private let database: any Database

    public init(database: any Database) { self.database = database }

    /// A spent code is remembered this long, so that its replay still revokes.
    public static let codeMemory: Duration = .days(1)
    /// A refresh token that expired or was rotated is remembered this long after its expiry, for the same reason.
    public static let refreshMemory: Duration = .days(7)

    /// Forgets at most `batch` rows of each table. Returns how many went; call again while there are some.
    public func sweep(at now: Timestamp, batch: Int = 500) async throws -> Int {
        var gone = 0
        for statement in Self.statements(at: now, batch: batch) {
            gone += try await database.write { db in try db.execute(statement) }
        }
        return gone
    }

    private static func statements(at now: Timestamp, batch: Int) -> [SQL] {
        [
            """
            DELETE FROM access_tokens WHERE fingerprint IN (
                SELECT fingerprint FROM access_tokens WHERE expires_at <= \(now) ORDER BY expires_at LIMIT \(batch))
            """,
            """
            DELETE FROM refresh_tokens WHERE fingerprint IN (
                SELECT fingerprint FROM refresh_tokens WHERE expires_at <= \(now - refreshMemory)
                ORDER BY expires_at LIMIT \(batch))
            """,
            """
            DELETE FROM authorization_codes WHERE fingerprint IN (
                SELECT fingerprint FROM authorization_codes WHERE expires_at <= \(now - codeMemory)
                ORDER BY expires_at LIMIT \(batch))
            """,
            """
            DELETE FROM exchange_codes WHERE fingerprint IN (
                SELECT fingerprint FROM exchange_codes WHERE expires_at <= \(now - codeMemory)
                ORDER BY expires_at LIMIT \(batch))
            """,
            """
            DELETE FROM permissions WHERE id IN (
                SELECT id FROM permissions WHERE expires_at <= \(now - codeMemory) ORDER BY expires_at LIMIT \(batch))
            """,
            """
            DELETE FROM sessions WHERE id IN (
                SELECT id FROM sessions WHERE expires_at <= \(now) ORDER BY expires_at LIMIT \(batch))
            """,
            """
            DELETE FROM throttles WHERE name IN (
                SELECT name FROM throttles WHERE full_at <= \(now) ORDER BY full_at LIMIT \(batch))
            """,
            """
            DELETE FROM used_assertions WHERE fingerprint IN (
                SELECT fingerprint FROM used_assertions WHERE expires_at <= \(now) ORDER BY expires_at LIMIT \(batch))
            """,
            """
            DELETE FROM sign_in_places WHERE seen_at <= \(now - .days(180)) AND account_id IN (
                SELECT account_id FROM sign_in_places WHERE seen_at <= \(now - .days(180))
                ORDER BY seen_at LIMIT \(batch))
            """,
        ]
    }
}
