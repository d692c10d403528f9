import Cryptography
import JWTKit

/// One key that other people's JWTs are verified with.
struct AssertionKey: Sendable {
    private enum Material: Sendable {
        case rsa(Insecure.RSA.PublicKey)
        case p256(ES256PublicKey)
        case p384(ES384PublicKey)
        case p521(ES512PublicKey)
        case ed25519(EdDSA.PublicKey)
        case secret(HMACKey)
    }

    let keyID: String?
    /// The algorithms this key may verify: those of its type, or the one that it names.
    let algorithms: Set<SignatureAlgorithm>
    private let material: Material

    /// An issuer has one secret, so a key id says nothing about it.
    var isSecret: Bool { if case .secret = material { true } else { false } }

    /// A shared secret. RFC 7518 §3.2: a key as long as the hash or longer.
    init(secret: [UInt8]) {
        self.keyID = nil
        self.algorithms = Set(
            [(SignatureAlgorithm.hs256, 32), (.hs384, 48), (.hs512, 64)].filter { secret.count >= $0.1 }.map(\.0))
        self.material = .secret(HMACKey(from: secret))
    }

    /// A public key of a JWK set (RFC 7517), or nil for one that is not for us: for another use, private, symmetric,
    /// weak, of an unknown kind, or damaged.
    init?(jwk: JSON) {
        guard jwk["d"] == nil, jwk["k"] == nil else { return nil }
        if let use = jwk["use"], use != "sig" { return nil }
        if let operations = jwk["key_ops"], operations.strings?.contains("verify") != true { return nil }
        if let keyID = jwk["kid"], keyID.string == nil { return nil }
        guard let (material, algorithms) = Self.material(of: jwk) else { return nil }
        if let name = jwk["alg"] {
            guard let algorithm = name.string.flatMap(SignatureAlgorithm.init), algorithms.contains(algorithm) else {
                return nil
            }
            self.algorithms = [algorithm]
        } else {
            self.algorithms = algorithms
        }
        self.keyID = jwk["kid"]?.string
        self.material = material
    }

    private static func material(of jwk: JSON) -> (Material, Set<SignatureAlgorithm>)? {
        switch (jwk["kty"]?.string, jwk["crv"]?.string) {
        case ("RSA", nil):
            guard let (n, e) = rsaNumbers(of: jwk), let key = try? Insecure.RSA.PublicKey(modulus: n, exponent: e)
            else { return nil }
            return (.rsa(key), [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512])
        case ("EC", "P-256"):
            return point(of: jwk, size: 32).flatMap { try? (.p256(ES256PublicKey(parameters: $0)), [.es256]) }
        case ("EC", "P-384"):
            return point(of: jwk, size: 48).flatMap { try? (.p384(ES384PublicKey(parameters: $0)), [.es384]) }
        case ("EC", "P-521"):
            return point(of: jwk, size: 66).flatMap { try? (.p521(ES512PublicKey(parameters: $0)), [.es512]) }
        case ("OKP", "Ed25519"):
            guard let x = number("x", of: jwk), x.count == 32 else { return nil }
            return try? (.ed25519(EdDSA.PublicKey(x: Base64URL.encode(x), curve: .ed25519)), [.edDSA])
        default: return nil
        }
    }

    private static func number(_ name: String, of jwk: JSON) -> [UInt8]? {
        jwk[name]?.string.flatMap { Base64URL.decode($0) }
    }

    /// 2048 to 8192 bits, and an odd exponent from 3 up to 17 bits' length, as 65537 has: no weak key, and none made to be
    /// slow.
    private static func rsaNumbers(of jwk: JSON) -> (modulus: String, exponent: String)? {
        guard let n = number("n", of: jwk)?.drop(while: { $0 == 0 }), let high = n.first,
            let e = number("e", of: jwk)?.drop(while: { $0 == 0 }), let low = e.last
        else { return nil }
        let bits = n.count * 8 - high.leadingZeroBitCount
        guard (2048...8192).contains(bits), e.count < 3 || (e.count == 3 && e.first == 1), low % 2 == 1, e != [1]
        else { return nil }
        return (Base64URL.encode(Array(n)), Base64URL.encode(Array(e)))
    }

    /// RFC 7518 §6.2.1.2: each coordinate has the full length, so that the two cannot shift into one another.
    private static func point(of jwk: JSON, size: Int) -> ECDSAParameters? {
        guard let x = number("x", of: jwk), let y = number("y", of: jwk), x.count == size, y.count == size else {
            return nil
        }
        return (Base64URL.encode(x), Base64URL.encode(y))
    }
}

// MARK: - Verifying

extension AssertionKey {
    /// Whether `token` was signed with this key. The token's algorithm must be one of `algorithms`.
    func verifies(_ token: SignedJWT) async -> Bool {
        guard let verifier = await verifier(for: token.algorithm) else { return false }
        // A signature that cannot be one (of the wrong length, say) is an error there and a refusal here.
        return (try? verifier.verify(token.signature, signs: Array(token.signedText.utf8))) ?? false
    }

    /// A verifier of exactly this key and this algorithm.
    ///
    /// JWTKit's own choice is avoided: it pins a key without `alg` to the first token's algorithm, before that token is
    /// verified, and takes its default key for an unknown key id. So each collection here holds one key, under no name.
    private func verifier(for algorithm: SignatureAlgorithm) async -> (any JWTAlgorithm)? {
        let keys = JWTKeyCollection()
        switch (material, algorithm) {
        case (.rsa(let key), .rs256): await keys.add(rsa: key, digestAlgorithm: .sha256)
        case (.rsa(let key), .rs384): await keys.add(rsa: key, digestAlgorithm: .sha384)
        case (.rsa(let key), .rs512): await keys.add(rsa: key, digestAlgorithm: .sha512)
        case (.rsa(let key), .ps256): await keys.add(pss: key, digestAlgorithm: .sha256)
        case (.rsa(let key), .ps384): await keys.add(pss: key, digestAlgorithm: .sha384)
        case (.rsa(let key), .ps512): await keys.add(pss: key, digestAlgorithm: .sha512)
        case (.p256(let key), .es256): await keys.add(ecdsa: key)
        case (.p384(let key), .es384): await keys.add(ecdsa: key)
        case (.p521(let key), .es512): await keys.add(ecdsa: key)
        case (.ed25519(let key), .edDSA): await keys.add(eddsa: key)
        case (.secret(let key), .hs256): await keys.add(hmac: key, digestAlgorithm: .sha256)
        case (.secret(let key), .hs384): await keys.add(hmac: key, digestAlgorithm: .sha384)
        case (.secret(let key), .hs512): await keys.add(hmac: key, digestAlgorithm: .sha512)
        default: return nil
        }
        return try? await keys.getKey()
    }
}
