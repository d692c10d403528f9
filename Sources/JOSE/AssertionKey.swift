import Cryptography
import JSON

/// One key to verify other issuers' JWTs.
struct AssertionKey: Sendable {
    private enum Material: Sendable {
        case publicKey(PublicKey)
        case secret([UInt8])
    }

    let keyID: String?
    /// The algorithms that this key may verify: those of its type, or the one that it names.
    let algorithms: Set<SignatureAlgorithm>
    private let material: Material

    /// An issuer has one secret, so a key id says nothing about it.
    var isSecret: Bool { if case .secret = material { true } else { false } }

    /// Whether each verification takes long: see `AssertionKeys.quick`.
    var isSlow: Bool {
        if case .publicKey(let key) = material { key.modulusLength > AssertionKeys.longestQuickModulus } else { false }
    }

    /// A shared secret, for the algorithms whose hash is no longer than it (RFC 7518 §3.2).
    init(secret: [UInt8]) {
        self.keyID = nil
        self.algorithms = Set(
            [(SignatureAlgorithm.hs256, 32), (.hs384, 48), (.hs512, 64)].filter { secret.count >= $0.1 }.map(\.0))
        self.material = .secret(secret)
    }

    /// A public key of a JWK set (RFC 7517), or nil for one that cannot be used: for another use, private, symmetric,
    /// weak, of an unknown kind, or damaged.
    init?(jwk: JSON) {
        guard jwk["d"] == nil, jwk["k"] == nil else { return nil }
        if let use = jwk["use"], use != "sig" { return nil }
        if let operations = jwk["key_ops"], operations.strings?.contains("verify") != true { return nil }
        if let keyID = jwk["kid"], keyID.string == nil { return nil }
        guard let (numbers, algorithms) = Self.numbers(of: jwk) else { return nil }
        if let name = jwk["alg"] {
            guard let algorithm = name.string.flatMap(SignatureAlgorithm.init), algorithms.contains(algorithm) else {
                return nil
            }
            self.algorithms = [algorithm]
        } else {
            self.algorithms = algorithms
        }
        guard let key = try? PublicKey(numbers) else { return nil }
        self.keyID = jwk["kid"]?.string
        self.material = .publicKey(key)
    }

    private static func numbers(of jwk: JSON) -> (PublicKey.Numbers, Set<SignatureAlgorithm>)? {
        switch (jwk["kty"]?.string, jwk["crv"]?.string) {
        case ("RSA", nil):
            guard let n = number("n", of: jwk), let e = number("e", of: jwk) else { return nil }
            return (.rsa(modulus: n, exponent: e), [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512])
        case ("EC", "P-256"): return point(of: jwk, .p256).map { ($0, [.es256]) }
        case ("EC", "P-384"): return point(of: jwk, .p384).map { ($0, [.es384]) }
        case ("EC", "P-521"): return point(of: jwk, .p521).map { ($0, [.es512]) }
        case ("OKP", "Ed25519"): return number("x", of: jwk).map { (.ed25519(x: $0), [.edDSA]) }
        default: return nil
        }
    }

    private static func point(of jwk: JSON, _ curve: PublicKey.Curve) -> PublicKey.Numbers? {
        guard let x = number("x", of: jwk), let y = number("y", of: jwk) else { return nil }
        return .point(curve, x: x, y: y)
    }

    private static func number(_ name: String, of jwk: JSON) -> [UInt8]? {
        jwk[name]?.string.flatMap { Base64URL.decode($0) }
    }
}

// MARK: - Verifying

extension AssertionKey {
    /// Whether `token` was signed with this key, by one of its `algorithms`.
    func verifies(_ token: SignedJWT) -> Bool {
        // A key that names its algorithm verifies no other, even if it could.
        guard algorithms.contains(token.algorithm) else { return false }
        let signed = Array(token.signedText.utf8)
        switch (material, token.algorithm.method) {
        case (.publicKey(let key), .signature(let scheme)):
            return key.verifies(token.signature, of: signed, by: scheme)
        case (.secret(let secret), .hmac(let function)):
            return constantTimeEqual(token.signature, Digest.hmac(function, signed, key: secret))
        default: return false
        }
    }
}
