import JOSE
public import OAuth
public import Outbound
public import Values

/// The key sets that issuers publish, cached in memory.
public struct IssuerKeys: Sendable {
    /// The longest key set: three times that of the providers with their certificates.
    private static let longest = 64 * 1024

    private struct Source: PublishedSource {
        let address: String
        let share: String
    }

    private let documents: PublishedDocuments<Source, AssertionKeys>

    public init(outbound: Outbound, clock: any WallClock) {
        documents = PublishedDocuments(clock: clock) { source in
            do throws(OutboundError) {
                // Within a share the address counts, not its host: each client or issuer has at most one.
                let response = try await outbound.asking(for: .keys, by: source.share, part: source.address).get(
                    source.address, accept: "application/jwk-set+json, application/json", limit: Self.longest)
                let fault = "answered with status \(response.status)"
                guard ![404, 410].contains(response.status) else { return .withdrawn(fault) }
                guard response.status == 200 else { return .unusable(fault) }
                guard let text = String(validating: response.body, as: UTF8.self),
                    let keys = try? AssertionKeys(keySet: text)
                else { return .unusable("answered with no JWK set") }
                // An empty set counts as withdrawn: a publisher who lost a key removes it first.
                guard !keys.isEmpty else {
                    return .withdrawn("answered with no key that could be used: \(keys.fault ?? "it has none")")
                }
                return .document(keys, maxAge: response.maxAge)
            } catch {
                return .unusable("\(error)")
            }
        }
    }

    /// The keys published at `address`, requested on the account of `share`.
    func keys(at address: String, for share: String) async throws(DocumentUnavailable) -> AssertionKeys {
        try await documents.document(at: Source(address: address, share: share))
    }

    /// The keys again, after a token named a missing one. They are fetched anew unless that was done just now.
    func keysAnew(at address: String, for share: String) async throws(DocumentUnavailable) -> AssertionKeys {
        try await documents.documentAnew(at: Source(address: address, share: share))
    }
}

extension ClientKeys.Published {
    /// Fetches and caches the key sets of clients like those of issuers.
    public init(_ keys: IssuerKeys) {
        self.init(
            known: { try await keys.keys(at: $0, for: $1) }, anew: { try await keys.keysAnew(at: $0, for: $1) })
    }
}
