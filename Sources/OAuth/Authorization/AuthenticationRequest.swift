public import Directory
import Storage

/// What a client asked for along with a sign-in, for its tokens (OpenID Connect Core §3.1.2.1, RFC 8707).
public struct AuthenticationRequest: Sendable, Equatable {
    /// Returned in the first ID token only, and only if it was sent.
    public let nonce: String?
    public internal(set) var claims: ClaimsRequest?
    /// The audience of the access token, when that is not this server.
    public let resource: String?
    /// A developer's trial settings; nil for everyone else.
    public let trial: TokenTrial?

    public init(
        nonce: String? = nil, claims: ClaimsRequest? = nil, resource: String? = nil, trial: TokenTrial? = nil
    ) {
        self.nonce = nonce
        self.claims = claims
        self.resource = resource
        self.trial = trial
    }

    /// The part that holds for later tokens of the family too.
    var withoutNonce: AuthenticationRequest {
        AuthenticationRequest(claims: claims, resource: resource, trial: trial)
    }

    func aimed(at resource: String?) -> AuthenticationRequest {
        AuthenticationRequest(nonce: nonce, claims: claims, resource: resource, trial: trial)
    }

    func trying(_ trial: TokenTrial?) -> AuthenticationRequest {
        AuthenticationRequest(nonce: nonce, claims: claims, resource: resource, trial: trial)
    }

    /// The lifetime of an ID token for `client`.
    public func idTokenLifetime(of client: Client) -> Duration {
        trial?.idTokenLifetime ?? client.openID.idTokenLifetime
    }

    public static let none = AuthenticationRequest()
}

extension AuthenticationRequest {
    /// Reads the columns `claims`, `resource` and `trial`, which token families and authorization codes both have.
    init(_ row: Row, nonce: String? = nil) throws {
        let text: String? = try row.get("claims")
        let trial: String? = try row.get("trial")
        self.init(
            nonce: nonce, claims: try text.map(ClaimsRequest.init), resource: try row.get("resource"),
            trial: trial.flatMap(TokenTrial.init(stored:)))
    }
}

/// The authentication context class references of this server: how a user signed in (OpenID Connect Core §2, `acr`).
public enum AuthenticationContext {
    public static let all = ["urn:spindle:password", "urn:spindle:mail", "urn:spindle:issuer"]

    /// The context of a sign-in by text message, which only apps' own forms offer: a request cannot ask for it.
    private static let byText = "urn:spindle:sms"

    /// The context of a sign-in by `method`.
    public static func of(_ method: SignIn.Method) -> String {
        switch method {
        case .password: all[0]
        case .mail: all[1]
        case .text: byText
        case .issuer: all[2]
        }
    }

    /// The name of `method` in RFC 8176; nil for a sign-in at another issuer, which has no name there.
    public static func reference(_ method: SignIn.Method) -> String? { method == .issuer ? nil : method.rawValue }
}
