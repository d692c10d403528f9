public import Hummingbird
import JOSE
public import OAuth
import Values

/// `POST /oauth/token` (RFC 6749 §3.2).
public struct TokenEndpoint: Endpoint {
    private let issuance: TokenIssuance
    private let address: ClientAddress

    public init(issuance: TokenIssuance, address: ClientAddress) {
        self.issuance = issuance
        self.address = address
    }

    public func add(to router: RouterGroup<SpindleContext>) {
        router.post("/oauth/token", use: respond)
        router.post("/api/2/oauth/token", use: respond)
    }

    @Sendable private func respond(_ request: Request, context: SpindleContext) async throws -> Response {
        let parameters = try await Form.read(request, orJSON: true).parameters
        let credentials = try ClientCredentials.read(request, parameters)
        let tokens = try await issuance.tokens(
            for: TokenRequest(parameters: parameters, address: address.of(request, context)), from: credentials)
        return .json(tokens.json)
    }
}

extension TokenResponse {
    /// Members without a value are absent, never null. A user's id is a string: JavaScript's numbers end at 2^53.
    var json: JSON {
        let spid = client.spidCompatible
        return .members([
            "access_token": .string(accessToken.value),
            "token_type": "Bearer",
            "expires_in": .integer(lifetime.seconds),
            "scope": scope.isEmpty ? nil : .string(scope.description),
            "refresh_token": refreshToken.map { .string($0.value) },
            "user_id": account.map { .string($0.description) } ?? (spid ? false : nil),
            "is_admin": spid ? false : nil,
            "server_time": spid ? .integer(issuedAt.seconds) : nil,
        ])
    }
}
