internal import COpenSSL

/// Digests through OpenSSL: SHA-2 and HMAC over it, and MD5 for one label.
public enum Digest {
    /// The digest of `bytes`.
    public static func compute(_ function: Function, of bytes: some Sequence<UInt8>) -> [UInt8] {
        let digest = function.fetched
        return unsafe bytes.withContiguousStorageIfAvailable { unsafe digest.digest($0) }
            ?? Array(bytes).withUnsafeBufferPointer { unsafe digest.digest($0) }
    }

    /// The SHA-256 digest of `bytes`.
    public static func sha256(_ bytes: some Sequence<UInt8>) -> [UInt8] { compute(.sha256, of: bytes) }

    /// The SHA-384 digest of `bytes`.
    public static func sha384(_ bytes: some Sequence<UInt8>) -> [UInt8] { compute(.sha384, of: bytes) }

    /// The SHA-512 digest of `bytes`.
    public static func sha512(_ bytes: some Sequence<UInt8>) -> [UInt8] { compute(.sha512, of: bytes) }

    /// The HMAC of `bytes` under `key` (RFC 2104).
    public static func hmac(_ function: Function, _ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        function.fetched.hmac(bytes, key: key)
    }

    /// The HMAC-SHA-256 of `bytes` under `key` (RFC 2104).
    public static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] { hmac(.sha256, bytes, key: key) }

    /// The MD5 digest of `bytes`, or nothing where OpenSSL is told to do without (FIPS 140-3).
    ///
    /// SPiD labels tries to sign in with it, and its clients group them by that. Nothing may ever rest on it: anybody can
    /// make two texts of one MD5.
    public static func md5Label(_ bytes: [UInt8]) -> [UInt8] {
        OpenSSL.start()
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
            var length = Int(EVP_MAX_MD_SIZE)
            let isMade =
                unsafe EVP_Q_digest(nil, "MD5", nil, bytes, bytes.count, buffer.baseAddress, &length) == 1
            count = isMade ? length : 0
        }
    }
}

/// Whether `a` and `b` are the same bytes, in a time that depends on their lengths alone.
public func constantTimeEqual(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Bool {
    let a = Array(a)
    let b = Array(b)
    return unsafe a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
}
