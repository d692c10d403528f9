public import Cryptography
import JOSE
public import Storage
public import Values

/// Takes the assertions of clients that sign instead of showing a secret (RFC 7523 §3, OpenID Connect Core §9).
public struct ClientAssertions: Sendable {
    /// How far ahead an assertion may end.
    static let longestLife: Duration = .hours(24)
    /// How far a client's clock may be ahead of ours.
    static let clockSkew: Duration = .seconds(60)
    /// Remembered a little beyond its end: the node that forgets it and the one that is asked have clocks of their own.
    private static let memory: Duration = .minutes(5)

    private let database: any Database
    private let keys: ClientKeys
    private let secrets: SignSecrets
    private let audiences: [String]
    private let clock: any WallClock
    private let random: any RandomSource

    /// `audiences` are our own names: the issuer's, and the URL of the token endpoint.
    public init(
        database: any Database, keys: ClientKeys, secrets: SignSecrets, audiences: [String], clock: any WallClock,
        random: any RandomSource
    ) {
        self.database = database
        self.keys = keys
        self.secrets = secrets
        self.audiences = audiences
        self.clock = clock
        self.random = random
    }

    /// Takes `assertion` if it is good and `client` has not shown it before.
    func take(_ assertion: ClientAssertion, of client: Client) async throws {
        func refused(_ reason: String) -> OAuthError { .clientRefused(reason, client.id) }
        let jwt: VerifiedJWT
        do {
            jwt = try await verified(assertion, of: client)
            guard try jwt.issuer == client.id.text else { throw refused("assertion_issuer") }
            guard try jwt.subject == client.id.text else { throw refused("assertion_subject") }
            guard let audience = try jwt.audience, audience.contains(where: audiences.contains) else {
                throw refused("assertion_audience")
            }
            let now = clock.now
            guard let end = try jwt.expiresAt else { throw refused("assertion_expiry_missing") }
            guard now < end else { throw refused("assertion_expired") }
            guard end <= now + Self.longestLife else { throw refused("assertion_lives_too_long") }
            if let start = try jwt.notBefore, start > now + Self.clockSkew { throw refused("assertion_not_yet_valid") }
            if let made = try jwt.issuedAt, made > now + Self.clockSkew { throw refused("assertion_from_the_future") }
            guard let identifier = try jwt.identifier, !identifier.isEmpty else {
                throw refused("assertion_jti_missing")
            }
            guard try await isFirst(identifier, of: client.id, until: end) else { throw refused("assertion_replayed") }
        } catch let rejection as JWTRejection {
            throw OAuthError.clientRefused("assertion_rejected", client.id, "\(rejection)")
        }
    }

    private func verified(_ assertion: ClientAssertion, of client: Client) async throws -> VerifiedJWT {
        let pinned = client.openID.authenticationAlgorithm.map { Set([$0]) }
        switch client.authentication {
        case .secretJWT:
            // The algorithms are ours to say: a client that has a secret has nothing else.
            return try await secrets.keys(of: client).verify(assertion.text, allowed: [.hs256])
        case .privateKeyJWT:
            do {
                return try await keys.verify(
                    assertion.text, of: client, allowed: pinned ?? Set(SignatureAlgorithm.allCases))
            } catch let error where !(error is JWTRejection || error is CancellationError) {
                throw OAuthError.clientRefused("client_keys_unavailable", client.id, "\(error)")
            }
        case .none, .secretBasic, .secretPost:
            throw OAuthError.clientRefused("assertion_not_expected", client.id)
        }
    }

    /// Whether nobody has shown `identifier` before: of two at once, the key lets one in.
    private func isFirst(_ identifier: String, of client: Client.ID, until end: Timestamp) async throws -> Bool {
        // Each part with its length, so that no two lists of parts read alike.
        let parts = ["client", client.text, identifier].map { "\($0.utf8.count):\($0)" }.joined()
        let fingerprint = Fingerprint<ClientAssertion>(of: parts)
        // Who took it: what runs again after a COMMIT of unknown outcome finds itself there.
        let taker = Identifier<ClientAssertion>.random(from: random)
        return try await database.write { db in
            let rows = try db.execute(
                """
                INSERT INTO used_assertions (fingerprint, used_by, expires_at)
                VALUES (\(fingerprint), \(taker), \(end + Self.memory)) ON CONFLICT (fingerprint) DO NOTHING
                """)
            guard rows == 0 else { return true }
            return try !db.rows(
                "SELECT expires_at FROM used_assertions WHERE fingerprint = \(fingerprint) AND used_by = \(taker)"
            ).isEmpty
        }
    }
}
