public import Cryptography
import JOSE
import JSON
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

/// Finds out who signed in at the issuer.
extension IdentityProviderSignIn {
    /// The user according to `answer`, the response to `request`, which was just spent under `state`.
    public func user(
        by answer: IdentityProviderAnswer, to request: IdentityProviderRequest, _ state: IdentityProviderRequests.State,
        at issuer: TrustedIssuer
    ) async throws -> IdentityProviderUser {
        guard let settings = issuer.signIn, issuer.disabledAt == nil else { throw IdentityProviderRefusal.closed }
        let endpoints = try await endpoints(of: issuer)
        try check(answer.issuer, issuer, endpoints)
        let code = try answer.code
        let tokens = try await partners.tokens.redeem(
            code, verifier: verifier(of: state), redirectURI: redirectURI(of: issuer), as: settings, at: issuer,
            endpoints)
        guard issuer.app?.provider != .facebook else { return try await facebook(tokens, at: issuer) }
        guard let idToken = tokens.idToken else { throw IdentityProviderRefusal.mistrusted(reason: "no id_token") }
        let token = try await verified(
            idToken, by: issuer,
            IdentityProviderIDToken.Expectation(
                names: issuer.names, client: settings.clientID, otherParties: issuer.rules.authorizedParties,
                nonce: nonce(of: state), accessToken: tokens.accessToken))
        if request.isAnew {
            // The issuer's clock may be behind ours, but not by more than this.
            guard let signedInAt = token.signedInAt, signedInAt >= request.createdAt - .seconds(60) else {
                throw IdentityProviderRefusal.stale
            }
        }
        let claims = try await claims(of: token, tokens, settings, endpoints, issuer)
        return IdentityProviderUser(
            issuerUser: IssuerUser(claims.adding(answer.names), subject: token.subject, of: issuer),
            signedInAt: token.signedInAt)
    }

    /// The claims of the ID token. If requested ones are missing, the userinfo endpoint adds them (Core §5.4: with a
    /// code they need not be in the token).
    private func claims(
        of token: IdentityProviderIDToken, _ tokens: IdentityProviderTokens.Answer, _ settings: SignInSettings,
        _ endpoints: IssuerEndpoints, _ issuer: TrustedIssuer
    ) async throws -> JSON {
        let wanted = [("email", "email"), ("profile", "name")].filter { scope, claim in
            settings.scope.split(separator: " ").contains { $0 == scope } && token.claims[claim] == nil
        }
        guard !wanted.isEmpty, let address = endpoints.userinfo else { return token.claims }
        // Core §3.1.3.3: an access token comes with every ID token.
        guard let accessToken = tokens.accessToken else {
            throw IdentityProviderRefusal.mistrusted(reason: "no access_token")
        }
        let more: JSON
        switch try await partners.tokens.userinfo(at: address, of: issuer, with: accessToken) {
        case .plain(let json): more = json
        case .signed(let text): more = try await signedUserinfo(text, by: issuer, for: settings)
        }
        // Core §5.3.2: otherwise it could be about another user.
        guard more["sub"]?.string == token.subject else {
            throw IdentityProviderRefusal.mistrusted(reason: "userinfo sub")
        }
        // An address and whether it is verified must come from the same source.
        let others = more.members ?? []
        guard token.claims["email"] == nil else {
            return token.claims.adding(others.filter { !["email_verified", "hd"].contains($0.name) })
        }
        return (more["email"] == nil ? token.claims : token.claims.without("email_verified")).adding(others)
    }

    /// Core §5.3.2: a signed response should name its signer and audience. They are checked if it does.
    private func signedUserinfo(
        _ text: String, by issuer: TrustedIssuer, for settings: SignInSettings
    ) async throws -> JSON {
        do {
            let jwt = try await partners.verifier.verify(text, of: issuer)
            guard jwt.isOfNoOtherKind else { throw IdentityProviderRefusal.mistrusted(reason: "userinfo typ") }
            if let name = try jwt.issuer, !issuer.names.holds(name) {
                throw IdentityProviderRefusal.mistrusted(reason: "userinfo iss")
            }
            if let audience = try jwt.audience, !audience.holds(settings.clientID) {
                throw IdentityProviderRefusal.mistrusted(reason: "userinfo aud")
            }
            return jwt.claims
        } catch let rejection as JWTRejection {
            throw IdentityProviderRefusal.mistrusted(reason: "userinfo: \(rejection)")
        } catch let error as OAuthError {
            throw IdentityProviderRefusal.unavailable(reason: error.logText)
        }
    }

    /// RFC 9207 §2.4: an `iss` must be the issuer's, and an issuer that announces it must send it.
    private func check(_ name: String?, _ issuer: TrustedIssuer, _ endpoints: IssuerEndpoints)
        throws(IdentityProviderRefusal)
    {
        guard let name else {
            guard !endpoints.namesItself else { throw .mistrusted(reason: "iss missing") }
            return
        }
        guard issuer.names.holds(name) else {
            throw .mistrusted(reason: "iss of another")
        }
    }

    private func verified(
        _ token: String, by issuer: TrustedIssuer, _ expected: IdentityProviderIDToken.Expectation
    ) async throws -> IdentityProviderIDToken {
        do {
            return try IdentityProviderIDToken(
                try await partners.verifier.verify(token, of: issuer), expected, at: clock.now)
        } catch let rejection as JWTRejection {
            throw IdentityProviderRefusal.mistrusted(reason: "id_token \(rejection)")
        } catch let error as OAuthError {
            throw IdentityProviderRefusal.unavailable(reason: error.logText)
        }
    }

    private func facebook(_ tokens: IdentityProviderTokens.Answer, at issuer: TrustedIssuer) async throws
        -> IdentityProviderUser
    {
        guard let token = tokens.accessToken else {
            throw IdentityProviderRefusal.mistrusted(reason: "no access_token")
        }
        do {
            let (subject, providerUser) = try await partners.providers.user(of: Secret(token), at: issuer, for: nil)
            return IdentityProviderUser(
                issuerUser: IssuerUser(providerUser, subject: subject, of: issuer), signedInAt: nil)
        } catch let error as OAuthError where error.code == .temporarilyUnavailable {
            throw IdentityProviderRefusal.unavailable(reason: error.logText)
        } catch let error as OAuthError {
            throw IdentityProviderRefusal.mistrusted(reason: error.logText)
        }
    }
}
