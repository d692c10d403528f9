internal import COpenSSL

extension PublicKey {
    /// Whether `signature` of `bytes` was made with this key's private half by `scheme`.
    ///
    /// False for a scheme of another kind of key and for a signature of the wrong length.
    public func verifies(_ signature: [UInt8], of bytes: [UInt8], by scheme: SignatureScheme) -> Bool {
        guard let signature = form(of: signature, scheme), let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        // 0 means a wrong signature, a negative number an unreadable one.
        let isRight =
            unsafe prepare(context, scheme)
            && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
        if !isRight { ERR_clear_error() }
        return isRight
    }

    /// The signature in OpenSSL's form; nil for one that this key cannot have made.
    private func form(of signature: [UInt8], _ scheme: SignatureScheme) -> [UInt8]? {
        switch (kind, scheme) {
        // RFC 8017 §8.1.2 and §8.2.2: as long as the modulus. OpenSSL does not check this for PSS.
        case (.rsa, .pkcs1), (.rsa, .pss): unsafe signature.count == Int(EVP_PKEY_get_size(key)) ? signature : nil
        case (.curve(let curve), .ecdsa): signature.count == 2 * curve.length ? der(ofRaw: signature) : nil
        case (.ed25519, .ed25519): signature.count == 64 ? signature : nil
        default: nil
        }
    }

    private func prepare(_ context: OpaquePointer, _ scheme: SignatureScheme) -> Bool {
        var parameters: OpaquePointer?
        guard unsafe EVP_DigestVerifyInit(context, &parameters, scheme.function?.fetched.evp, nil, key) == 1 else {
            return false
        }
        guard case .pss = scheme else { return true }
        return unsafe EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) > 0
            && EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) > 0
    }
}

/// The DER of an ECDSA signature whose r and s are halves of `signature` (RFC 3279 §2.2.3).
private func der(ofRaw signature: [UInt8]) -> [UInt8] {
    let half = signature.count / 2
    let r = unsafe BN_bin2bn(Array(signature.prefix(half)), Int32(half), nil)
    let s = unsafe BN_bin2bn(Array(signature.suffix(half)), Int32(half), nil)
    // On success the pair owns both numbers.
    guard let pair = unsafe ECDSA_SIG_new(), unsafe ECDSA_SIG_set0(pair, r, s) == 1 else {
        preconditionFailure("out of memory")
    }
    defer { unsafe ECDSA_SIG_free(pair) }
    let length = unsafe Int(i2d_ECDSA_SIG(pair, nil))
    return unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
        var cursor = buffer.baseAddress
        count = unsafe Int(i2d_ECDSA_SIG(pair, &cursor))
    }
}
