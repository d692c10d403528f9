import Keys
import Storage
import Values

/// An app may send an ID token along as `id_token_hint`, which is good elsewhere too. It is stored sealed under the
/// master key and the interaction's id: whoever reads the database cannot use it.
extension Interactions {
    private static let name = Parameter.idTokenHint.rawValue + "="

    /// The parameters of `interaction` as they are stored under `id`, in the transaction that does so.
    func stored(_ interaction: Interaction, as id: Interaction.ID, in db: any Transaction) throws -> String {
        try Self.changingHint(of: interaction.request) { hint in
            try seal.confirm(in: db)
            return seal.seal(hint, .hint, of: id.value, row: id.fingerprint.text)
        }
    }

    /// The parameters that `stored` made of a request. A hint that does not open stays as it is, and means nobody: the
    /// database has another master key by now.
    func opened(_ stored: String, of id: Interaction.ID) -> String {
        Self.changingHint(of: stored) { hint in
            seal.open(hint, .hint, of: id.value, row: id.fingerprint.text) ?? hint
        }
    }

    /// A query with another value of each `id_token_hint`. Values come and go percent-encoded.
    private static func changingHint(of query: String, _ change: (String) throws -> String) rethrows -> String {
        guard query.contains(name) else { return query }
        return try query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            pair.hasPrefix(name) ? name + (try change(String(pair.dropFirst(name.count)))) : String(pair)
        }.joined(separator: "&")
    }
}
