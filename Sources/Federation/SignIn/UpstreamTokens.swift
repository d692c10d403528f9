import JOSE
public import Keys
public import Outbound
public import Values

/// Redeems codes at other issuers (RFC 6749 §4.1.3).
public struct UpstreamTokens: Sendable {
    private static let longestAnswer = 64 * 1024

    private let outbound: Outbound
    private let seal: Seal
    private let clock: any WallClock

    public init(outbound: Outbound, seal: Seal, clock: any WallClock) {
        self.outbound = outbound
        self.seal = seal
        self.clock = clock
    }

    /// What a code was redeemed for.
    struct Answer {
        let idToken: String?
        let accessToken: String?
    }

    /// Redeems `code`, which was asked for with `verifier` and `redirectURI`.
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
        if let secret, endpoints.authenticationMethods.contains("client_secret_basic") {
            // Our name in the body too would be a second method (RFC 6749 §2.3).
            credentials = OutboundCredentials(id: settings.clientID, secret: secret.value)
        } else {
            form.append(("client_id", settings.clientID))
            if let secret { form.append(("client_secret", secret.value)) }
        }
        let response: OutboundResponse
        do {
            response = try await outbound.post(
                form: form, to: endpoints.token, credentials: credentials, limit: Self.longestAnswer)
        } catch {
            throw UpstreamRefusal.unavailable(reason: "token endpoint: \(error)")
        }
        return try Self.read(response)
    }

    private static func read(_ response: OutboundResponse) throws(UpstreamRefusal) -> Answer {
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
        return Answer(idToken: json["id_token"]?.string, accessToken: json["access_token"]?.string)
    }

    /// What `address` tells of the person whom a code was redeemed for (OpenID Connect Core §5.3): a JSON object.
    func claims(at address: String, with accessToken: String) async throws(UpstreamRefusal) -> JSON {
        guard let credentials = OutboundCredentials(bearer: accessToken) else {
            throw .mistrusted(reason: "access_token")
        }
        let response: OutboundResponse
        do {
            response = try await outbound.get(address, credentials: credentials, limit: Self.longestAnswer)
        } catch {
            throw .unavailable(reason: "userinfo: \(error)")
        }
        guard response.status == 200, let json = try? JSON(parsing: response.body), json.members != nil else {
            throw .unavailable(reason: "userinfo: status \(response.status), or no JSON object")
        }
        return json
    }

    /// What we show to be the client that people are sent there by; nil where none was registered.
    private func secret(
        of issuer: TrustedIssuer, _ settings: SignInSettings
    ) throws -> Secret<SignInSettings>? {
        guard let secret = try seal.clientSecret(of: issuer) else { return nil }
        return AppleKey(stored: secret.value)?.secret(of: settings.clientID, at: clock.now) ?? secret
    }
}

extension Character {
    /// What an error code may be made of, in a log.
    fileprivate var isPlain: Bool { isASCII && (isLetter || isNumber || self == "_") }
}
