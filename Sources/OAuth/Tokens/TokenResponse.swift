public import Directory
public import Values

/// What the token endpoint answers (RFC 6749 §5.1), before it is JSON.
public struct TokenResponse: Sendable {
    public let accessToken: Secret<AccessToken>
    public let refreshToken: Secret<RefreshToken>?
    public let lifetime: Duration
    public let scope: Scope
    public let user: UserID?
    /// Who the person is to the client, which may not be told their number; nil where it acts for itself.
    public let subject: String?
    public let client: Client
    public let issuedAt: Timestamp
    /// What OpenID Connect adds.
    public var idToken: String?
    /// What the access token is called where it was exchanged for another token (RFC 8693 §2.2.1).
    public var issuedTokenType: String?

    /// RFC 8693 §3.
    public static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"
}

/// Makes and stores the tokens of an authorization. Bearer tokens now; ID tokens join as a second conformer.
public protocol TokenMint: Sendable {
    /// One write: wins the claim and stores the tokens, or refuses. Nil when the grant must be asked again.
    func tokens(for authorization: Authorization) async throws -> TokenResponse?
}
