public import Cryptography
public import JSON

/// The public half of one of our keys, as in the JWK set (RFC 7517).
public struct JSONWebKey: Sendable, Hashable {
    /// The thumbprint of the key (RFC 7638), so that the same key has the same id everywhere.
    public let keyID: String
    public let json: JSON

    public init(_ key: PrivateKey) {
        // RFC 7638 §3.2: exactly the required members, in lexicographic order.
        let required: JSON =
            switch key.publicNumbers {
            case .rsa(let modulus, let exponent):
                .members([
                    "e": .string(Base64URL.encode(exponent)), "kty": "RSA", "n": .string(Base64URL.encode(modulus)),
                ])
            case .p256(let x, let y):
                .members([
                    "crv": "P-256", "kty": "EC", "x": .string(Base64URL.encode(x)), "y": .string(Base64URL.encode(y)),
                ])
            // RFC 8037 §2 and appendix A.3.
            case .ed25519(let x):
                .members(["crv": "Ed25519", "kty": "OKP", "x": .string(Base64URL.encode(x))])
            }
        self.keyID = Base64URL.encode(Digest.sha256(required.text.utf8))
        self.json = .object(
            (required.members ?? []) + [
                JSON.Member("use", "sig"), JSON.Member("alg", .string(key.algorithm.rawValue)),
                JSON.Member("kid", .string(keyID)),
            ])
    }
}
