import Cryptography
import Directory
import JSON
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
    let method: SignIn.Method?
    let nonce: String?
    /// The browser session, for a logout that reaches the client (Back-Channel Logout §2.1).
    let session: String?
    /// The token and the code issued along with it, whose hashes it carries.
    var accessToken: String?
    var code: String?
    /// Claims about the user.
    var claims: [JSON.Member]

    func signed(by signer: IDTokenSigner) -> String {
        signer.sign(json(isSHA512: signer.isSHA512), type: Self.type)
    }

    static let type = "JWT"

    func json(isSHA512: Bool) -> JSON {
        let own: JSON = .members([
            "iss": .string(issuer), "sub": .string(subject), "aud": .string(client.text),
            "exp": .integer((issuedAt + lifetime).seconds), "iat": .integer(issuedAt.seconds),
            "auth_time": .integer(signedInAt.seconds), "nonce": nonce.map { .string($0) },
            "acr": method.map { .string(AuthenticationContext.of($0)) },
            "amr": method.flatMap(AuthenticationContext.reference).map { .array([.string($0)]) },
            "azp": .string(client.text),
            "at_hash": accessToken.map { .string(Self.hash($0, isSHA512: isSHA512)) },
            "c_hash": code.map { .string(Self.hash($0, isSHA512: isSHA512)) }, "sid": session.map { .string($0) },
        ])
        let names = Set((own.members ?? []).map(\.name))
        // Claims about the user must not override those of the protocol.
        return .object((own.members ?? []) + claims.filter { !names.contains($0.name) })
    }

    /// The left half of the digest of the signature's algorithm (Core §3.1.3.6, §3.3.2.11): SHA-512 for Ed25519, which
    /// has it built in, and SHA-256 for the others.
    static func hash(_ text: String, isSHA512: Bool) -> String {
        let digest = isSHA512 ? Digest.sha512(text.utf8) : Digest.sha256(text.utf8)
        return Base64URL.encode(Array(digest.prefix(digest.count / 2)))
    }
}
