public import Directory
public import Values

/// The response of the token endpoint (RFC 6749 §5.1), before it is JSON.
public struct TokenResponse: Sendable {
    public let accessToken: Secret<AccessToken>
    public let refreshToken: Secret<RefreshToken>?
    public let lifetime: Duration
    public let scope: Scope
    public let user: UserID?
    /// The user's subject identifier for the client, which may differ from their number; nil when the client acts for
    /// itself.
    public let subject: String?
    @Boxed public private(set) var client: Client
    public let issuedAt: Timestamp
    /// Set for OpenID Connect.
    public var idToken: String?
    /// The type of the access token in the response to a token exchange (RFC 8693 §2.2.1).
    public var issuedTokenType: String?

    /// RFC 8693 §3.
    public static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"
}

/// Makes and stores the tokens of an authorization: bearer tokens here; a second conformer adds ID tokens.
public protocol TokenMint: Sendable {
    /// Wins the redemption and stores the tokens in one write, or refuses. Nil when the grant must run again.
    func tokens(for authorization: Authorization) async throws -> TokenResponse?
}
