import Cryptography
import JSON

/// One key to verify other issuers' JWTs.
struct AssertionKey: Sendable {
    private enum Material: Sendable {
        case publicKey(PublicKey)
        case secret([UInt8])
    }

    let keyID: String?
    /// The algorithms that this key may verify: those of its type, or the only one that it names.
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

    /// A public key of a JWK set (RFC 7517). A null member counts as absent, because some programs write it for a
    /// missing value. Throws for a key that cannot be used: for another use, private, symmetric, weak, of an unknown
    /// kind, or damaged.
    init(jwk: JSON) throws(UnusableKey) {
        let jwk = jwk.withoutNulls
        guard jwk.members != nil else { throw UnusableKey("is no object") }
        guard !Self.isSecret(jwk) else { throw UnusableKey("is private or symmetric") }
        if let use = jwk["use"], use != "sig" { throw UnusableKey("has a use other than sig") }
        if let operations = jwk["key_ops"], operations.strings?.contains("verify") != true {
            throw UnusableKey("has key_ops without verify")
        }
        if let keyID = jwk["kid"], keyID.string == nil { throw UnusableKey("has no string in kid") }
        let (numbers, algorithms) = try Self.numbers(of: jwk)
        if let name = jwk["alg"] {
            guard let algorithm = name.string.flatMap(SignatureAlgorithm.init), algorithms.contains(algorithm) else {
                throw UnusableKey("has an alg that is none of its kty")
            }
            self.algorithms = [algorithm]
        } else {
            self.algorithms = algorithms
        }
        do {
            self.material = .publicKey(try PublicKey(numbers))
        } catch {
            throw UnusableKey("is weak, or its numbers are no key")
        }
        self.keyID = jwk["kid"]?.string
    }

    /// The private members of a JWK, and that of a symmetric key (RFC 7518 §6).
    private static let secrets = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// Whether `jwk` contains more than a public key.
    static func isSecret(_ jwk: JSON) -> Bool {
        let jwk = jwk.withoutNulls
        return secrets.contains { jwk[$0] != nil }
    }

    private static func numbers(
        of jwk: JSON
    ) throws(UnusableKey) -> (PublicKey.Numbers, Set<SignatureAlgorithm>) {
        switch (try text("kty", of: jwk), jwk["crv"].map { $0.string ?? "" }) {
        case ("RSA", nil):
            return (
                .rsa(modulus: try number("n", of: jwk), exponent: try number("e", of: jwk)),
                [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
            )
        case ("EC", "P-256"): return (try point(of: jwk, .p256), [.es256])
        case ("EC", "P-384"): return (try point(of: jwk, .p384), [.es384])
        case ("EC", "P-521"): return (try point(of: jwk, .p521), [.es512])
        case ("OKP", "Ed25519"): return (.ed25519(x: try number("x", of: jwk)), [.edDSA])
        case ("EC", nil), ("OKP", nil): throw UnusableKey("has no crv")
        default: throw UnusableKey("has a kty or crv that is not known here")
        }
    }

    private static func point(of jwk: JSON, _ curve: PublicKey.Curve) throws(UnusableKey) -> PublicKey.Numbers {
        .point(curve, x: try number("x", of: jwk), y: try number("y", of: jwk))
    }

    private static func text(_ name: String, of jwk: JSON) throws(UnusableKey) -> String {
        guard let value = jwk[name] else { throw UnusableKey("has no \(name)") }
        guard let text = value.string else { throw UnusableKey("has no string in \(name)") }
        return text
    }

    private static func number(_ name: String, of jwk: JSON) throws(UnusableKey) -> [UInt8] {
        guard let number = Base64URL.decode(try text(name, of: jwk)) else {
            throw UnusableKey("has no base64url in \(name)")
        }
        return number
    }
}

/// Why a key of a JWK set cannot be used.
struct UnusableKey: Error {
    /// As the end of the sentence "the key …": what is wrong, and no value of the key.
    let reason: String

    init(_ reason: String) { self.reason = reason }
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
