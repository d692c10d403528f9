public import Cryptography
public import Keys
import OAuth
import Outbound
import Text
public import Values

/// Sends users to sign in at other issuers, and reads from the responses who they are (OpenID Connect Core §3.1; RFC
/// 6749 §4.1 at Facebook).
public struct IdentityProviderSignIn: Sendable {
    /// The services that a sign-in needs.
    public struct Partners: Sendable {
        let directory: IssuerDirectory
        let verifier: AssertionVerifier
        let tokens: IdentityProviderTokens
        let providers: ProviderTokens

        public init(
            directory: IssuerDirectory, verifier: AssertionVerifier, tokens: IdentityProviderTokens,
            providers: ProviderTokens
        ) {
            self.directory = directory
            self.verifier = verifier
            self.tokens = tokens
            self.providers = providers
        }
    }

    private let requests: IdentityProviderRequests
    let partners: Partners
    private let seal: Seal
    private let origin: String
    let clock: any WallClock
    private let random: any RandomSource

    /// `origin` is the base of our own URLs.
    public init(
        requests: IdentityProviderRequests, partners: Partners, seal: Seal, origin: String, clock: any WallClock,
        random: any RandomSource
    ) {
        self.requests = requests
        self.partners = partners
        self.seal = seal
        self.origin = origin
        self.clock = clock
        self.random = random
    }

    /// The path of our redirect URI at `issuer`. Each issuer has its own, so a response of one is never taken for
    /// another's (RFC 9700 §4.4.2.2).
    public static func path(of issuer: TrustedIssuer.ID) -> String { "/login/with/\(issuer)/callback" }

    func redirectURI(of issuer: TrustedIssuer) -> String { origin + Self.path(of: issuer.id) }

    /// Stores `request`, and returns the address that its browser is sent to.
    ///
    /// - Parameters:
    ///   - address: the network address that is charged for it.
    ///   - language: the user's language.
    public func begin(
        _ request: IdentityProviderRequest, at issuer: TrustedIssuer, from address: String, language: String
    ) async throws -> String {
        guard let settings = issuer.signIn, issuer.disabledAt == nil else { throw IdentityProviderRefusal.closed }
        let endpoints = try await endpoints(of: issuer)
        try partners.tokens.checkProof(at: issuer, endpoints)
        let state = IdentityProviderRequests.State.random(from: random)
        if let wait = try await requests.begin(request, state, from: address) {
            throw IdentityProviderRefusal.tooMany(wait)
        }
        var parameters: [(name: String, value: String)] = [
            ("response_type", "code"), ("client_id", settings.clientID), ("redirect_uri", redirectURI(of: issuer)),
            ("scope", settings.scope), ("state", state.value),
            ("code_challenge", Base64URL.encode(Digest.sha256(verifier(of: state).utf8))),
            ("code_challenge_method", "S256"),
        ]
        if issuer.app?.provider != .facebook { parameters.append(("nonce", nonce(of: state))) }
        if issuer.app == nil { parameters.append(("ui_locales", language)) }
        // Apple accepts no other mode for requests for a name or an address.
        if issuer.app?.provider == .apple { parameters.append(("response_mode", "form_post")) }
        // Core §3.1.2.1: with max_age there must be an auth_time to check.
        if request.isAnew { parameters += [("prompt", "login"), ("max_age", "0")] }
        return endpoints.address(parameters)
    }

    /// The code verifier (RFC 7636), secret until the code is redeemed: `state` alone is not enough to derive it.
    func verifier(of state: IdentityProviderRequests.State) -> String {
        seal.derive("provider_requests.verifier", of: state.value)
    }

    func nonce(of state: IdentityProviderRequests.State) -> String {
        seal.derive("provider_requests.nonce", of: state.value)
    }

    func endpoints(of issuer: TrustedIssuer) async throws -> IssuerEndpoints {
        do {
            guard let endpoints = try await partners.directory.endpoints(of: issuer) else {
                throw IdentityProviderRefusal.unavailable(
                    reason: "no authorization_endpoint or token_endpoint is known")
            }
            return endpoints
        } catch let error as OAuthError {
            throw IdentityProviderRefusal.unavailable(reason: error.logText)
        }
    }
}

extension IssuerEndpoints {
    /// The authorization endpoint with `parameters`, after any query that it has.
    fileprivate func address(_ parameters: [(name: String, value: String)]) -> String {
        authorization + (authorization.contains("?") ? "&" : "?") + PercentEncoding.encode(pairs: parameters)
    }
}
