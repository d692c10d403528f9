public import Directory
import Values

/// One way to a token. It proves; only the mint writes.
public protocol Grant: Sendable {
    static var type: GrantType { get }

    /// Reads and checks; says for whom, for what, and which claim the mint must win. Changes nothing.
    func authorize(_ request: TokenRequest, client: Client) async throws -> Authorization
}

/// A token request as a grant sees it.
public struct TokenRequest: Sendable {
    public let parameters: Parameters
    /// Where it came from, for throttling sign-ins.
    public let address: String
    /// What made it says about itself.
    public let userAgent: String

    public init(parameters: Parameters, address: String, userAgent: String = "") {
        self.parameters = parameters
        self.address = address
        self.userAgent = userAgent
    }
}
