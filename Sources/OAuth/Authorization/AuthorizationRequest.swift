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
    /// The maximum age of a sign-in that the client accepts.
    public internal(set) var maxAge: Duration?
    /// Whether the user must sign in with a mailed code, unless they already have.
    var wantsMailedCode = false
    public internal(set) var loginHint: String?
    /// One of our ID tokens: the response is for its user only.
    public internal(set) var idTokenHint: String?

    /// - Parameters: `issuer` is our own. `allowsUnsafeTokens`: self-registered clients may get access tokens in the
    ///   response.
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
        // RFC 9700 §2.1.2: tokens in URLs leak, and an unreviewed client may not handle that.
        guard allowsUnsafeTokens || client.may(.takeTokensInURLs) || !responseType.contains(.token) else {
            throw .frontChannelToken(client.id)
        }
        guard responseType.isTokensAlone || client.may(.authorizationCode) else { throw .grantNotAllowed(client.id) }
        // A self-registered client names the grant with these response types (RFC 7591 §2.1); administration may remove
        // it.
        guard !responseType.isDirect || client.may(.skipImplicitGrant) || client.may(.implicit) else {
            throw .grantNotAllowed(client.id)
        }
        challenge = try CodeChallenge.read(parameters)
        // RFC 9700 §2.1.1: public clients must use PKCE.
        guard challenge != nil || client.may(.omitChallenge) || !responseType.contains(.code) else {
            throw OAuthError(
                .invalidRequest, "pkce_required",
                "code_challenge is missing: a client without a secret must use PKCE (RFC 7636), with "
                    + "code_challenge_method S256.")
        }
        scope = try Self.scope(parameters, of: client, for: responseType)
        // The same clause: for a confidential client, OpenID Connect's nonce is enough too.
        let isBound = challenge != nil || scope.contains(Scope.openID) && parameters[.nonce] != nil
        guard isBound || !client.requiresPKCE || !responseType.contains(.code) else {
            throw OAuthError(
                .invalidRequest, "pkce_required",
                "code_challenge is missing: this client must use PKCE (RFC 7636), or send a nonce with scope openid.")
        }
        authentication = try Self.authentication(parameters, of: client, for: responseType, issuer)
        prompt = try Prompt.read(parameters)
        maxAge = try Self.maxAge(parameters) ?? client.openID.defaultMaxAge
        // SPiD's SDK for browsers sends the user's uuid from `/user-context`, which is no address to fill in.
        loginHint = parameters[.loginHint].flatMap { UserUUID.hasForm($0) ? nil : $0 }
        idTokenHint = parameters[.idTokenHint]
        self.returnAddress = returnAddress
        if client.may(.askAsSPiD) { takeSPiDContexts(parameters[.acrValues]) }
    }

    /// Refuses ways to pass parameters that are not offered here. A request object has been unpacked by now.
    private static func checkForms(_ parameters: Parameters) throws(OAuthError) {
        guard parameters[.request] == nil else { throw .requestNotSupported }
        guard parameters[.requestURI] == nil else { throw .requestURINotSupported }
        guard parameters[.registration] == nil else { throw .registrationNotSupported }
    }

    private static func scope(
        _ parameters: Parameters, of client: Client, for type: ResponseType
    ) throws(OAuthError) -> Scope {
        var scope = try client.understood(parameters[.scope])
        // Google's and Sync Gateway's way to ask for it. First-party and SPiD clients get a refresh token by other
        // rules.
        if !client.may(.keepTokensAfterSessions), parameters[.accessType] == "offline", client.mayAskForOfflineAccess {
            scope.formUnion(Scope([Scope.offlineAccess]))
        }
        guard !type.contains(.idToken) || scope.contains(Scope.openID) else { throw .noIDTokenWithoutOpenID }
        // Tokens from the authorization endpoint cannot be refreshed (RFC 6749 §4.2.2).
        return type.isTokensAlone ? scope.forNow : scope
    }

    /// In bytes, because it is stored with the code.
    private static let longestNonce = 512

    private static func authentication(
        _ parameters: Parameters, of client: Client, for type: ResponseType, _ issuer: String
    ) throws(OAuthError) -> AuthenticationRequest {
        let nonce = parameters[.nonce]
        guard nonce?.utf8.count ?? 0 <= longestNonce else {
            throw .malformed(.nonce, "at most \(longestNonce) bytes")
        }
        // Core §3.2.2.1, §3.3.2.11: nothing else ties an ID token from the browser to the request.
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
    /// The same request with a developer's trial settings.
    public func trying(_ trial: TokenTrial?) -> AuthorizationRequest {
        var tried = self
        tried.authentication = authentication.trying(trial)
        return tried
    }
}

extension ResponseType {
    /// Whether the response carries tokens only: no code, and so no request to the token endpoint.
    var isTokensAlone: Bool { isDirect && !contains(.code) }
}

extension AuthorizationRequest {
    /// Reads the `acr_values` of SPiD's clients: `password` asks a signed-in user for the password again, `otp-email`
    /// asks for a code by mail. SPiD's names for second factors (`otp`, `sms`, `eid-…`) are ignored, because no user
    /// has one here: `acr_values` is voluntary (OpenID Connect Core §3.1.2.1), and the ID token's `acr` and `amr` say
    /// how the user did sign in.
    mutating func takeSPiDContexts(_ text: String?) {
        let words = Set((text ?? "").split(separator: " "))
        if Self.asksForPassword(text) { prompt.insert(.login) }
        wantsMailedCode = words.contains("otp-email")
    }

    /// Whether `acr_values` of a SPiD-compatible client ask for the password again, as `prompt=login` does.
    package static func asksForPassword(_ text: String?) -> Bool {
        text?.split(separator: " ").contains("password") ?? false
    }
}

/// What a client wants from the user, whatever is known already (OpenID Connect Core §3.1.2.1, Prompt Create 1.0 §4).
public enum Prompt: String, Sendable, Hashable, CaseIterable {
    /// Show no page: respond at once, or with an error that names the obstacle.
    case none
    case login
    case consent
    case selectAccount = "select_account"
    case create

    /// The values that a sign-in or a sign-up satisfies.
    public static let signingIn: Set<Prompt> = [.login, .selectAccount, .create]

    /// Reads the parameter: known values only, and `none` alone.
    static func read(_ parameters: Parameters) throws(OAuthError) -> Set<Prompt> {
        let words = (parameters[.prompt] ?? "").split(separator: " ")
        let prompts = words.compactMap { Prompt(rawValue: String($0)) }
        guard prompts.count == words.count else {
            throw .malformed(.prompt, "words of " + allCases.map(\.rawValue).joined(separator: ", "))
        }
        guard !prompts.contains(.none) || Set(prompts).count == 1 else {
            throw .malformed(.prompt, "'none' cannot be combined")
        }
        return Set(prompts)
    }
}

/// How a response travels through the browser to the client.
public enum ResponseMode: String, Sendable, CaseIterable {
    case query
    /// After the `#`: servers and their logs do not see it (OAuth 2.0 Multiple Response Type Encoding Practices §2.1).
    case fragment
    /// A form that the browser posts (OAuth 2.0 Form Post Response Mode).
    case formPost = "form_post"
    /// A message to the page that opened ours or has it in a frame.
    case webMessage = "web_message"

    /// The mode of a request if the client can receive it; otherwise the default mode, for the error.
    static func followed(_ parameters: Parameters, to uri: RedirectURI, of client: Client) -> ResponseMode {
        guard let mode = parameters[.responseMode].flatMap(ResponseMode.init) else { return usual(parameters) }
        return mode.fault(parameters, uri, client) == nil ? mode : usual(parameters)
    }

    /// Refuses a mode that is not offered, or in which the client could not receive the response.
    static func check(_ parameters: Parameters, for uri: RedirectURI, of client: Client) throws(OAuthError) {
        guard let text = parameters[.responseMode] else { return }
        guard let mode = ResponseMode(rawValue: text) else {
            throw .malformed(.responseMode, "one of " + allCases.map(\.rawValue).joined(separator: ", "))
        }
        if let fault = mode.fault(parameters, uri, client) { throw .malformed(.responseMode, fault) }
    }

    private static func bringsTokens(_ parameters: Parameters) -> Bool {
        parameters[.responseType].flatMap { ResponseType($0) }?.isDirect ?? false
    }

    private static func usual(_ parameters: Parameters) -> ResponseMode {
        bringsTokens(parameters) ? .fragment : .query
    }

    private func fault(_ parameters: Parameters, _ uri: RedirectURI, _ client: Client) -> String? {
        switch self {
        // Multiple Response Type Encoding Practices §3, §5: a query ends up in logs.
        case .query: Self.bringsTokens(parameters) ? "tokens are never sent in a query" : nil
        case .fragment: nil
        case .formPost: uri.isOfWeb ? nil : "form_post needs an https redirect_uri"
        case .webMessage:
            uri.origin.map(client.webOrigins.contains) ?? false
                ? nil : "web_message needs the origin of the redirect_uri among the client's web_origins"
        }
    }
}
