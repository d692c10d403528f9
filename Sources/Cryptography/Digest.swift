internal import COpenSSL

/// SHA-256 and HMAC-SHA-256 through OpenSSL.
public enum Digest {
    /// The SHA-256 digest of `bytes`.
    public static func sha256(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let input = Array(bytes)
        return [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { buffer, count in
            _ = SHA256(input, input.count, buffer.baseAddress)
            count = Int(SHA256_DIGEST_LENGTH)
        }
    }

    /// The HMAC-SHA-256 of `bytes` under `key` (RFC 2104).
    public static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { buffer, count in
            var length: UInt32 = 0
            _ = HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, buffer.baseAddress, &length)
            count = Int(length)
        }
    }
}

/// Whether `a` and `b` are the same bytes, in a time that depends on their lengths alone.
public func constantTimeEqual(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Bool {
    let a = Array(a)
    let b = Array(b)
    return a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
}
