/// An issuer that the user could link, to sign in with it.
public struct ConnectableItem: Sendable {
    let issuer: String
    let name: String

    /// - Parameters:
    ///   - issuer: our id of it.
    ///   - name: what users call it.
    public init(issuer: String, name: String) {
        self.issuer = issuer
        self.name = name
    }

    var words: [String: Any] { ["issuer": issuer, "name": name] }
}
