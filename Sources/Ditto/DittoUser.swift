import JSON
import Values

/// A user at Ditto, as the token describes them.
struct DittoUser: Sendable {
    /// The subject identifier that the app knows: `sub` of its ID tokens.
    let subject: String
    let attributes: JSON
    /// When the user's token expires.
    let expiresAt: Timestamp

    /// The texts of an attribute, which may be one text or a list.
    func texts(of attribute: String) -> [String] {
        let value = attributes[attribute]
        return value?.strings ?? (value?.string).map { [$0] } ?? []
    }
}
