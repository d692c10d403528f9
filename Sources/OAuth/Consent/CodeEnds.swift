import Directory
import Storage
import Values

/// The times at which a user took a client's access away. Authorization codes, session codes and exchange codes issued
/// before are void.
///
/// A user may have many codes, so the codes are not searched for: redeeming one asks here.
enum CodeEnds {
    static let table = StoredTable(
        "exchange_code_ends",
        retention: [
            .statement("exchangeCodeEnds") { now, batch in
                // Longer than a code lives, for nodes whose clocks differ.
                """
                DELETE FROM exchange_code_ends WHERE (user_id, client_id) IN (
                    SELECT user_id, client_id FROM exchange_code_ends
                    WHERE ended_at <= \(now - AuthorizationCodes.memory) ORDER BY ended_at LIMIT \(batch))
                """
            }
        ], ofUser: .expiry, ofClient: .expiry)

    /// Ends the codes of `user` that `client` could still redeem.
    static func end(of user: UserID, for client: Client.ID, at now: Timestamp, in db: any Transaction) throws {
        try end(of: user, forThose: "SELECT id FROM clients WHERE id = \(client)", at: now, in: db)
        // A redemption holds the family that bought its code, whose client is of the same merchant.
        try db.hold(
            """
            UPDATE token_families SET ended_at = ended_at WHERE user_id = \(user) AND ended_at IS NULL
                AND client_id IN (
                    SELECT b.id FROM clients c JOIN clients b ON b.id = c.id OR b.merchant_id = c.merchant_id
                    WHERE c.id = \(client))
            """)
    }

    /// As above for the first-party clients of `merchant`. The caller ends their token families of this user too.
    static func end(
        of user: UserID, forAllOf merchant: Merchant.ID, at now: Timestamp, in db: any Transaction
    ) throws {
        try end(of: user, forThose: Clients.vouchedFor(by: merchant), at: now, in: db)
    }

    private static func end(of user: UserID, forThose clients: SQL, at now: Timestamp, in db: any Transaction) throws {
        // Without a WHERE, SQLite would read ON CONFLICT as part of the SELECT.
        try db.execute(
            """
            INSERT INTO exchange_code_ends (user_id, client_id, ended_at)
            SELECT CAST(\(user) AS BIGINT), c.id, CAST(\(now) AS BIGINT) FROM (\(clients)) c WHERE \(SQL.always)
            ON CONFLICT (user_id, client_id) DO UPDATE SET ended_at = CASE
                WHEN exchange_code_ends.ended_at > excluded.ended_at THEN exchange_code_ends.ended_at
                ELSE excluded.ended_at END
            """)
    }

    /// Whether a code of `user` for `client`, sold at `soldAt`, is void. The arguments are columns or values.
    static func condition(user: SQL, client: SQL, soldAt: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM exchange_code_ends e
            WHERE e.user_id = \(user) AND e.client_id = \(client) AND e.ended_at >= \(soldAt))
        """
    }
}
