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
