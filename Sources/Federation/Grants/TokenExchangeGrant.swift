public import Directory
public import OAuth

/// The grant that exchanges an ID token of an issuer trusted by the client's merchant for our access token (RFC 8693).
public struct TokenExchangeGrant: Grant {
    public static let type = GrantType.tokenExchange
    private static let idToken = "urn:ietf:params:oauth:token-type:id_token"

    private let signIn: AssertionSignIn
    private let issuer: String

    /// `issuer` is our own issuer name.
    public init(signIn: AssertionSignIn, issuer: String) {
        self.signIn = signIn
        self.issuer = issuer
    }

    public func authorize(_ request: TokenRequest, client: Client) async throws -> Authorization {
        let parameters = request.parameters
        let token = try parameters.require(.subjectToken)
        guard try parameters.require(.subjectTokenType) == Self.idToken else {
            throw OAuthError.exchangeRefused(
                "exchange_subject_token_type", "The subject_token_type must be \(Self.idToken).")
        }
        // No delegation: the client signs a user in, and acts only as the client that it authenticated as.
        guard parameters[.actorToken] == nil, parameters[.actorTokenType] == nil else {
            throw OAuthError.exchangeRefused(
                "exchange_actor_token",
                "This server accepts no actor_token: leave out actor_token and actor_token_type.")
        }
        guard [nil, TokenResponse.accessTokenType].contains(parameters[.requestedTokenType]) else {
            throw OAuthError.exchangeRefused(
                "exchange_requested_token_type",
                "The requested_token_type must be \(TokenResponse.accessTokenType), or absent.")
        }
        let target = try client.audience(parameters, issuer: issuer)
        let scope = try client.granted(parameters[.scope], within: client.scope.withoutAdministration)
        return try await signIn.authorization(for: token, as: .subjectToken, request, scope: scope, client: client)
            .aimed(at: target)
    }
}

extension OAuthError {
    /// RFC 8693 §2.2.2.
    fileprivate static func exchangeRefused(_ reason: String, _ hint: String) -> OAuthError {
        OAuthError(.invalidRequest, reason, hint)
    }
}
