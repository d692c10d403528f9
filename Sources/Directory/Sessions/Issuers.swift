package import Storage
package import Values

/// What every module must know of an issuer: its merchant, and whether its word is good. Its name, keys and rules
/// belong to Federation (`TrustedIssuers`), which calls these functions in the transactions that change it.
///
/// A change marks the issuer's row, and none of the sessions and tokens that rest on it, of which there may be any
/// number. The row outlives its issuer and the merchant while any are left.
package enum Issuers {
    static let table = StoredTable("issuers")

    package static func add(
        _ issuer: String, of merchant: Merchant.ID, disabledAt: Timestamp?, in db: any Transaction
    ) throws {
        try db.execute(
            """
            INSERT INTO issuers (id, merchant_id, disabled_at) VALUES (\(issuer), \(merchant), \(disabledAt))
            ON CONFLICT (id) DO NOTHING
            """)
    }

    /// Stores since when it is disabled, or that it is enabled. Meanwhile sessions that rest on it are refused
    /// everywhere, and tokens at the clients of its merchant.
    package static func disable(_ issuer: String, since disabledAt: Timestamp?, in db: any Transaction) throws {
        try db.execute("UPDATE issuers SET disabled_at = \(disabledAt) WHERE id = \(issuer)")
    }

    // MARK: The issuers whose word was taken back

    /// A sign-in that read the issuer before the change may be stored a moment later, by another node's clock.
    private static let skew: Duration = .minutes(1)

    /// Takes back its word for other merchants: sessions that it opened so far are good at its own merchant only,
    /// permanently.
    package static func confine(_ issuer: String, at now: Timestamp, in db: any Transaction) throws {
        try db.execute("UPDATE issuers SET confined_before = \(now + skew) WHERE id = \(issuer)")
    }

    /// Joins to `sessions s` what `merchant` needs.
    package static let joined: SQL = "LEFT JOIN issuers i ON i.id = s.issuer_id"

    /// The only merchant that a session so joined is good for; NULL if it is good everywhere, or was bought.
    package static let merchant: SQL =
        """
        COALESCE(s.merchant_id,
            CASE WHEN s.path IS NULL AND s.created_at < i.confined_before THEN i.merchant_id END)
        """

    // MARK: Those that are gone

    /// Notes that the issuer is deleted.
    package static func noteGone(_ issuer: String, at now: Timestamp, in db: any Transaction) throws {
        try db.execute("UPDATE issuers SET gone_at = \(now) WHERE id = \(issuer) AND gone_at IS NULL")
    }

    /// Notes the same of all issuers of `merchant`, in the transaction that deletes it.
    static func noteGone(of merchant: Merchant.ID, at now: Timestamp, in db: any Transaction) throws {
        try db.execute("UPDATE issuers SET gone_at = \(now) WHERE merchant_id = \(merchant) AND gone_at IS NULL")
    }

    /// The merchant of an issuer that is deleted but not forgotten.
    package static func merchant(ofGone issuer: String, in db: any Transaction) throws -> Merchant.ID? {
        try db.rows("SELECT merchant_id FROM issuers WHERE id = \(issuer) AND gone_at IS NOT NULL").first?
            .get("merchant_id")
    }

    /// The ids of deleted issuers that left something to end: live sessions, or what `isLeft` finds, a condition on
    /// `issuers i`. A session that another merchant's token bought goes on.
    package static func gone(
        leaving isLeft: SQL, atMost most: Int, at now: Timestamp, in db: any Transaction
    ) throws -> [String] {
        try db.rows(
            """
            SELECT i.id FROM issuers i
            WHERE gone_at > 0 AND (\(isLeft) OR EXISTS (
                SELECT 1 FROM sessions s
                WHERE s.issuer_id = i.id AND s.ended_at IS NULL AND s.expires_at > \(now)
                    AND (s.path IS NULL
                        OR s.client_id IN (SELECT k.id FROM clients k WHERE k.merchant_id = i.merchant_id))))
            ORDER BY gone_at LIMIT \(most)
            """
        ).map { try $0.get("id") }
    }

    /// The statement that forgets up to `batch` deleted issuers, unless a session rests on them, or something that
    /// modules above know: `isNeeded`, a condition on `issuers i`.
    package static func forgetting(unless isNeeded: SQL, batch: Int) -> SQL {
        """
        DELETE FROM issuers WHERE id IN (
            SELECT i.id FROM issuers i
            WHERE gone_at > 0
                AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.issuer_id = i.id AND s.ended_at IS NULL)
                AND NOT (\(isNeeded))
            ORDER BY gone_at LIMIT \(batch))
        """
    }
}
