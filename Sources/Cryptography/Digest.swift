internal import COpenSSL

/// Digests through OpenSSL: SHA-2 and its HMAC, and MD5 for one label.
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

    /// The MD5 digest of `bytes`, or nothing when OpenSSL is set up without it (FIPS 140-3).
    ///
    /// SPiD labels sign-in attempts with it, and its clients group attempts by that label. Nothing else may depend on
    /// it: anyone can make two texts with the same MD5.
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

/// Whether `a` and `b` are the same bytes, in a time that depends only on their lengths.
public func constantTimeEqual(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Bool {
    let a = Array(a)
    let b = Array(b)
    return unsafe a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
}

extension Digest {
    /// A digest for signatures and HMACs.
    public enum Function: Sendable, Hashable, CaseIterable {
        case sha256, sha384, sha512

        /// Bytes of the digest.
        public var length: Int { fetched.length }

        var fetched: FetchedDigest {
            switch self {
            case .sha256: .sha256
            case .sha384: .sha384
            case .sha512: .sha512
            }
        }
    }
}
