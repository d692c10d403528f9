public import Directory
import Storage
public import Values

extension TokenFamilies {
    /// Whether `user` has signed out of `client` since it got an ID token at `issuedAt`: every sign-in in which it may
    /// have been given has ended.
    ///
    /// An ID token does not say to which of a user's devices it was given. So it lasts as long as the last of those
    /// that were signed in to the client then. Every ID token comes with a token family, which had not expired then.
    public func hasSignedOut(_ user: UserID, of client: Client.ID, since issuedAt: Timestamp) async throws -> Bool {
        // It is in whole seconds.
        let nextSecond = issuedAt + .seconds(1)
        return try await database.read { db in
            try db.rows(
                """
                SELECT id FROM token_families
                WHERE user_id = \(user) AND client_id = \(client) AND ended_at IS NULL AND created_at < \(nextSecond)
                    AND expires_at > \(issuedAt)
                LIMIT 1
                """
            ).isEmpty
        }
    }
}
