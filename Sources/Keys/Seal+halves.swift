import Cryptography

/// What takes the master key and a secret that somebody else holds: neither opens or makes it alone.
extension Seal {
    /// What `purpose` has for whoever holds `half`: 256 bits, base64url.
    public func derive(_ purpose: String, of half: String) -> String {
        Base64URL.encode(key(purpose, half).derivedBytes(for: purpose))
    }

    /// Seals what another issuer answered to the `state` that a browser holds.
    public func sealAnswer(_ answer: String, to state: String) -> String {
        key(Self.answers, state).seal(Array(answer.utf8), context: Self.answers, random: random)
    }

    /// Opens what `sealAnswer` made, or returns nil when the state or a bit differs.
    public func openAnswer(_ sealed: String, to state: String) -> String? {
        key(Self.answers, state).open(sealed, context: Self.answers).flatMap { String(validating: $0, as: UTF8.self) }
    }

    private static let answers = "upstream_requests.answer"

    private func key(_ purpose: String, _ half: String) -> SealingKey {
        masterKey.sealing(for: purpose, salt: Array(half.utf8))
    }
}
