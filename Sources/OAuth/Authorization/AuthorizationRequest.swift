public import Directory
import Values

/// A valid authorization request (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1), from a client that may make it.
public struct AuthorizationRequest: Sendable {
    public let returnAddress: ReturnAddress
    public let responseType: ResponseType
    public internal(set) var scope: Scope
    public let challenge: CodeChallenge?
    public internal(set) var authentication: AuthenticationRequest
    public internal(set) var prompt: Set<Prompt>
    /// The oldest sign-in the client takes.
    public internal(set) var maxAge: Duration?
    public internal(set) var loginHint: String?
    /// An ID token of ours: the answer is for its person or for nobody.
    public internal(set) var idTokenHint: String?

    /// `issuer` is our own name. `allowsUnsafeTokens`: a client that registered itself gets access tokens with the answer.
    public init(
        _ parameters: Parameters, returnAddress: ReturnAddress, issuer: String, allowsUnsafeTokens: Bool
    ) throws(OAuthError) {
        let client = returnAddress.client
        try Self.checkForms(parameters)
        guard let responseType = ResponseType(try parameters.require(.responseType)) else {
            throw OAuthError(
                .unsupportedResponseType, "response_type",
                "response_type must be of \(ResponseType.all.map { "'\($0)'" }.joined(separator: ", ")).")
        }
        self.responseType = responseType
        try ResponseMode.check(parameters, for: returnAddress.redirectURI, of: client)
        guard responseType.isEmpty || client.openID.responseTypes.contains(responseType) else {
            throw .responseTypeNotAllowed(responseType, client.id)
        }
        // RFC 9700 §2.1.2: what is in an address leaks. Of a client that nobody vouched for nobody knows what it does then.
        guard allowsUnsafeTokens || !client.registeredItself || !responseType.contains(.token) else {
            throw .frontChannelToken(client.id)
        }
        guard responseType.isTokensAlone || client.may(.authorizationCode) else { throw .grantNotAllowed(client.id) }
        challenge = try CodeChallenge.read(parameters)
        // RFC 9700 §2.1.1: public clients must use PKCE.
        guard challenge != nil || !client.isPublic || !responseType.contains(.code) else {
            throw .missing(.codeChallenge)
        }
        scope = try Self.scope(parameters, of: client, for: responseType)
        // The same clause: for a confidential client the nonce of OpenID Connect does as well.
        let isBound = challenge != nil || scope.contains(Scope.openID) && parameters[.nonce] != nil
        guard isBound || !client.requiresPKCE || !responseType.contains(.code) else {
            throw OAuthError(
                .invalidRequest, "pkce_required",
                "code_challenge is missing: this client must use PKCE (RFC 7636), or send a nonce with scope openid.")
        }
        authentication = try Self.authentication(parameters, of: client, for: responseType, issuer)
        prompt = try Prompt.read(parameters)
        maxAge = try Self.maxAge(parameters) ?? client.openID.defaultMaxAge
        loginHint = parameters[.loginHint]
        idTokenHint = parameters[.idTokenHint]
        self.returnAddress = returnAddress
    }

    /// The ways to say it all that are not offered. A request object has been taken apart before this.
    private static func checkForms(_ parameters: Parameters) throws(OAuthError) {
        guard parameters[.request] == nil else { throw .requestNotSupported }
        guard parameters[.requestURI] == nil else { throw .requestURINotSupported }
        guard parameters[.registration] == nil else { throw .registrationNotSupported }
    }

    private static func scope(
        _ parameters: Parameters, of client: Client, for type: ResponseType
    ) throws(OAuthError) -> Scope {
        var scope = try client.granted(parameters[.scope], within: client.scope.withoutAdministration)
        // Google's way to ask for it, and Sync Gateway's. Others than strangers have what it would give by other rules.
        if client.isStranger, parameters[.accessType] == "offline", client.scope.contains(Scope.offlineAccess) {
            scope.formUnion(Scope([Scope.offlineAccess]))
        }
        guard !type.contains(.idToken) || scope.contains(Scope.openID) else { throw .noIDTokenWithoutOpenID }
        // What comes past the token endpoint is for now: nothing of it can be refreshed (RFC 6749 §4.2.2).
        return type.isTokensAlone ? scope.forNow : scope
    }

    private static func authentication(
        _ parameters: Parameters, of client: Client, for type: ResponseType, _ issuer: String
    ) throws(OAuthError) -> AuthenticationRequest {
        let nonce = parameters[.nonce]
        // Core §3.2.2.1, §3.3.2.11: nothing else ties an ID token that comes through the browser to the request.
        guard nonce != nil || !type.contains(.idToken) else { throw .missing(.nonce) }
        let claims = try parameters[.claims].map { text throws(OAuthError) in try ClaimsRequest(text) }
        let contexts = claims?.requiredContexts ?? []
        guard contexts.isEmpty || !contexts.isDisjoint(with: AuthenticationContext.all) else {
            throw .noSuchContext
        }
        return AuthenticationRequest(
            nonce: nonce, claims: claims, resource: try client.resource(parameters, issuer: issuer))
    }

    private static func maxAge(_ parameters: Parameters) throws(OAuthError) -> Duration? {
        guard let text = parameters[.maxAge] else { return nil }
        guard let seconds = Int64(text), (0...1_000_000_000).contains(seconds) else {
            throw .malformed(.maxAge, "a whole number of seconds")
        }
        return .seconds(seconds)
    }
}

extension AuthorizationRequest {
    /// The same, with what a developer tries out.
    public func trying(_ trial: TokenTrial?) -> AuthorizationRequest {
        var tried = self
        tried.authentication = authentication.trying(trial)
        return tried
    }
}

extension ResponseType {
    /// Whether nothing but tokens comes with the answer: no code, and so nothing at the token endpoint.
    var isTokensAlone: Bool { isDirect && !contains(.code) }
}
