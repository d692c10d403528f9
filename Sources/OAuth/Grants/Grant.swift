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
