import Directory
import Storage
import Values

/// The access tokens that bought sessions. A session may outlive the token, which is forgotten when it has expired, and
/// an app without refresh tokens has no other to sign its user out by.
enum SessionBuyers {
    static let table = StoredTable(
        "session_buyers", retention: [.rows("sessionBuyers", key: "fingerprint", until: "expires_at")])

    /// Notes that `token` buys a code for a session.
    static func note(
        _ token: AccessToken, of family: TokenFamily.ID, at now: Timestamp, in db: any Transaction
    ) throws {
        let end = now + ExchangeCode.Kind.session.lifetime + Session.longestLifetime
        try db.enqueue(
            """
            INSERT INTO session_buyers (fingerprint, family_id, expires_at)
            VALUES (\(token.fingerprint), \(family), \(end))
            ON CONFLICT (fingerprint) DO UPDATE SET expires_at = excluded.expires_at
            """)
    }

    /// Forgets a token that is revoked: it is good for nothing any more.
    static func forget(_ token: Fingerprint<AccessToken>, in db: any Transaction) throws {
        try db.execute("DELETE FROM session_buyers WHERE fingerprint = \(token)")
    }

    /// The family of the token, if it has expired and a live session rests on it.
    static func family(ofExpired token: Fingerprint<AccessToken>, at now: Timestamp, in database: any Database)
        async throws -> TokenFamily.ID?
    {
        try await database.rows(
            """
            SELECT b.family_id FROM session_buyers b
            WHERE b.fingerprint = \(token)
                AND NOT EXISTS (
                    SELECT 1 FROM access_tokens t WHERE t.fingerprint = b.fingerprint AND t.expires_at > \(now))
                AND EXISTS (
                    SELECT 1 FROM sessions s
                    WHERE s.family_id = b.family_id AND s.ended_at IS NULL AND s.expires_at > \(now))
            """
        ).first?.get("family_id")
    }
}
