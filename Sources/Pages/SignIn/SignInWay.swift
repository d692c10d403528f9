/// Another issuer to sign in with: a button below the form.
public struct SignInWay: Sendable {
    let name: String
    let address: String

    /// - Parameters:
    ///   - name: what users call it.
    ///   - address: the path that leads there.
    public init(name: String, address: String) {
        self.name = name
        self.address = address
    }

    var words: [String: Any] { ["name": name, "address": address] }
}
