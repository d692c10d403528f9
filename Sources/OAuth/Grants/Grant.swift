public import Directory
import Values

/// A grant type of the token endpoint. It checks; only the mint writes.
public protocol Grant: Sendable {
    static var type: GrantType { get }

    /// Reads and checks the request. Returns user, client, scope and the redemption the mint must win. Changes nothing.
    func authorize(_ request: TokenRequest, client: Client) async throws -> Authorization
}

/// A token request as a grant sees it.
public struct TokenRequest: Sendable {
    public let parameters: Parameters
    /// The client's IP address, for throttling sign-ins. Other grants do not ask for it.
    public var address: String { findAddress() }
    private let findAddress: @Sendable () -> String
    /// The `User-Agent` of the request.
    public let userAgent: String

    public init(
        parameters: Parameters, address: @escaping @autoclosure @Sendable () -> String, userAgent: String = ""
    ) {
        self.parameters = parameters
        findAddress = address
        self.userAgent = userAgent
    }
}

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
            refresh: wantsRefresh ? .issue : .none, redemption: NothingToRedeem())
    }
}
