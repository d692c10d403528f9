public import Directory
import Storage
public import Values

extension TokenFamilies {
    /// Whether `user` has signed out of `client` since it got an ID token at `issuedAt`: every sign-in that may have
    /// issued it has ended.
    ///
    /// An ID token with a `sid` lasts as long as a family got in that session, which may outlive the session. One
    /// without does not name a device: it lasts as long as the last device that was signed in to the client at
    /// `issuedAt`. Every ID token comes with a token family, which had not expired then.
    /// - Parameter session: the `sid` of the ID token.
    public func hasSignedOut(
        _ user: UserID, of client: Client.ID, since issuedAt: Timestamp, session: String?
    ) async throws -> Bool {
        // `iat` is in whole seconds.
        let nextSecond = issuedAt + .seconds(1)
        let isOfSession: SQL =
            if let session { "f.session_id = \(session)" } else { "f.session_id IS NULL" }
        // Only families for `openid` get ID tokens.
        let isForOpenID: SQL = "REPLACE(' ' || f.scope || ' ', ' openid ', '') <> ' ' || f.scope || ' '"
        return try await database.read { db in
            try db.rows(
                """
                SELECT f.id FROM token_families f \(Standing.whatTokensRestOn(of: "f"))
                WHERE f.user_id = \(user) AND f.client_id = \(client) AND \(Standing.ofFamily)
                    AND f.created_at < \(nextSecond) AND f.expires_at > \(issuedAt)
                    AND \(isOfSession) AND \(isForOpenID)
                LIMIT 1
                """
            ).isEmpty
        }
    }
}
