import COpenSSL

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
