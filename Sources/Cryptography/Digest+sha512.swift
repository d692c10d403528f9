import COpenSSL

extension Digest {
    /// The SHA-512 digest of `bytes`.
    public static func sha512(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let input = Array(bytes)
        return [UInt8](unsafeUninitializedCapacity: Int(SHA512_DIGEST_LENGTH)) { buffer, count in
            _ = SHA512(input, input.count, buffer.baseAddress)
            count = Int(SHA512_DIGEST_LENGTH)
        }
    }

    /// The SHA-384 digest of `bytes`.
    public static func sha384(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let input = Array(bytes)
        return [UInt8](unsafeUninitializedCapacity: Int(SHA384_DIGEST_LENGTH)) { buffer, count in
            _ = SHA384(input, input.count, buffer.baseAddress)
            count = Int(SHA384_DIGEST_LENGTH)
        }
    }
}
