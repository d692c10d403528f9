/// The name of a grant type at the token endpoint (RFC 6749 §4, RFC 7523 §2.1, RFC 8693 §2.1).
public struct GrantType: Sendable, Hashable, CustomStringConvertible {
    public let name: String
    public init(_ name: String) { self.name = name }
    public var description: String { name }

    public static let password = GrantType("password")
    public static let clientCredentials = GrantType("client_credentials")
    public static let authorizationCode = GrantType("authorization_code")
    public static let refreshToken = GrantType("refresh_token")
    public static let jwtBearer = GrantType("urn:ietf:params:oauth:grant-type:jwt-bearer")
    public static let tokenExchange = GrantType("urn:ietf:params:oauth:grant-type:token-exchange")
    public static let all: [GrantType] = [
        password, clientCredentials, authorizationCode, refreshToken, jwtBearer, tokenExchange,
    ]
    /// The authorization endpoint's implicit grant (RFC 7591 §2.1). For registration only: the token endpoint has no
    /// such grant.
    public static let implicit = GrantType("implicit")
    /// SPiD's grant for a mailed code, at `/oauth/ro`: for SPiD-compatible clients.
    public static let passwordless = GrantType("passwordless")
    static let registrable = all + [implicit, passwordless]
}
