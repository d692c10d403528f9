public import Storage
public import Values

/// Tries are written down in the transactions of what they are part of: none costs a commit of its own.
extension Logins {
    /// Remembers a try to sign in to `user`, in the caller's transaction. Saying it again changes nothing.
    public static func record(
        _ attempt: Login.Attempt, of user: UserID, succeeded: Bool, at now: Timestamp, in db: any Transaction
    ) throws {
        // Deleted since it was found: then there is nobody to remember it of.
        guard try !db.rows("SELECT id FROM users WHERE id = \(user)").isEmpty else { return }
        try db.execute(
            """
            INSERT INTO logins (id, user_id, client_id, type, succeeded, provider, user_agent, ip_address, created_at)
            VALUES (\(attempt.id), \(user), \(attempt.client), \(attempt.kind.rawValue), \(succeeded),
                \(attempt.provider), \(attempt.userAgent), \(attempt.address), \(now))
            ON CONFLICT (id) DO NOTHING
            """)
    }

    /// What was remembered as a failure was the person.
    static func succeed(_ attempt: Login.Attempt, in db: any Transaction) throws {
        try db.execute("UPDATE logins SET succeeded = 1 WHERE id = \(attempt.id)")
    }

    /// Takes back what was remembered: nobody looked at the password.
    static func forget(_ attempt: Login.Attempt, in db: any Transaction) throws {
        try db.execute("DELETE FROM logins WHERE id = \(attempt.id)")
    }
}
