import Cryptography

/// What takes the master key and a secret that somebody else holds: neither opens or makes it alone.
extension Seal {
    /// What `purpose` has for whoever holds `half`: 256 bits, base64url.
    public func derive(_ purpose: String, of half: String) -> String {
        Base64URL.encode(key(purpose, half).derivedBytes(for: purpose))
    }

    private func key(_ purpose: String, _ half: String) -> SealingKey {
        masterKey.sealing(for: purpose, salt: Array(half.utf8))
    }
}
