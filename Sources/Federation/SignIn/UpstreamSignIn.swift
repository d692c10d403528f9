public import Cryptography
import JOSE
public import Keys
import OAuth
import Outbound
public import Values

/// Sends people to other issuers to sign in there, and learns from what they bring back who they are (OpenID Connect Core
/// §3.1; RFC 6749 §4.1 at Facebook).
public struct UpstreamSignIn: Sendable {
    /// What it asks others by.
    public struct Partners: Sendable {
        let directory: IssuerDirectory
        let verifier: AssertionVerifier
        let tokens: UpstreamTokens
        let providers: ProviderTokens

        public init(
            directory: IssuerDirectory, verifier: AssertionVerifier, tokens: UpstreamTokens, providers: ProviderTokens
        ) {
            self.directory = directory
            self.verifier = verifier
            self.tokens = tokens
            self.providers = providers
        }
    }

    private let requests: UpstreamRequests
    private let partners: Partners
    private let seal: Seal
    private let origin: String
    private let clock: any WallClock
    private let random: any RandomSource

    /// `origin` is the base of our own addresses.
    public init(
        requests: UpstreamRequests, partners: Partners, seal: Seal, origin: String, clock: any WallClock,
        random: any RandomSource
    ) {
        self.requests = requests
        self.partners = partners
        self.seal = seal
        self.origin = origin
        self.clock = clock
        self.random = random
    }

    /// Where `issuer` sends people back to. Each has an address of its own: what one answers is never taken for another's
    /// (RFC 9700 §4.4.2.2).
    public static func path(of issuer: TrustedIssuer.ID) -> String { "/login/with/\(issuer)/callback" }

    private func redirectURI(of issuer: TrustedIssuer) -> String { origin + Self.path(of: issuer.id) }

    // MARK: There

    /// Remembers `request`, and returns the address that its browser is sent to.
    ///
    /// - Parameters:
    ///   - address: whose expense it is.
    ///   - language: what the person reads.
    public func begin(
        _ request: UpstreamRequest, at issuer: TrustedIssuer, from address: String, language: String
    ) async throws -> String {
        guard let settings = issuer.signIn, issuer.disabledAt == nil else { throw UpstreamRefusal.closed }
        let endpoints = try await endpoints(of: issuer)
        let state = UpstreamRequests.State.random(from: random)
        if let wait = try await requests.begin(request, state, from: address) { throw UpstreamRefusal.tooMany(wait) }
        var parameters = [
            ("response_type", "code"), ("client_id", settings.clientID), ("redirect_uri", redirectURI(of: issuer)),
            ("scope", settings.scope), ("state", state.value),
            ("code_challenge", Base64URL.encode(Digest.sha256(verifier(of: state).utf8))),
            ("code_challenge_method", "S256"),
        ]
        if issuer.app?.provider != .facebook { parameters.append(("nonce", nonce(of: state))) }
        if issuer.app == nil { parameters.append(("ui_locales", language)) }
        // Apple answers so, and not otherwise, as soon as it is asked for a name or an address.
        if issuer.app?.provider == .apple { parameters.append(("response_mode", "form_post")) }
        // Core §3.1.2.1: with max_age there must be an auth_time to judge.
        if request.isAnew { parameters += [("prompt", "login"), ("max_age", "0")] }
        return endpoints.address(parameters)
    }

    /// What RFC 7636 has us keep to ourselves until the code is redeemed: nobody who sees `state` can make it.
    private func verifier(of state: UpstreamRequests.State) -> String {
        seal.derive("upstream_requests.verifier", of: state.value)
    }

    private func nonce(of state: UpstreamRequests.State) -> String {
        seal.derive("upstream_requests.nonce", of: state.value)
    }

    private func endpoints(of issuer: TrustedIssuer) async throws -> IssuerEndpoints {
        do {
            guard let endpoints = try await partners.directory.endpoints(of: issuer) else {
                throw UpstreamRefusal.unavailable(reason: "no authorization_endpoint or token_endpoint is known")
            }
            return endpoints
        } catch let error as OAuthError {
            throw UpstreamRefusal.unavailable(reason: error.logText)
        }
    }

    // MARK: Back

    /// Who came back, as `answer` to `request` says, which was just spent under `state`.
    public func person(
        by answer: UpstreamAnswer, to request: UpstreamRequest, _ state: UpstreamRequests.State,
        at issuer: TrustedIssuer
    ) async throws -> UpstreamPerson {
        guard let settings = issuer.signIn, issuer.disabledAt == nil else { throw UpstreamRefusal.closed }
        let endpoints = try await endpoints(of: issuer)
        try check(answer.issuer, issuer, endpoints)
        let code = try answer.code
        let tokens = try await partners.tokens.redeem(
            code, verifier: verifier(of: state), redirectURI: redirectURI(of: issuer), as: settings, at: issuer,
            endpoints)
        guard issuer.app?.provider != .facebook else { return try await facebook(tokens, at: issuer) }
        guard let idToken = tokens.idToken else { throw UpstreamRefusal.mistrusted(reason: "no id_token") }
        let token = try await verified(
            idToken, by: issuer,
            UpstreamIDToken.Expectation(
                names: issuer.names, client: settings.clientID, otherParties: issuer.rules.authorizedParties,
                nonce: nonce(of: state), accessToken: tokens.accessToken))
        if request.isAnew {
            // Their clock may be behind ours; by more than this it is no matter of clocks.
            guard let signedInAt = token.signedInAt, signedInAt >= request.createdAt - .seconds(60) else {
                throw UpstreamRefusal.stale
            }
        }
        return UpstreamPerson(
            person: IssuerPerson(token.claims.adding(answer.names), subject: token.subject, of: issuer),
            signedInAt: token.signedInAt)
    }

    /// RFC 9207 §2.4: whoever names itself must be who was asked, and who says that it does must do so.
    private func check(_ name: String?, _ issuer: TrustedIssuer, _ endpoints: IssuerEndpoints) throws(UpstreamRefusal) {
        guard let name else {
            guard !endpoints.namesItself else { throw .mistrusted(reason: "iss missing") }
            return
        }
        guard issuer.names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
            throw .mistrusted(reason: "iss of another")
        }
    }

    private func verified(
        _ token: String, by issuer: TrustedIssuer, _ expected: UpstreamIDToken.Expectation
    ) async throws -> UpstreamIDToken {
        do {
            return try UpstreamIDToken(try await partners.verifier.verify(token, of: issuer), expected, at: clock.now)
        } catch let rejection as JWTRejection {
            throw UpstreamRefusal.mistrusted(reason: "id_token \(rejection)")
        } catch let error as OAuthError {
            throw UpstreamRefusal.unavailable(reason: error.logText)
        }
    }

    private func facebook(_ tokens: UpstreamTokens.Answer, at issuer: TrustedIssuer) async throws -> UpstreamPerson {
        guard let token = tokens.accessToken else { throw UpstreamRefusal.mistrusted(reason: "no access_token") }
        do {
            let (subject, person) = try await partners.providers.person(of: Secret(token), at: issuer)
            return UpstreamPerson(
                person: IssuerPerson(person, subject: subject, of: issuer), signedInAt: nil)
        } catch let error as OAuthError where error.code == .temporarilyUnavailable {
            throw UpstreamRefusal.unavailable(reason: error.logText)
        } catch let error as OAuthError {
            throw UpstreamRefusal.mistrusted(reason: error.logText)
        }
    }
}

extension IssuerEndpoints {
    /// Where people are sent with `parameters`, whatever the address has of its own.
    fileprivate func address(_ parameters: [(String, String)]) -> String {
        authorization + (authorization.contains("?") ? "&" : "?") + OutboundForm.encode(parameters)
    }
}
