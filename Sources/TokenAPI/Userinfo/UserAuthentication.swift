public import Authentication
public import Cryptography
import HTTP
public import HTTPSupport
public import OAuth
import Values

/// Authenticates requests for a user's own data: by the user's token or, if the operator set a realm, by name and
/// password (RFC 7617), as Couchbase Lite signs in.
public struct UserAuthentication: Sendable {
    enum Caller: Sendable {
        case token(AccessToken, UserID)
        case user(UserID)
    }

    private let tokens: AccessTokens
    private let expired: ExpiredTokens
    private let signIn: PasswordSignIn
    private let realm: String?
    private let address: ClientAddress
    private let random: any RandomSource

    public init(
        tokens: AccessTokens, expired: ExpiredTokens, signIn: PasswordSignIn, realm: String?, address: ClientAddress,
        random: any RandomSource
    ) {
        self.tokens = tokens
        self.expired = expired
        self.signIn = signIn
        self.realm = realm
        self.address = address
        self.random = random
    }

    /// Authenticates the caller and returns the response of `work`. With a realm, a caller without valid credentials is
    /// challenged for Basic only, because some clients read a single challenge, unless they sent a token.
    func answer(
        _ request: Request, _ context: SpindleContext, _ reach: ExpiredTokens.Reach, form: OAuth.Parameters? = nil,
        _ work: (Caller) async throws -> Response
    ) async throws -> Response {
        do {
            if request.headers[.origin] != nil, let presented = try PresentedToken.read(request, form: form) {
                context.presumedClient?.note(try await tokens.client(of: presented.secret))
            }
            return try await work(try await caller(request, context, form))
        } catch let refusal as OAuthError where refusal.status == .unauthorized {
            let ofExpired = await expired.response(to: refusal, request, reach, form: form)
            guard let realm else {
                guard let ofExpired else { throw refusal }
                return ofExpired
            }
            var response = ofExpired ?? refusal.response()
            // RFC 6750 §3: a caller who sent a token is first told what is wrong with it.
            if !Self.hasToken(request, form) { response.headers[.wwwAuthenticate] = nil }
            response.headers.append(Field(name: .wwwAuthenticate, value: "Basic realm=\"\(realm)\""))
            return response
        }
    }

    private static func hasToken(_ request: Request, _ form: OAuth.Parameters?) -> Bool {
        let query = try? request.query.parameters
        return (try? PresentedToken.find(request.headers, form: form, query: query)) != nil
    }

    private func caller(
        _ request: Request, _ context: SpindleContext, _ form: OAuth.Parameters?
    ) async throws -> Caller {
        guard realm != nil, let (name, password) = try Self.credentials(of: request) else {
            let token = try await tokens.require(request, form: form)
            guard let user = token.user else { throw OAuthError.userTokenNeeded }
            return .token(token, user)
        }
        guard try PresentedToken.read(request, form: form) == nil else { throw OAuthError.twoCredentials }
        let address = address.of(request)
        let login = Login.Attempt(
            id: .random(from: random), client: nil, kind: .api, address: address,
            userAgent: request.headers[.userAgent] ?? "")
        do {
            let proof = try await signIn.check(username: name, password: password, address: address, login: login)
            guard proof.leaving == nil else { throw Self.refused("deletion_pending").of(proof.user) }
            return .user(proof.user)
        } catch let refusal as PasswordSignIn.Refusal {
            guard case .wrong(let reason, let user) = refusal else { throw refusal.oauthError }
            throw Self.refused(reason).of(user)
        }
    }

    /// The pair of a Basic header. Unlike a client's, it is not form-encoded inside.
    private static func credentials(of request: Request) throws -> (name: String, password: String)? {
        let headers = request.headers[values: .authorization]
        guard let header = headers.first else { return nil }
        guard headers.count == 1 else { throw OAuthError.twoCredentials }
        let field = AuthorizationField(header)
        guard field.isOf("basic") else { return nil }
        guard let bytes = Base64.decode(field.credentials),
            let pair = String(validating: bytes, as: UTF8.self), pair.isStreamSafe,
            let colon = pair.firstIndex(of: ":"), !pair.utf8.contains(0)
        else { throw refused("malformed_basic") }
        return (String(pair[..<colon]), String(pair[pair.index(after: colon)...]))
    }

    private static func refused(_ reason: String) -> OAuthError {
        OAuthError(.invalidToken, reason, "The user name or password is wrong.")
    }
}
