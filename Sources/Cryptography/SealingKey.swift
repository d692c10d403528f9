internal import COpenSSL

/// Authenticated encryption: AES-256-GCM with a random 96-bit nonce (NIST SP 800-38D).
///
/// The sealed form is base64url of nonce, ciphertext and tag.
public struct SealingKey: Sendable {
    private let bytes: [UInt8]
    private static let nonceLength = 12
    private static let tagLength = 16

    /// `bytes` must be 32 bytes.
    public init(_ bytes: [UInt8]) {
        precondition(bytes.count == 32, "AES-256 takes a key of 32 bytes")
        self.bytes = bytes
    }

    /// A key for one purpose, derived by HKDF-SHA-256 (RFC 5869). `salt` may itself be a secret.
    public func derived(for purpose: String, salt: [UInt8] = []) -> SealingKey {
        SealingKey(hkdf(key: bytes, salt: salt, info: Array(purpose.utf8)))
    }

    /// Raw key bytes for one purpose, like `derived(for:)`, for use as an HMAC key.
    public func derivedBytes(for purpose: String) -> [UInt8] {
        hkdf(key: bytes, salt: [], info: Array(purpose.utf8))
    }

    /// Seals `plaintext`; it opens only under the same key and `context`.
    public func seal(_ plaintext: [UInt8], context: String, random: any RandomSource) -> String {
        let nonce = random.bytes(Self.nonceLength)
        guard let cipher = unsafe EVP_CIPHER_CTX_new() else { preconditionFailure("out of memory") }
        defer { unsafe EVP_CIPHER_CTX_free(cipher) }
        let associated = Array(context.utf8)
        var length: Int32 = 0
        var output = [UInt8](repeating: 0, count: plaintext.count)
        var tag = [UInt8](repeating: 0, count: Self.tagLength)
        let done =
            unsafe EVP_EncryptInit_ex2(cipher, FetchedCipher.aes256GCM.evp, bytes, nonce, nil) == 1
            && EVP_EncryptUpdate(cipher, nil, &length, associated, Int32(associated.count)) == 1
            && EVP_EncryptUpdate(cipher, &output, &length, plaintext, Int32(plaintext.count)) == 1
            && EVP_EncryptFinal_ex(cipher, &tag, &length) == 1
            && spindle_gcm_get_tag(cipher, Int32(Self.tagLength), &tag) == 1
        precondition(done, "AES-256-GCM failed")
        return Base64URL.encode(nonce + output + tag)
    }

    /// Opens the result of `seal`, or returns nil when key, context or a single bit differs.
    public func open(_ sealed: String, context: String) -> [UInt8]? {
        guard let input = Base64URL.decode(sealed), input.count >= Self.nonceLength + Self.tagLength,
            let cipher = unsafe EVP_CIPHER_CTX_new()
        else { return nil }
        defer { unsafe EVP_CIPHER_CTX_free(cipher) }
        let nonce = Array(input.prefix(Self.nonceLength))
        let ciphertext = Array(input.dropFirst(Self.nonceLength).dropLast(Self.tagLength))
        var tag = Array(input.suffix(Self.tagLength))
        let associated = Array(context.utf8)
        var length: Int32 = 0
        var output = [UInt8](repeating: 0, count: ciphertext.count)
        var tail = [UInt8](repeating: 0, count: 16)
        let authentic =
            unsafe EVP_DecryptInit_ex2(cipher, FetchedCipher.aes256GCM.evp, bytes, nonce, nil) == 1
            && EVP_DecryptUpdate(cipher, nil, &length, associated, Int32(associated.count)) == 1
            && EVP_DecryptUpdate(cipher, &output, &length, ciphertext, Int32(ciphertext.count)) == 1
            && spindle_gcm_set_tag(cipher, Int32(Self.tagLength), &tag) == 1
            && EVP_DecryptFinal_ex(cipher, &tail, &length) == 1
        return authentic ? output : nil
    }
}

extension SealingKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "<sealing key>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// HKDF-SHA-256 (RFC 5869), 32 bytes: one block. Uses two HMACs, because setting up OpenSSL's HKDF costs five times as
/// much.
func hkdf(key: [UInt8], salt: [UInt8], info: [UInt8]) -> [UInt8] {
    Digest.hmacSHA256(info + [1], key: Digest.hmacSHA256(key, key: salt))
}
