public import Directory
import Storage
public import Values

extension TokenFamilies {
    /// Whether `user` has signed out of `client` since it got an ID token at `issuedAt`, in `session` if it says that:
    /// every sign-in in which it may have been given has ended, or the user has left the client.
    ///
    /// An ID token does not say to which of a user's devices it was given. So it lasts as long as the last of those
    /// that were signed in to the client then. One that was given without any other token lasts as long as its session.
    public func hasSignedOut(
        _ user: UserID, of client: Client.ID, since issuedAt: Timestamp, in session: Session.ID?
    ) async throws -> Bool {
        // It is in whole seconds, and another node's clock may be behind.
        let (nextSecond, sinceThen) = (issuedAt + .seconds(1), issuedAt - .minutes(1))
        return try await database.read { db in
            guard try Connections.has(user, client, in: db) else { return true }
            let live = try db.rows(
                """
                SELECT id FROM token_families
                WHERE user_id = \(user) AND client_id = \(client) AND ended_at IS NULL AND created_at < \(nextSecond)
                LIMIT 1
                """)
            guard live.isEmpty else { return false }
            let ended = try db.rows(
                """
                SELECT id FROM token_families
                WHERE user_id = \(user) AND client_id = \(client) AND ended_at >= \(sinceThen)
                    AND created_at < \(nextSecond)
                LIMIT 1
                """)
            guard ended.isEmpty else { return true }
            guard let session else { return false }
            return try db.rows(
                "SELECT id FROM sessions WHERE id = \(session) AND user_id = \(user) AND ended_at IS NULL"
            ).isEmpty
        }
    }
}
