public import Storage
public import Values

/// Attempts are stored in the transactions they belong to, so none costs an extra commit.
extension Logins {
    /// Stores an attempt to sign in as `user`, in the caller's transaction. Storing it again changes nothing.
    public static func record(
        _ attempt: Login.Attempt, of user: UserID, succeeded: Bool, at now: Timestamp, in db: any Transaction
    ) throws {
        // The user may have been deleted since they were found.
        guard try !db.rows("SELECT id FROM users WHERE id = \(user)").isEmpty else { return }
        try db.execute(
            """
            INSERT INTO logins (id, user_id, client_id, type, succeeded, provider, user_agent, ip_address, created_at)
            VALUES (\(attempt.id), \(user), \(attempt.client), \(attempt.kind.rawValue), \(succeeded),
                \(attempt.provider), \(attempt.userAgent), \(attempt.address), \(now))
            ON CONFLICT (id) DO NOTHING
            """)
        try forgetOldest(of: user, after: attempt, in: db)
    }

    /// How many attempts are kept of one user. A user who signs in every day leaves ninety before they expire.
    static let most = 1000
    /// The attempts that each client keeps at least, however many others have.
    static let mostOfClient = 250

    /// Deletes a user's oldest attempts beyond `most`, of the attempt's own client only. An app may open sessions
    /// thousands of times a minute, and must not push out what other clients' backends see. Beyond four times as many,
    /// deletes the oldest of all.
    ///
    /// Runs for one attempt in 256, chosen by its random id, so that few sign-ins pay for it. The limit may therefore
    /// be exceeded by some hundreds.
    private static func forgetOldest(of user: UserID, after attempt: Login.Attempt, in db: any Transaction) throws {
        guard attempt.id.isSampled else { return }
        let client = attempt.client?.text ?? ""
        let others = try db.rows(
            "SELECT id FROM logins WHERE user_id = \(user) AND COALESCE(client_id, '') <> \(client) LIMIT \(most)"
        ).count
        try db.execute(
            """
            DELETE FROM logins WHERE id IN (
                SELECT id FROM logins WHERE user_id = \(user) AND COALESCE(client_id, '') = \(client)
                ORDER BY created_at DESC, id DESC LIMIT \(2 * most) OFFSET \(max(most - others, mostOfClient)))
            """)
        try db.execute(
            """
            DELETE FROM logins WHERE id IN (
                SELECT id FROM logins WHERE user_id = \(user)
                ORDER BY created_at DESC, id DESC LIMIT \(2 * most) OFFSET \(4 * most))
            """)
    }

    /// Marks an attempt that was stored as a failure as successful.
    static func succeed(_ attempt: Login.Attempt, in db: any Transaction) throws {
        try db.execute("UPDATE logins SET succeeded = 1 WHERE id = \(attempt.id)")
    }

    /// Removes a stored attempt: the password was never checked.
    static func forget(_ attempt: Login.Attempt, in db: any Transaction) throws {
        try db.execute("DELETE FROM logins WHERE id = \(attempt.id)")
    }
}
