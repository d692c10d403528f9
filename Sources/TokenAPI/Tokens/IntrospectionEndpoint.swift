public import Directory
import HTTP
public import HTTPSupport
import JSON
public import OAuth
public import OpenID
public import Values

/// `POST /oauth/introspect` (RFC 7662).
public struct IntrospectionEndpoint: Endpoint {
    private let introspection: Introspection
    private let tokens: AccessTokens
    private let expired: ExpiredTokens
    private let clients: Clients
    private let names: SubjectIdentifiers
    private let claims: UserClaims
    private let issuer: String
    private let clock: any WallClock
    /// How long the operator lets callers cache an answer; zero for not at all.
    private let longestKept: Duration

    public init(
        introspection: Introspection, tokens: AccessTokens, expired: ExpiredTokens, clients: Clients,
        names: SubjectIdentifiers, claims: UserClaims, issuer: String, clock: any WallClock, longestKept: Duration
    ) {
        self.clock = clock
        self.longestKept = longestKept
        self.expired = expired
        self.introspection = introspection
        self.tokens = tokens
        self.clients = clients
        self.names = names
        self.claims = claims
        self.issuer = issuer
    }

    public func add(to router: inout Routes) {
        router.post("/oauth/introspect", .introspectToken, use: respond)
    }

    @Sendable private func respond(_ request: Request, context: SpindleContext) async throws -> Response {
        let parameters = try Form.read(request).parameters
        return try await expired.answer(request, context, .known) { try await answer(request, parameters) }
    }

    private func answer(_ request: Request, _ parameters: OAuth.Parameters) async throws -> Response {
        // Every caller gets the subject identifier that the token's own client knows.
        guard let token = try await introspected(request, parameters),
            let client = try await clients.findLive(token.client)
        else { return .json(.members(["active": false])) }
        let subject = try await names.subject(of: token, for: client)
        var number: String?
        var own: [JSON.Member] = []
        if let user = token.user {
            number = try await names.number(user, for: client)
            if client.openID.claims[.accessToken] != nil { own = try await claims.ofAccessToken(user, for: client) }
        }
        let standard: JSON = .members([
            "active": true,
            "scope": token.scope.isEmpty ? nil : .string(token.scope.description),
            "client_id": .string(token.client.text),
            "token_type": "Bearer",
            "exp": .integer(token.expiresAt.seconds),
            "iat": .integer(token.issuedAt.seconds),
            "sub": .string(subject ?? token.client.text),
            "user_id": number.map { .string($0) },
            "iss": .string(issuer),
            "aud": token.resource.map { .string($0) },
        ])
        var response = Response.json(own.isEmpty ? standard : .object((standard.members ?? []) + own))
        mayBeKept(&response, until: token.expiresAt)
        return response
    }

    /// RFC 7662 §4: a caller with a cached answer does not notice a revocation. The cache is the caller's own, and
    /// never outlives the token. A dead token's answer is not cached, because another request may just be storing the
    /// token.
    private func mayBeKept(_ response: inout Response, until end: Timestamp) {
        let seconds = min(longestKept, end - clock.now).seconds
        guard seconds > 0 else { return }
        response.headers[.cacheControl] = "private, max-age=\(seconds)"
        response.headers[.pragma] = nil
    }

    private func introspected(_ request: Request, _ parameters: OAuth.Parameters) async throws -> AccessToken? {
        // A client that also authenticates is judged by that: a token beside it is not read.
        guard request.headers[values: .authorization].count == 1, parameters[.clientSecret] == nil,
            parameters[.clientAssertion] == nil,
            let presented = try PresentedToken.find(request.headers, form: nil, query: nil)
        else {
            return try await introspection.token(parameters, from: try ClientCredentials.read(request, parameters))
        }
        return try await introspection.token(parameters, by: try await tokens.require(presented, of: request))
    }
}
