public import Directory
import JOSE
public import Values

/// Verifies the assertions of clients that sign instead of sending a secret (RFC 7523 §3, OpenID Connect Core §9).
public struct ClientAssertions: Sendable {
    /// How far a client's clock may be ahead of ours.
    static let clockSkew: Duration = .seconds(60)
    /// The maximum age of an assertion, by its `iat`: a client makes one for use at once.
    static let longestAge: Duration = .minutes(10)
    /// The longest life of an assertion without `iat`, which is remembered until it expires.
    static let longestWithoutAge: Duration = .hours(1)

    /// The `typ` values accepted, so that a request object or another JWT of the client is no assertion (RFC 8725
    /// §3.11, RFC 7523bis).
    private static let types = [
        "jwt", "application/jwt", "client-authentication+jwt", "application/client-authentication+jwt",
    ]

    private let keys: ClientKeys
    private let secrets: SignSecrets
    private let issuer: String
    private let origin: String
    private let tokenEndpoints: [String]
    private let replays: ReplayMemory
    private let clock: any WallClock

    /// An assertion may be addressed to `issuer`, to one of `tokenEndpoints`, or to a path below our `origin`.
    public init(
        keys: ClientKeys, secrets: SignSecrets, issuer: String, origin: String, tokenEndpoints: [String],
        replays: ReplayMemory, clock: any WallClock
    ) {
        self.keys = keys
        self.secrets = secrets
        self.issuer = issuer
        self.origin = origin
        self.tokenEndpoints = tokenEndpoints
        self.replays = replays
        self.clock = clock
    }

    /// Accepts `assertion` if it is valid and `client` has not used it before.
    func take(_ assertion: ClientAssertion, of client: Client) async throws {
        func refused(_ reason: String) -> OAuthError { .clientRefused(reason, client.id) }
        let jwt: VerifiedJWT
        do {
            jwt = try await verified(assertion, of: client)
            guard jwt.isTyped(asOneOf: Self.types) else { throw refused("assertion_type") }
            guard try jwt.issuer == client.id.text else { throw refused("assertion_issuer") }
            guard try jwt.subject == client.id.text else { throw refused("assertion_subject") }
            guard let audience = try jwt.audience, isUs(audience, of: assertion, to: client) else {
                throw refused("assertion_audience")
            }
            let now = clock.now
            guard let end = try jwt.expiresAt else { throw refused("assertion_expiry_missing") }
            guard now < end else { throw refused("assertion_expired") }
            guard end <= now + ReplayMemory.longestLife else { throw refused("assertion_lives_too_long") }
            if let start = try jwt.notBefore, start > now + Self.clockSkew { throw refused("assertion_not_yet_valid") }
            let made = try jwt.issuedAt
            guard made != nil || end <= now + Self.longestWithoutAge else { throw refused("assertion_lives_too_long") }
            if let made, made > now + Self.clockSkew { throw refused("assertion_from_the_future") }
            if let made, made < now - Self.longestAge { throw refused("assertion_too_old") }
            guard let identifier = try jwt.identifier, !identifier.isEmpty else {
                throw refused("assertion_jti_missing")
            }
            // An assertion with `iat` is refused once it is too old, so it need not be remembered for longer.
            let until = made.map { min(end, $0 + Self.longestAge + Self.clockSkew) } ?? end
            guard try await replays.isFirst(identifier, in: .assertion, of: client.id, until: until) else {
                throw refused("assertion_replayed")
            }
        } catch let rejection as JWTRejection {
            throw OAuthError.clientRefused("assertion_rejected", client.id, "\(rejection)")
        }
    }

    /// RFC 7523bis §4: we must be the only audience. Another server named in it could replay the assertion here. Unless
    /// the client chose to accept the issuer alone, the URLs of the token endpoint and of the requested endpoint count
    /// as ours too, and libraries send several of them.
    private func isUs(_ audience: [String], of assertion: ClientAssertion, to client: Client) -> Bool {
        guard !client.openID.addressesIssuer else { return audience.count == 1 && [issuer].holds(audience[0]) }
        let ours = [issuer, origin + assertion.path] + tokenEndpoints
        return !audience.isEmpty && audience.allSatisfy(ours.holds)
    }

    private func verified(_ assertion: ClientAssertion, of client: Client) async throws -> VerifiedJWT {
        let pinned = client.openID.authenticationAlgorithm.map { Set([$0]) }
        switch client.authentication {
        case .secretJWT:
            // We choose the algorithm: a client with a secret has nothing else to sign with.
            return try await secrets.keys(of: client).verify(assertion.text, allowed: [.hs256])
        case .privateKeyJWT:
            do {
                return try await keys.verify(
                    assertion.text, of: client, allowed: pinned ?? Set(SignatureAlgorithm.allCases))
            } catch let error where !(error is JWTRejection || error is CancellationError) {
                throw OAuthError.clientKeysUnavailable(client.id, "\(error)")
            }
        case .none, .secretBasic, .secretPost:
            throw OAuthError.clientRefused("assertion_not_expected", client.id)
        }
    }
}
