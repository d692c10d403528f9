public import Directory

/// A client that acts for itself (RFC 6749 §4.4).
public struct ClientCredentialsGrant: Grant {
    public static let type = GrantType.clientCredentials

    public init() {}

    public func authorize(_ request: TokenRequest, client: Client) async throws -> Authorization {
        // RFC 6749 §4.4: only confidential clients, whatever is registered.
        guard client.may(.actForItself) else { throw OAuthError.grantNotAllowed(client.id) }
        let scope = try client.granted(request.parameters[.scope])
        // SPiD's SDKs reject a token without a refresh token, even a client's own. They never use admin scopes.
        let wantsRefresh = client.may(.refreshOwnTokens) && client.may(.refreshToken) && !scope.administers
        return Authorization(
            client: client, subject: nil, scope: scope, family: wantsRefresh ? .new(.client) : .none,
            refresh: wantsRefresh ? .issue : .none, claim: NothingToRedeem())
    }
}
