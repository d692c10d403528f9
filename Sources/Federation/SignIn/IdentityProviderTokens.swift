public import Cryptography
import JOSE
import JSON
public import Keys
public import Outbound
public import Values

/// Redeems codes at other issuers (RFC 6749 §4.1.3).
public struct IdentityProviderTokens: Sendable {
    private static let longestAnswer = 64 * 1024

    private let outbound: Outbound
    /// Requests to Facebook, at the address that the operator configured.
    private let operators: Outbound
    private let seal: Seal
    private let ring: KeyRing
    private let clock: any WallClock
    private let random: any RandomSource

    public init(
        outbound: Outbound, operators: Outbound, seal: Seal, ring: KeyRing, clock: any WallClock,
        random: any RandomSource
    ) {
        self.outbound = outbound
        self.operators = operators
        self.seal = seal
        self.ring = ring
        self.clock = clock
        self.random = random
    }

    /// The tokens that a code was redeemed for.
    struct Answer {
        let idToken: String?
        let accessToken: String?
    }

    /// Redeems `code`, which was requested with `verifier` and `redirectURI`.
    func redeem(
        _ code: String, verifier: String, redirectURI: String, as settings: SignInSettings, at issuer: TrustedIssuer,
        _ endpoints: IssuerEndpoints
    ) async throws -> Answer {
        let secret = try secret(of: issuer, settings)
        var form = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirectURI),
            ("code_verifier", verifier),
        ]
        var credentials: OutboundCredentials?
        switch (try IdentityProviderProof(hasSecret: secret != nil, endpoints), secret) {
        case (.secretBasic, let secret?):
            // Our client id in the body would be a second method (RFC 6749 §2.3).
            credentials = OutboundCredentials(id: settings.clientID, secret: secret.value)
        case (.secretPost, let secret?): form += [("client_id", settings.clientID), ("client_secret", secret.value)]
        case (.secretJWT, let secret?):
            form += Self.assertion(
                CompactJWS.sign(claims(settings, endpoints), type: "JWT", secret: Array(secret.value.utf8)), settings)
        case (.privateKeyJWT(let algorithm), _):
            let key = try await ring.current(algorithm)
            form += Self.assertion(key.sign(claims(settings, endpoints), type: "JWT"), settings)
        case (.none, _), (_, nil): form.append(("client_id", settings.clientID))
        }
        let response: OutboundResponse
        do {
            let outbound = issuer.app?.provider == .facebook ? operators : outbound
            response = try await outbound.asking(for: .signIn, by: issuer.merchant.text, part: issuer.id.text).post(
                form: form, to: endpoints.token, credentials: credentials, limit: Self.longestAnswer)
        } catch {
            throw IdentityProviderRefusal.unavailable(reason: "token endpoint: \(error)")
        }
        return try Self.read(response)
    }

    private static func read(_ response: OutboundResponse) throws(IdentityProviderRefusal) -> Answer {
        guard let json = try? JSON(parsing: response.body), json.members != nil else {
            throw .unavailable(reason: "token endpoint: status \(response.status) and no JSON object")
        }
        guard response.status == 200 else {
            // Facebook's error is an object.
            let error = json["error"]?.string ?? json["error"]?["code"]?.integer.map(String.init)
            guard (400..<500).contains(response.status), let error else {
                throw .unavailable(reason: "token endpoint: status \(response.status)")
            }
            throw .failed(reason: "token endpoint: \(String(error.filter(\.isPlain).prefix(60)))")
        }
        let accessToken = json["access_token"]?.string
        // RFC 6749 §7.1: a token of an unknown type must not be used.
        if accessToken != nil, json["token_type"]?.string?.lowercased() != "bearer" {
            throw .mistrusted(reason: "token_type")
        }
        return Answer(idToken: json["id_token"]?.string, accessToken: accessToken)
    }

    /// The claims of our client assertion (RFC 7523 §3), for the next minute.
    private func claims(_ settings: SignInSettings, _ endpoints: IssuerEndpoints) -> JSON {
        let now = clock.now
        return .members([
            "iss": .string(settings.clientID), "sub": .string(settings.clientID), "aud": .string(endpoints.token),
            "jti": .string(Secret<IdentityProviderTokens>.random(from: random).value), "iat": .integer(now.seconds),
            "exp": .integer((now + .minutes(1)).seconds),
        ])
    }

    private static func assertion(_ signed: String, _ settings: SignInSettings) -> [(String, String)] {
        [
            ("client_id", settings.clientID),
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", signed),
        ]
    }

    /// Throws when `issuer` accepts none of our authentication methods, before a user is sent there.
    func checkProof(at issuer: TrustedIssuer, _ endpoints: IssuerEndpoints) throws {
        _ = try IdentityProviderProof(hasSecret: try seal.clientSecret(of: issuer) != nil, endpoints)
    }

    /// A userinfo response about the user whose code was redeemed (OpenID Connect Core §5.3.2).
    enum Userinfo {
        case plain(JSON)
        /// A JWT with a signature still to be verified.
        case signed(String)
    }

    func userinfo(
        at address: String, of issuer: TrustedIssuer, with accessToken: String
    ) async throws(IdentityProviderRefusal) -> Userinfo {
        guard let credentials = OutboundCredentials(bearer: accessToken) else {
            throw .mistrusted(reason: "access_token")
        }
        let response: OutboundResponse
        do {
            response = try await outbound.asking(for: .signIn, by: issuer.merchant.text, part: issuer.id.text).get(
                address, credentials: credentials, limit: Self.longestAnswer)
        } catch {
            throw .unavailable(reason: "userinfo: \(error)")
        }
        guard response.status == 200 else { throw .unavailable(reason: "userinfo: status \(response.status)") }
        if let json = try? JSON(parsing: response.body), json.members != nil { return .plain(json) }
        // A JSON object is never a JWT, so the content type is not needed to tell them apart.
        guard let text = String(validating: response.body, as: UTF8.self), text.isStreamSafe,
            CompactJWS.isOne(text)
        else {
            throw .unavailable(reason: "userinfo: neither a JSON object nor a JWT")
        }
        return .signed(text)
    }

    /// Our client secret at the issuer; nil when none was registered.
    private func secret(
        of issuer: TrustedIssuer, _ settings: SignInSettings
    ) throws -> Secret<SignInSettings>? {
        guard let secret = try seal.clientSecret(of: issuer) else { return nil }
        return AppleKey(stored: secret.value)?.secret(of: settings.clientID, at: clock.now) ?? secret
    }
}

extension Character {
    /// A character that an error code may have in a log.
    fileprivate var isPlain: Bool { isASCII && (isLetter || isNumber || self == "_") }
}
