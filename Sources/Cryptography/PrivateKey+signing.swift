import COpenSSL

extension PrivateKey {
    /// Signs `bytes`. ES256 gives the 64 bytes of r and s that JOSE requires (RFC 7518 §3.4).
    public func sign(_ bytes: [UInt8]) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        defer { unsafe EVP_MD_CTX_free(context) }
        var length = unsafe Int(EVP_PKEY_get_size(key))
        var signature = [UInt8](repeating: 0, count: length)
        let done = unsafe prepare(context) && EVP_DigestSign(context, &signature, &length, bytes, bytes.count) == 1
        precondition(done, "OpenSSL could not sign")
        signature.removeLast(signature.count - length)
        return algorithm == .es256 ? rawSignature(ofDER: signature) : signature
    }

    private func prepare(_ context: OpaquePointer) -> Bool {
        var parameters: OpaquePointer?
        // Ed25519 has its digest built in, and accepts no other.
        let digest = unsafe algorithm == .edDSA ? nil : FetchedDigest.sha256.evp
        guard unsafe EVP_DigestSignInit(context, &parameters, digest, nil, key) == 1 else { return false }
        guard algorithm == .ps256 else { return true }
        return unsafe EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) > 0
            && EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) > 0
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
