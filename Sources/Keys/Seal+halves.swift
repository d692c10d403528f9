import Cryptography

/// Values derived from the master key together with a secret that another party holds: neither is enough alone.
extension Seal {
    /// The value of `purpose` for the holder of `half`: 256 bits, base64url.
    public func derive(_ purpose: String, of half: String) -> String {
        Base64URL.encode(key(purpose, half).derivedBytes(for: purpose))
    }

    private func key(_ purpose: String, _ half: String) -> SealingKey {
        masterKey.sealing(for: purpose, salt: Array(half.utf8))
    }
}
