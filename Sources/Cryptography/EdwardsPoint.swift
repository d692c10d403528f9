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
