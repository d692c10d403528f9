import JSON
import Values

/// Who comes to Ditto, as their token says.
struct DittoUser: Sendable {
    /// The name that the app knows them by: `sub` of its ID tokens.
    let subject: String
    let attributes: JSON
    /// How long the token lives that says so.
    let expiresAt: Timestamp

    /// The texts of an attribute, which may be one or a list.
    func texts(of attribute: String) -> [String] {
        let value = attributes[attribute]
        return value?.strings ?? (value?.string).map { [$0] } ?? []
    }
}
