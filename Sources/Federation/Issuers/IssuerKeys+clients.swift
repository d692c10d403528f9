public import OAuth

extension ClientKeys.Published {
    /// The key sets of clients are fetched and kept as those of issuers are.
    public init(_ keys: IssuerKeys) {
        self.init(known: { try await keys.keys(at: $0) }, anew: { try await keys.keysAnew(at: $0) })
    }
}
