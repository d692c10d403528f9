import JSON
public import Values

/// What a paywall in front of a client's pages, such as Varnish, knows a user by: SPiD's `sp_id`.
///
/// A JWT (HS256) under the client's sign secret, which the paywall verifies by itself. It holds no secret of ours,
/// opens nothing here, and has no issuer: nobody can take it for an ID token. Only for a SPiD-compatible client, which
/// knows its users' numbers.
extension SignSecrets {
    /// Longer than a page's script may keep an answer, and than a session without use: whoever is signed in is given a
    /// new one in time.
    public static let paywallLifetime: Duration = .days(7)

    public func paywallID(of user: User, for client: Client, at now: Timestamp) throws -> String {
        let claims: JSON = .members([
            "sub": .string(user.uuid), "aud": .string(client.id.text), "iat": .integer(now.seconds),
            "exp": .integer((now + Self.paywallLifetime).seconds),
        ])
        return try open(client).sign(claims, type: "sp_id+jwt")
    }
}
