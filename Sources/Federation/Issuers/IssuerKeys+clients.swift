public import OAuth

extension ClientKeys.Published {
    /// Fetches and caches the key sets of clients like those of issuers.
    public init(_ keys: IssuerKeys) {
        self.init(
            known: { try await keys.keys(at: $0, for: DocumentOwner($1)) },
            anew: { try await keys.keysAnew(at: $0, for: DocumentOwner($1)) })
    }
}
