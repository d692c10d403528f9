public import Directory
public import Storage
public import Values

/// The unspent codes of a user: authorization codes, session codes, and codes for backends.
public enum PendingCodes {
    /// Ends those of all users for `client`, in the transaction that makes a client of this id again.
    public static func end(for client: Client.ID, at now: Timestamp, in db: any Transaction) throws {
        try endStored(where: "client_id = \(client)", at: now, in: db)
    }

    /// Ends those of `client`, in the caller's transaction.
    static func end(of user: UserID, for client: Client.ID, at now: Timestamp, in db: any Transaction) throws {
        try endStored(where: "user_id = \(user) AND client_id = \(client)", at: now, in: db)
        try ExchangeCodeEnds.end(of: user, for: client, at: now, in: db)
    }

    /// Ends those of the clients that `merchant` vouches for, whose token families of this user the caller ends too: a
    /// code for a backend lives with the family that bought it, which is one of them.
    static func end(of user: UserID, forAllOf merchant: Merchant.ID, at now: Timestamp, in db: any Transaction) throws {
        try endStored(
            where: "user_id = \(user) AND client_id IN (\(Clients.vouchedFor(by: merchant)))", at: now, in: db)
    }

    /// Codes have no index by user. Those that may still be spent are those of the last minute. They expire in the
    /// past: a redemption that waited for this transaction compares with the time at which it began.
    private static func endStored(where condition: SQL, at now: Timestamp, in db: any Transaction) throws {
        try db.execute(
            """
            UPDATE authorization_codes SET expires_at = 0
            WHERE expires_at > \(now) AND \(condition) AND spent_at IS NULL
            """)
        try db.execute(
            """
            UPDATE exchange_codes SET expires_at = 0
            WHERE expires_at > \(now) AND \(condition) AND spent_at IS NULL
            """)
    }
}
