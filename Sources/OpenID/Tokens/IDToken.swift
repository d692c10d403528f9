import Cryptography
import Directory
import JSON
public import Keys
import OAuth
import Values

/// An ID token (OpenID Connect Core §2), before it is signed.
public struct IDToken: Sendable {
    let issuer: String
    /// Always a string, public or pairwise.
    let subject: String
    let client: Client.ID
    let issuedAt: Timestamp
    let lifetime: Duration
    let signedInAt: Timestamp
    let method: String?
    let nonce: String?
    /// The browser session, for a logout that reaches the client (Back-Channel Logout §2.1).
    let session: String?
    /// The token and the code issued along with it, whose hashes it carries.
    var accessToken: String?
    var code: String?
    /// Claims about the user.
    var claims: [JSON.Member]

    /// Signs it with `key`, whose algorithm is the client's.
    public func signed(by key: SigningKey) -> String { key.sign(json(for: key.algorithm), type: Self.type) }

    static let type = "JWT"

    func json(for algorithm: PrivateKey.Algorithm) -> JSON {
        let own: JSON = .members([
            "iss": .string(issuer), "sub": .string(subject), "aud": .string(client.text),
            "exp": .integer((issuedAt + lifetime).seconds), "iat": .integer(issuedAt.seconds),
            "auth_time": .integer(signedInAt.seconds), "nonce": nonce.map { .string($0) },
            "acr": method.map { .string(AuthenticationContext.of($0)) },
            "amr": method.flatMap(AuthenticationContext.references).map { .array($0.map { .string($0) }) },
            "azp": .string(client.text),
            "at_hash": accessToken.map { .string(Self.hash($0, algorithm)) },
            "c_hash": code.map { .string(Self.hash($0, algorithm)) }, "sid": session.map { .string($0) },
        ])
        let names = Set((own.members ?? []).map(\.name))
        // Claims about the user must not override those of the protocol.
        return .object((own.members ?? []) + claims.filter { !names.contains($0.name) })
    }

    /// The left half of the signature's digest (Core §3.1.3.6, §3.3.2.11). Ed25519 has SHA-512 inside.
    static func hash(_ text: String, _ algorithm: PrivateKey.Algorithm) -> String {
        let digest = algorithm == .edDSA ? Digest.sha512(text.utf8) : Digest.sha256(text.utf8)
        return Base64URL.encode(Array(digest.prefix(digest.count / 2)))
    }
}
