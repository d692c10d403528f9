import JOSE
public import Outbound
public import Values

/// The key sets that issuers publish, cached in memory.
public struct IssuerKeys: Sendable {
    private let documents: PublishedDocuments<String, AssertionKeys>

    public init(outbound: Outbound, clock: any WallClock) {
        documents = PublishedDocuments(clock: clock) { address, owner in
            do throws(OutboundError) {
                let response = try await outbound.asking(for: .keys, by: owner.text, part: address).get(
                    address, accept: "application/jwk-set+json, application/json")
                guard response.status == 200 else { return .unusable("answered with status \(response.status)") }
                guard let text = String(validating: response.body, as: UTF8.self),
                    let keys = try? AssertionKeys(keySet: text), !keys.isEmpty
                else { return .unusable("answered with no key that could be used") }
                return .document(keys, maxAge: response.maxAge)
            } catch {
                return .unusable("\(error)")
            }
        }
    }

    /// The keys published at `address`, which a client or an issuer of `owner` has.
    func keys(at address: String, for owner: DocumentOwner) async throws(DocumentUnavailable) -> AssertionKeys {
        try await documents.document(at: address, for: owner)
    }

    /// The keys again, after a token named a missing one. They are fetched anew unless that was done just now.
    func keysAnew(at address: String, for owner: DocumentOwner) async throws(DocumentUnavailable) -> AssertionKeys {
        try await documents.documentAnew(at: address, for: owner)
    }
}
