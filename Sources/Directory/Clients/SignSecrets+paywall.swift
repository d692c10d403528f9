import JSON
public import Values

/// SPiD's `sp_id`, by which a paywall in front of a client's pages, such as Varnish, knows a user.
///
/// A JWT (HS256) under the client's sign secret, which the paywall verifies by itself. It contains no secret of ours,
/// opens nothing here, and has no issuer, so it cannot be mistaken for an ID token. Only for a SPiD-compatible client,
/// which knows its users' numbers.
extension SignSecrets {
    /// Longer than a page's script may keep a response, and than an unused session lives: a signed-in user gets a new
    /// one in time.
    public static let paywallLifetime: Duration = .days(7)

    public func paywallID(of user: User, for client: Client, at now: Timestamp) throws -> String {
        let claims: JSON = .members([
            "sub": .string(user.uuid), "aud": .string(client.id.text), "iat": .integer(now.seconds),
            "exp": .integer((now + Self.paywallLifetime).seconds),
        ])
        return try open(client).sign(claims, type: "sp_id+jwt")
    }
}
