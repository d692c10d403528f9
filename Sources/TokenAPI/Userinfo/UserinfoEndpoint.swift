public import Directory
import HTTP
public import HTTPSupport
import JSON
public import Keys
public import OAuth
public import OpenID
import Values

/// `/oauth/userinfo`: the claims about a user that the user's token may read (OpenID Connect Core §5.3).
public struct UserinfoEndpoint: Endpoint {
    private let gate: UserAuthentication
    private let clients: Clients
    private let families: TokenFamilies
    private let names: SubjectIdentifiers
    private let claims: UserClaims
    private let ring: KeyRing
    private let issuer: String

    public init(
        gate: UserAuthentication, clients: Clients, families: TokenFamilies, names: SubjectIdentifiers,
        claims: UserClaims,
        ring: KeyRing, issuer: String
    ) {
        self.gate = gate
        self.clients = clients
        self.families = families
        self.names = names
        self.claims = claims
        self.ring = ring
        self.issuer = issuer
    }

    public func add(to router: inout Routes) {
        router.get("/oauth/userinfo", .getUserinfo, readers: .pagesOfClient, use: respond)
        router.post("/oauth/userinfo", .postUserinfo, readers: .pagesOfClient, use: respond)
        router.get("/userinfo", .getUserinfo, readers: .pagesOfClient, use: respond)
        router.post("/userinfo", .postUserinfo, readers: .pagesOfClient, use: respond)
    }

    @Sendable private func respond(_ request: Request, context: SpindleContext) async throws -> Response {
        try await gate.answer(request, context, .known, form: try Form.readIfAny(request).parameters) { caller in
            switch caller {
            case .token(let token, let user):
                return try await answer(user, token)
            case .user(let user):
                guard let members = try await claims.all(of: user) else { throw Self.userGone }
                return .json(.object([.init("sub", .string(try await names.subject(user)))] + members))
            }
        }
    }

    private func answer(_ user: UserID, _ token: AccessToken) async throws -> Response {
        try token.require(Scope.openID)
        var asked: ClaimsRequest?
        if let family = token.family { asked = try await families.claims(of: family) }
        guard let client = try await clients.findLive(token.client),
            let members = try await claims.ofUserinfo(user, token, of: client, asked)
        else { throw Self.userGone }
        let subject = JSON.Member("sub", .string(try await names.subject(user, for: client)))
        guard let algorithm = client.openID.userinfoAlgorithm else { return .json(.object([subject] + members)) }
        let addressed: [JSON.Member] = [
            .init("iss", .string(issuer)), .init("aud", .string(client.id.text)), subject,
        ]
        // It has no `exp`, so that it cannot be mistaken for an ID token.
        return .jwt(try await ring.current(algorithm).sign(.object(addressed + members), type: "JWT"))
    }

    /// The user was deleted during the request.
    private static let userGone = OAuthError.tokenRefused("user_gone")
}

extension Form {
    /// The form of a request, or an empty one when its body is of another type or it has no body.
    fileprivate static func readIfAny(_ request: Request) throws(OAuthError) -> Form {
        guard request.method == .post, isForm(request) else { return Form(pairs: []) }
        return try read(request)
    }
}

extension Response {
    fileprivate static func jwt(_ text: String) -> Response {
        let headers: Fields = [.contentType: "application/jwt", .cacheControl: "no-store"]
        return Response(status: .ok, headers: headers, body: .text(text))
    }
}
