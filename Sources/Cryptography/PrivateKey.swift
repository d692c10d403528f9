import COpenSSL
import Synchronization

/// A private key and its one signature algorithm, through OpenSSL. Printing it shows nothing.
///
/// `@unchecked` because OpenSSL's `EVP_PKEY` is a pointer. It is made once, never changed and counted atomically, and
/// signatures made at once have a context each, as OpenSSL requires for keys shared between threads.
@safe public final class PrivateKey: @unchecked Sendable {
    /// The JWA name of a signature (RFC 7518 §3.1).
    public enum Algorithm: String, Sendable, CaseIterable {
        /// RSASSA-PKCS1-v1_5 with SHA-256 and 2048 bits.
        case rs256 = "RS256"
        /// ECDSA with P-256 and SHA-256.
        case es256 = "ES256"
        /// RSASSA-PSS with SHA-256, a salt as long as the digest, and 2048 bits.
        case ps256 = "PS256"
        /// Ed25519 (RFC 8037 §3.1).
        case edDSA = "EdDSA"
    }

    /// The public numbers of the key, big-endian.
    public enum PublicNumbers: Sendable, Equatable {
        case rsa(modulus: [UInt8], exponent: [UInt8])
        /// A point of P-256, 32 bytes each.
        case p256(x: [UInt8], y: [UInt8])
        /// A point of Ed25519, 32 bytes.
        case ed25519(x: [UInt8])
    }

    /// Not a usable key: other bytes, another kind of key, a weak one.
    public struct Unreadable: Error, Sendable {}

    public let algorithm: Algorithm
    let key: OpaquePointer
    /// As many as there were signatures at once.
    let idleContexts = Mutex<[SigningContext]>([])

    private init(algorithm: Algorithm, owning key: OpaquePointer) {
        self.algorithm = algorithm
        unsafe self.key = unsafe key
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// Makes a key with OpenSSL's randomness; an RSA key takes a good part of a second.
    public static func generate(_ algorithm: Algorithm) -> PrivateKey {
        OpenSSL.start()
        let key =
            switch algorithm {
            case .rs256, .ps256: unsafe spindle_generate_rsa(2048)
            case .es256: unsafe spindle_generate_ec("P-256")
            case .edDSA: unsafe spindle_generate_ed25519()
            }
        guard let key = unsafe key else { preconditionFailure("OpenSSL could not make a key") }
        return unsafe PrivateKey(algorithm: algorithm, owning: key)
    }

    /// Reads PKCS #8 in DER (RFC 5208), not encrypted.
    public convenience init(pkcs8 bytes: [UInt8], algorithm: Algorithm) throws(Unreadable) {
        OpenSSL.start()
        let key = unsafe bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            guard let info = unsafe d2i_PKCS8_PRIV_KEY_INFO(nil, &cursor, buffer.count) else { return nil }
            defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
            // The reader stops where the key ends; anything after it would be stored unseen.
            guard let start = buffer.baseAddress, unsafe cursor == start + buffer.count else { return nil }
            return unsafe EVP_PKCS82PKEY(info)
        }
        guard let key = unsafe key else {
            ERR_clear_error()
            throw Unreadable()
        }
        let fits =
            switch algorithm {
            case .rs256, .ps256: unsafe EVP_PKEY_is_a(key, "RSA") == 1 && EVP_PKEY_get_bits(key) >= 2048
            case .edDSA: unsafe EVP_PKEY_is_a(key, "ED25519") == 1
            case .es256: unsafe EVP_PKEY_is_a(key, "EC") == 1 && curve(of: key) == "prime256v1"
            }
        guard fits else {
            unsafe EVP_PKEY_free(key)
            throw Unreadable()
        }
        unsafe self.init(algorithm: algorithm, owning: key)
    }

    /// PKCS #8 in DER, unencrypted: only for sealing.
    public var pkcs8: [UInt8] {
        guard let info = unsafe EVP_PKEY2PKCS8(key) else { preconditionFailure("out of memory") }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(i2d_PKCS8_PRIV_KEY_INFO(info, nil))) { buffer, count in
            var cursor = buffer.baseAddress
            count = unsafe Int(i2d_PKCS8_PRIV_KEY_INFO(info, &cursor))
        }
    }

    public var publicNumbers: PublicNumbers {
        switch algorithm {
        case .rs256, .ps256: .rsa(modulus: number("n"), exponent: number("e"))
        case .edDSA: .ed25519(x: rawPoint)
        case .es256: .p256(x: number("qx", length: 32), y: number("qy", length: 32))
        }
    }

    /// The public number that OpenSSL calls `name`, padded to `length` if given.
    private func number(_ name: String, length: Int? = nil) -> [UInt8] {
        var number: OpaquePointer?
        precondition(unsafe EVP_PKEY_get_bn_param(key, name, &number) == 1, "the key has no \(name)")
        defer { unsafe BN_free(number) }
        return unsafe bigEndian(number, length: length ?? Int(BN_num_bits(number) + 7) / 8)
    }

    private var rawPoint: [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            var length = 32
            let done = unsafe EVP_PKEY_get_raw_public_key(key, buffer.baseAddress, &length) == 1
            precondition(done, "no point of Ed25519")
            count = length
        }
    }
}

extension PrivateKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "<private key>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

private func curve(of key: OpaquePointer) -> String? {
    var name = [UInt8](repeating: 0, count: 64)
    var length = 0
    let found = unsafe name.withUnsafeMutableBytes {
        unsafe EVP_PKEY_get_group_name(key, $0.bindMemory(to: CChar.self).baseAddress, $0.count, &length)
    }
    return found == 1 ? String(decoding: name.prefix(length), as: UTF8.self) : nil
}

func bigEndian(_ number: OpaquePointer?, length: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
        let written = unsafe BN_bn2binpad(number, buffer.baseAddress, Int32(length))
        precondition(written == length, "a number of another size")
        count = length
    }
}

extension PrivateKey {
    /// Signs `bytes`. ES256 gives the 64 bytes of r and s that JOSE requires (RFC 7518 §3.4).
    public func sign(_ bytes: [UInt8]) -> [UInt8] {
        guard algorithm != .edDSA else { return unsafe ed25519Signature(of: bytes, by: key) }
        let context = unsafe idleContexts.withLock { $0.popLast() } ?? SigningContext(key, algorithm)
        defer { idleContexts.withLock { $0.append(context) } }
        let signature = context.sign(Digest.sha256(bytes))
        return algorithm == .es256 ? rawSignature(ofDER: signature) : signature
    }
}

/// A key that OpenSSL has made ready to sign SHA-256 digests, which takes longer than an ECDSA signature itself.
///
/// `@unchecked` because OpenSSL's `EVP_PKEY_CTX` is a pointer. A context makes one signature at a time: for each it is
/// taken from its key's idle ones.
@safe final class SigningContext: @unchecked Sendable {
    private let context: OpaquePointer
    private let longest: Int

    init(_ key: OpaquePointer, _ algorithm: PrivateKey.Algorithm) {
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else {
            preconditionFailure("out of memory")
        }
        unsafe self.context = unsafe context
        longest = unsafe Int(EVP_PKEY_get_size(key))
        var isReady = unsafe EVP_PKEY_sign_init(context) > 0
        if algorithm == .ps256 {
            isReady =
                unsafe isReady && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) > 0
                && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) > 0
        }
        isReady = unsafe isReady && EVP_PKEY_CTX_set_signature_md(context, FetchedDigest.sha256.evp) > 0
        precondition(isReady, "OpenSSL can't sign by \(algorithm.rawValue)")
    }

    deinit { unsafe EVP_PKEY_CTX_free(context) }

    func sign(_ digest: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: longest) { buffer, count in
            count = longest
            let done = unsafe EVP_PKEY_sign(context, buffer.baseAddress, &count, digest, digest.count) > 0
            precondition(done, "OpenSSL could not sign")
        }
    }
}

/// Ed25519 has its digest built in and signs the whole text.
private func ed25519Signature(of bytes: [UInt8], by key: OpaquePointer) -> [UInt8] {
    guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
    defer { unsafe EVP_MD_CTX_free(context) }
    return unsafe [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
        count = 64
        let done =
            unsafe EVP_DigestSignInit(context, nil, nil, nil, key) == 1
            && EVP_DigestSign(context, buffer.baseAddress, &count, bytes, bytes.count) == 1
        precondition(done, "OpenSSL could not sign")
    }
}

/// r and s, 32 bytes each, of an ECDSA signature in DER.
private func rawSignature(ofDER der: [UInt8]) -> [UInt8] {
    let signature = unsafe der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
        var cursor = buffer.baseAddress
        return unsafe d2i_ECDSA_SIG(nil, &cursor, buffer.count)
    }
    guard let signature = unsafe signature else { preconditionFailure("OpenSSL made no ECDSA signature") }
    defer { unsafe ECDSA_SIG_free(signature) }
    return unsafe bigEndian(ECDSA_SIG_get0_r(signature), length: 32)
        + bigEndian(ECDSA_SIG_get0_s(signature), length: 32)
}
