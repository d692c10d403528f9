package import Storage
package import Values

/// The issuers whose sign-ins were good at every merchant, and are not any more: what they opened before is good at
/// their own merchant alone.
///
/// A row for each, and no change of the sessions: there may be any number, and their users are using them.
package enum ConfinedIssuers {
    static let table = StoredTable(
        "confined_issuers", ofMerchant: .batches(owner: "merchant_id", key: "issuer_id"))

    /// A sign-in that read the issuer as it was may be stored a moment later, by another server's clock.
    private static let skew: Duration = .minutes(1)

    /// Notes in the transaction that takes the issuer's word back that what it opened so far is good for `merchant`.
    package static func note(
        _ issuer: String, of merchant: Merchant.ID, at now: Timestamp, in db: any Transaction
    ) throws {
        try db.execute(
            """
            INSERT INTO confined_issuers (issuer_id, merchant_id, opened_before)
            VALUES (\(issuer), \(merchant), \(now + skew))
            ON CONFLICT (issuer_id) DO UPDATE SET opened_before = excluded.opened_before
            """)
    }

    /// Forgets an issuer that is gone: nothing that rests on it is good.
    static func forget(_ issuer: String, in db: any Transaction) throws {
        try db.execute("DELETE FROM confined_issuers WHERE issuer_id = \(issuer)")
    }

    /// Joins to `sessions s` what `merchant` needs.
    package static let joined: SQL =
        """
        LEFT JOIN confined_issuers n ON n.issuer_id = s.issuer_id AND s.path IS NULL
            AND s.created_at < n.opened_before
        """

    /// The merchant that a session, so joined, is good for alone; NULL if it is good everywhere, or was bought.
    package static let merchant: SQL = "COALESCE(s.merchant_id, n.merchant_id)"
}
