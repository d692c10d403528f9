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
    /// The client's IP address, for throttling sign-ins.
    public let address: String
    /// The `User-Agent` of the request.
    public let userAgent: String

    public init(parameters: Parameters, address: String, userAgent: String = "") {
        self.parameters = parameters
        self.address = address
        self.userAgent = userAgent
    }
}
