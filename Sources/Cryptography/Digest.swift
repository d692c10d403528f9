internal import COpenSSL

/// Digests through OpenSSL: SHA-256 and HMAC-SHA-256, and MD5 for one label.
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

    /// The MD5 digest of `bytes`, or nothing where OpenSSL is told to do without (FIPS 140-3).
    ///
    /// SPiD labels tries to sign in with it, and its clients group them by that. Nothing may ever rest on it: anybody can
    /// make two texts of one MD5.
    public static func md5Label(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
            var length = Int(EVP_MAX_MD_SIZE)
            let isMade = EVP_Q_digest(nil, "MD5", nil, bytes, bytes.count, buffer.baseAddress, &length) == 1
            count = isMade ? length : 0
        }
    }
}

/// Whether `a` and `b` are the same bytes, in a time that depends on their lengths alone.
public func constantTimeEqual(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Bool {
    let a = Array(a)
    let b = Array(b)
    return a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
}
