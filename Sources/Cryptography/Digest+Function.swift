extension Digest {
    /// A digest for signatures and HMACs.
    public enum Function: Sendable, Hashable, CaseIterable {
        case sha256, sha384, sha512

        /// Bytes of the digest.
        public var length: Int { fetched.length }

        var fetched: FetchedDigest {
            switch self {
            case .sha256: .sha256
            case .sha384: .sha384
            case .sha512: .sha512
            }
        }
    }
}
