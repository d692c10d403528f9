import Directory
import Storage
import Values

/// The unspent codes of a user, authorization codes and exchange codes.
enum PendingCodes {
    /// Ends those of the clients that `clients` selects, in the caller's transaction.
    ///
    /// Codes have no index by user. The codes that may still be spent are those of the last minute. They expire in the
    /// past: a redemption that waited for this transaction compares with the time at which it began.
    static func end(of user: UserID, for clients: SQL, at now: Timestamp, in db: any Transaction) throws {
        try db.execute(
            """
            UPDATE authorization_codes SET expires_at = 0
            WHERE expires_at > \(now) AND user_id = \(user) AND \(clients) AND spent_at IS NULL
            """)
        try db.execute(
            """
            UPDATE exchange_codes SET expires_at = 0
            WHERE expires_at > \(now) AND user_id = \(user) AND \(clients) AND spent_at IS NULL
            """)
    }
}
