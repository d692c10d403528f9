/// Somebody elsewhere by whom the person could sign in, and does not yet.
public struct ConnectableItem: Sendable {
    let issuer: String
    let name: String

    /// - Parameters:
    ///   - issuer: by which number we know it.
    ///   - name: what people call it.
    public init(issuer: String, name: String) {
        self.issuer = issuer
        self.name = name
    }

    var words: [String: Any] { ["issuer": issuer, "name": name] }
}
