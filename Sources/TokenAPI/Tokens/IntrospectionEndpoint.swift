public import Directory
import HTTP
public import HTTPSupport
import JSON
public import OAuth
public import OpenID
import Values

/// `POST /oauth/introspect` (RFC 7662).
public struct IntrospectionEndpoint: Endpoint {
    private let introspection: Introspection
    private let clients: Clients
    private let names: SubjectIdentifiers
    private let issuer: String

    public init(introspection: Introspection, clients: Clients, names: SubjectIdentifiers, issuer: String) {
        self.introspection = introspection
        self.clients = clients
        self.names = names
        self.issuer = issuer
    }

    public func add(to router: inout Routes) {
        router.post("/oauth/introspect", use: respond)
    }

    @Sendable private func respond(_ request: Request, context: SpindleContext) async throws -> Response {
        let parameters = try Form.read(request).parameters
        let credentials = try ClientCredentials.read(request, parameters)
        // Every caller gets the subject identifier that the token's own client knows.
        guard let token = try await introspection.token(parameters, from: credentials),
            let client = try await clients.findLive(token.client)
        else { return .json(.members(["active": false])) }
        var name: String?
        if let user = token.user { name = try await names.subject(user, for: client) }
        return .json(
            .members([
                "active": true,
                "scope": token.scope.isEmpty ? nil : .string(token.scope.description),
                "client_id": .string(token.client.text),
                "token_type": "Bearer",
                "exp": .integer(token.expiresAt.seconds),
                "iat": .integer(token.issuedAt.seconds),
                "sub": .string(name ?? token.client.text),
                "user_id": name.map { .string($0) },
                "iss": .string(issuer),
                "aud": token.resource.map { .string($0) },
            ]))
    }
}
