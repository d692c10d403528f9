public import JOSE

/// A password that may be set: 8 to 128 characters of any kind, without composition rules.
public struct Password: Sendable {
    let text: String

    public init(_ text: String) throws(JSONFault) {
        guard (8...128).contains(text.count), text.utf8.count <= 1024, !text.utf8.contains(0) else {
            throw JSONFault("password", "8 to 128 characters")
        }
        self.text = text
    }
}
