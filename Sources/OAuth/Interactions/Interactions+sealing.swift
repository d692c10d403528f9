import Keys
import Storage
import Values

/// An app may send an ID token as `id_token_hint`, and that token is good elsewhere too. It is stored sealed under the
/// master key and the interaction's id, so that a copy of the database reveals none.
extension Interactions {
    private static let name = Parameter.idTokenHint.rawValue + "="

    /// The parameters of `interaction` in the form stored under `id`.
    func stored(_ interaction: Interaction, as id: Interaction.ID, in db: any Transaction) throws -> String {
        try Self.changingHint(of: interaction.request) { hint in
            try seal.confirm(in: db)
            return seal.seal(hint, .hint, of: id.value, row: id.fingerprint.text)
        }
    }

    /// The parameters that `stored` made of a request. A hint sealed under another master key stays sealed, and matches
    /// no user.
    func opened(_ stored: String, of id: Interaction.ID) -> String {
        Self.changingHint(of: stored) { hint in
            seal.open(hint, .hint, of: id.value, row: id.fingerprint.text) ?? hint
        }
    }

    /// A query with each `id_token_hint` replaced by the result of `change`. Values are percent-encoded.
    private static func changingHint(of query: String, _ change: (String) throws -> String) rethrows -> String {
        guard query.contains(name) else { return query }
        return try query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            pair.hasPrefix(name) ? name + (try change(String(pair.dropFirst(name.count)))) : String(pair)
        }.joined(separator: "&")
    }
}
