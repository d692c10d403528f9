import Directory
import Storage
import Values

/// The times at which a user took a client's access away: codes that were sold before are worth nothing any more.
enum ExchangeCodeEnds {
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
        try db.execute(
            """
            INSERT INTO exchange_code_ends (user_id, client_id, ended_at) VALUES (\(user), \(client), \(now))
            ON CONFLICT (user_id, client_id) DO UPDATE SET ended_at = excluded.ended_at
            """)
        // A redemption holds the family that bought its code: one of the same merchant's clients.
        try db.hold(
            """
            UPDATE token_families SET ended_at = ended_at WHERE user_id = \(user) AND ended_at IS NULL
                AND client_id IN (
                    SELECT b.id FROM clients c JOIN clients b ON b.id = c.id OR b.merchant_id = c.merchant_id
                    WHERE c.id = \(client))
            """)
    }
}
