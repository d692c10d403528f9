import Cryptography
import JOSE
import JSON
import TestSupport
import Values

/// A client that signs instead of sending a secret.
struct SigningClient: Sendable {
    enum Key: Sendable {
        case own(PrivateKey)
        case secret(String)
    }

    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    static let issuer = "http://spindle.test"
    /// The URL of the endpoint at `path`.
    static func at(_ path: String) -> JSON { .string(issuer + path) }

    let world: World
    let id: String
    let key: Key

    static func keySet(_ keys: PrivateKey...) -> JSON { ["keys": .array(keys.map { JSONWebKey($0).json })] }

    /// An assertion with `changes` over its valid claims; one changed to null is left out.
    func assertion(_ changes: KeyValuePairs<String, JSON> = [:]) -> String {
        let now = world.server.clock.now
        let good: [JSON.Member] = [
            .init("iss", .string(id)), .init("sub", .string(id)), .init("aud", .string(Self.issuer)),
            .init("exp", .integer(now.seconds + 60)), .init("iat", .integer(now.seconds)),
            .init("jti", .string(Base64URL.encode(SystemRandom().bytes(12)))),
        ]
        let changed = Set(changes.map(\.key))
        let claims = good.filter { !changed.contains($0.name) } + changes.map { .init($0.key, $0.value) }
        return sign(.object(claims.filter { $0.value != .null }))
    }

    func sign(_ claims: JSON) -> String {
        switch key {
        case .own(let key): CompactJWS.sign(claims, type: "JWT", key: key, keyID: JSONWebKey(key).keyID)
        case .secret(let secret): Self.hs256(claims, key: Array(secret.utf8))
        }
    }

    /// `claims` under an HMAC with any key.
    static func hs256(_ claims: JSON, key: [UInt8], keyID: String? = nil) -> String {
        let header = JSON.members(["alg": "HS256", "typ": "JWT", "kid": keyID.map { .string($0) }])
        let input = [header, claims].map { Base64URL.encode(Array($0.text.utf8)) }.joined(separator: ".")
        return input + "." + Base64URL.encode(Digest.hmacSHA256(Array(input.utf8), key: key))
    }

    /// A request for the client's own tokens, or for `form` at `path`.
    func ask(
        _ assertion: String? = nil, _ form: KeyValuePairs<String, String> = ["grant_type": "client_credentials"],
        at path: String = "/oauth/token", on server: TestServer? = nil
    ) async throws -> Answer {
        let proof = [("client_assertion_type", Self.type), ("client_assertion", assertion ?? self.assertion())]
        return try await (server ?? world.server).post(path, form: form.map { ($0.key, $0.value) } + proof)
    }
}

extension World {
    /// A client of Loom that signs with `key`, whose public half it registered.
    func signingClient(
        _ key: PrivateKey = .generate(.es256), _ changes: KeyValuePairs<String, JSON> = [:]
    ) async throws -> SigningClient {
        let made = try await confidential([
            "token_endpoint_auth_method": "private_key_jwt", "jwks": SigningClient.keySet(key),
        ])
        if !changes.isEmpty { try await change("clients", made.id, .object(changes.map { .init($0.key, $0.value) })) }
        return SigningClient(world: self, id: made.id, key: .own(key))
    }
}
