import Directory
import Storage
import Values

/// The access tokens that bought sessions. A session, and what was got there, may outlive the token, which is forgotten
/// when it has expired, and an app without refresh tokens has no other to sign its user out by.
enum SessionBuyers {
    /// The families of `token` on which something rests that it bought: a live session, or what was got in one.
    private static func families(of token: Fingerprint<AccessToken>, at now: Timestamp) -> SQL {
        """
        SELECT family_id FROM sessions WHERE bought_with = \(token) AND ended_at IS NULL AND expires_at > \(now)
        UNION ALL
        SELECT parent_id FROM token_families WHERE bought_with = \(token) AND ended_at IS NULL
        """
    }

    /// Forgets a token that is revoked: it is good for nothing any more.
    static func forget(_ token: Fingerprint<AccessToken>, in db: any Transaction) throws {
        try Sessions.forget(buyer: token, in: db)
        try db.execute("UPDATE token_families SET bought_with = NULL WHERE bought_with = \(token) AND ended_at IS NULL")
        try db.execute("UPDATE exchange_codes SET bought_with = NULL WHERE bought_with = \(token) AND spent_at IS NULL")
    }

    /// The family of the token, if it has expired and something rests on it.
    static func family(ofExpired token: Fingerprint<AccessToken>, at now: Timestamp, in database: any Database)
        async throws -> TokenFamily.ID?
    {
        let live = try await database.rows(
            "SELECT 1 AS found FROM access_tokens WHERE fingerprint = \(token) AND expires_at > \(now)")
        guard live.isEmpty else { return nil }
        return try await database.rows("\(families(of: token, at: now)) LIMIT 1").first?.get("family_id")
    }

    /// The client whose token it was, with its merchant, if something rests on it.
    static func owner(of token: Fingerprint<AccessToken>, at now: Timestamp, in db: any Transaction) throws -> Row? {
        try db.rows(
            """
            SELECT c.id, c.merchant_id, p.id AS family_id FROM token_families p JOIN clients c ON c.id = p.client_id
            WHERE p.id IN (\(families(of: token, at: now)))
            LIMIT 1
            """
        ).first
    }
}
