import Cryptography

// One-time codes that are not stored before they are redeemed, and contain what they are for.
extension Seal {
    /// Seals `content` under a separate key derived from `id`, so that the number of codes has no limit (NIST SP
    /// 800-38D §8.3). It does not open with another id.
    public func sealCode(_ content: [UInt8], id: String) -> String {
        codeKey(id).seal(content, context: Self.codes, random: random)
    }

    /// Opens the result of `sealCode`, or returns nil when the id, the master key or a bit differs.
    public func openCode(_ sealed: String, id: String) -> [UInt8]? {
        codeKey(id).open(sealed, context: Self.codes)
    }

    private static let codes = "token_families"

    private func codeKey(_ id: String) -> SealingKey {
        masterKey.sealing(for: "token_families.code", salt: Array(id.utf8))
    }
}
