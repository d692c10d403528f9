public import Hummingbird
import JOSE
public import OAuth
import Values

/// `POST /oauth/introspect` (RFC 7662).
public struct IntrospectionEndpoint: Endpoint {
    private let introspection: Introspection
    private let issuer: String

    public init(introspection: Introspection, issuer: String) {
        self.introspection = introspection
        self.issuer = issuer
    }

    public func add(to router: RouterGroup<SpindleContext>) {
        router.post("/oauth/introspect", use: respond)
    }

    @Sendable private func respond(_ request: Request, context: SpindleContext) async throws -> Response {
        let parameters = try await Form.read(request).parameters
        let credentials = try ClientCredentials.read(request, parameters)
        guard let token = try await introspection.token(parameters, from: credentials) else {
            return .json(.members(["active": false]))
        }
        return .json(
            .members([
                "active": true,
                "scope": token.scope.isEmpty ? nil : .string(token.scope.description),
                "client_id": .string(token.client.text),
                "token_type": "Bearer",
                "exp": .integer(token.expiresAt.seconds),
                "iat": .integer(token.issuedAt.seconds),
                "sub": .string(token.account?.description ?? token.client.text),
                "user_id": token.account.map { .string($0.description) },
                "iss": .string(issuer),
                "aud": token.resource.map { .string($0) },
            ]))
    }
}
