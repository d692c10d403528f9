internal import COpenSSL

/// Another party's public key, through OpenSSL.
///
/// `@unchecked` because OpenSSL's `EVP_PKEY` is a pointer. It is made once, never changed and counted atomically, and
/// every verification has its own context.
@safe public final class PublicKey: @unchecked Sendable {
    /// A NIST curve (FIPS 186-4, appendix D).
    public enum Curve: String, Sendable, CaseIterable {
        case p256 = "P-256"
        case p384 = "P-384"
        case p521 = "P-521"

        /// Bytes of a coordinate, and of each of r and s.
        var length: Int {
            switch self {
            case .p256: 32
            case .p384: 48
            case .p521: 66
            }
        }
    }

    /// The numbers of a key, big-endian.
    public enum Numbers: Sendable, Equatable {
        case rsa(modulus: [UInt8], exponent: [UInt8])
        /// A point, each coordinate of the curve's full length.
        case point(Curve, x: [UInt8], y: [UInt8])
        /// A point of Ed25519, 32 bytes.
        case ed25519(x: [UInt8])
    }

    /// Not a usable key: numbers of the wrong size, a point off its curve, a weak key or a deliberately slow one.
    public struct Unusable: Error, Sendable {}

    enum Kind: Sendable {
        case rsa, curve(Curve), ed25519
    }

    let kind: Kind
    /// The length of an RSA modulus in bits; 0 for other keys. The longer, the slower.
    public let modulusLength: Int
    let key: OpaquePointer

    /// Makes a key of `numbers`, and checks them.
    public init(_ numbers: Numbers) throws(Unusable) {
        OpenSSL.start()
        let key: OpaquePointer?
        switch numbers {
        case .rsa(let modulus, let exponent):
            let (n, e) = (Array(modulus.drop { $0 == 0 }), Array(exponent.drop { $0 == 0 }))
            guard Self.isSound(modulus: n, exponent: e) else { throw Unusable() }
            kind = .rsa
            modulusLength = Self.length(of: n)
            unsafe key = unsafe spindle_rsa_public_key(n, Int32(n.count), e, Int32(e.count))
        case .point(let curve, let x, let y):
            // RFC 7518 §6.2.1.2: each coordinate has the full length, so that its bytes cannot count as the other's.
            guard x.count == curve.length, y.count == curve.length else { throw Unusable() }
            // SEC 1 §2.3.3: an uncompressed point begins with 4.
            let point = [4] + x + y
            kind = .curve(curve)
            modulusLength = 0
            unsafe key = unsafe spindle_ec_public_key(curve.rawValue, point, point.count)
        case .ed25519(let x):
            guard EdwardsPoint.isSound(x) else { throw Unusable() }
            kind = .ed25519
            modulusLength = 0
            unsafe key = unsafe EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, x, x.count)
        }
        guard let key = unsafe key else {
            ERR_clear_error()
            throw Unusable()
        }
        unsafe self.key = unsafe key
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// In bits; there are no leading zeros.
    private static func length(of modulus: [UInt8]) -> Int {
        modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
    }

    /// 2048 to 8192 bits, and an odd exponent from 3 to 17 bits long, like 65537. OpenSSL accepts any exponent: with 1,
    /// everything is a valid signature.
    private static func isSound(modulus n: [UInt8], exponent e: [UInt8]) -> Bool {
        guard let last = n.last, let low = e.last else { return false }
        return (2048...8192).contains(length(of: n)) && last % 2 == 1 && (e.count < 3 || (e.count == 3 && e.first == 1))
            && low % 2 == 1 && e != [1]
    }
}

/// How a signature is made and verified, apart from the key.
public enum SignatureScheme: Sendable, Hashable {
    /// RSASSA-PKCS1-v1_5 (RFC 8017 §8.2).
    case pkcs1(Digest.Function)
    /// RSASSA-PSS with MGF1 of the same digest and a salt as long as it (RFC 7518 §3.5).
    case pss(Digest.Function)
    /// ECDSA, as the bytes of r and s (RFC 7518 §3.4).
    case ecdsa(Digest.Function)
    /// Ed25519 (RFC 8032).
    case ed25519

    /// Nil for Ed25519, which has its digest built in and accepts no other.
    var function: Digest.Function? {
        switch self {
        case .pkcs1(let function), .pss(let function), .ecdsa(let function): function
        case .ed25519: nil
        }
    }
}

extension PublicKey {
    /// Whether `signature` of `bytes` was made with this key's private half by `scheme`.
    ///
    /// False for a scheme of another kind of key and for a signature of the wrong length.
    public func verifies(_ signature: [UInt8], of bytes: [UInt8], by scheme: SignatureScheme) -> Bool {
        guard let signature = form(of: signature, scheme), let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        // 0 means a wrong signature, a negative number an unreadable one.
        let isRight =
            unsafe prepare(context, scheme)
            && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
        if !isRight { ERR_clear_error() }
        return isRight
    }

    /// The signature in OpenSSL's form; nil for one that this key cannot have made.
    private func form(of signature: [UInt8], _ scheme: SignatureScheme) -> [UInt8]? {
        switch (kind, scheme) {
        // RFC 8017 §8.1.2 and §8.2.2: as long as the modulus. OpenSSL does not check this for PSS.
        case (.rsa, .pkcs1), (.rsa, .pss): unsafe signature.count == Int(EVP_PKEY_get_size(key)) ? signature : nil
        case (.curve(let curve), .ecdsa): signature.count == 2 * curve.length ? der(ofRaw: signature) : nil
        case (.ed25519, .ed25519): signature.count == 64 ? signature : nil
        default: nil
        }
    }

    private func prepare(_ context: OpaquePointer, _ scheme: SignatureScheme) -> Bool {
        var parameters: OpaquePointer?
        guard unsafe EVP_DigestVerifyInit(context, &parameters, scheme.function?.fetched.evp, nil, key) == 1 else {
            return false
        }
        guard case .pss = scheme else { return true }
        return unsafe EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) > 0
            && EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) > 0
    }
}

/// The DER of an ECDSA signature whose r and s are halves of `signature` (RFC 3279 §2.2.3).
private func der(ofRaw signature: [UInt8]) -> [UInt8] {
    let half = signature.count / 2
    let r = unsafe BN_bin2bn(Array(signature.prefix(half)), Int32(half), nil)
    let s = unsafe BN_bin2bn(Array(signature.suffix(half)), Int32(half), nil)
    // On success the pair owns both numbers.
    guard let pair = unsafe ECDSA_SIG_new(), unsafe ECDSA_SIG_set0(pair, r, s) == 1 else {
        preconditionFailure("out of memory")
    }
    defer { unsafe ECDSA_SIG_free(pair) }
    let length = unsafe Int(i2d_ECDSA_SIG(pair, nil))
    return unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
        var cursor = buffer.baseAddress
        count = unsafe Int(i2d_ECDSA_SIG(pair, &cursor))
    }
}

/// Checks of an Ed25519 public key that OpenSSL omits. They need no arithmetic on the curve: the few points of small
/// order are known.
enum EdwardsPoint {
    /// 2^255 - 19, little-endian (RFC 8032 §5.1).
    private static let prime: [UInt8] = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]

    /// The y coordinates, little-endian, of the eight points whose order divides the cofactor 8. If the key is one of
    /// them, one signature, made without any private key, is valid for every message, or for one in a few: RFC 8032
    /// §5.1.7 lets the verifier multiply by the cofactor, which turns these points into the identity. They are the
    /// multiples of a point of order 8, the roots of y = 1, y = -1, y = 0 and d·y⁴ + 2·y² = 1 on the curve
    /// -x² + y² = 1 + d·x²·y² (§5.1).
    private static let smallOrders: Set<[UInt8]> = [
        // Order 1: the identity (0, 1).
        [1] + [UInt8](repeating: 0, count: 31),
        // Order 2: (0, -1).
        [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
        // Order 4: y is 0, with either x.
        [UInt8](repeating: 0, count: 32),
        // Order 8: two values of y, each with either x.
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0,
            0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F,
            0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],
    ]

    /// Whether `key` has 32 bytes, a y below the prime, as a decoder must demand (RFC 8032 §5.1.3), and no small order.
    static func isSound(_ key: [UInt8]) -> Bool {
        guard key.count == 32 else { return false }
        // The highest bit is the sign of x.
        let y = key.dropLast() + [key[31] & 0x7F]
        return y.reversed().lexicographicallyPrecedes(prime.reversed()) && !smallOrders.contains(Array(y))
    }
}
