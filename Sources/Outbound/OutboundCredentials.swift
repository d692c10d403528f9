import Cryptography
import Text

/// Our credentials at another server: a name and a password (RFC 7617), or a token (RFC 6750). They do not print.
public struct OutboundCredentials: Sendable, CustomStringConvertible, CustomReflectable {
    let authorization: String

    /// For token endpoints: both halves are form-encoded before they are joined (RFC 6749 §2.3.1).
    public init(id: String, secret: String) {
        let pair = PercentEncoding.encode(id) + ":" + PercentEncoding.encode(secret)
        authorization = "Basic " + Base64.encode(Array(pair.utf8))
    }

    /// A token from another server. Nil if no header can contain it.
    public init?(bearer token: String) {
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        authorization = "Bearer " + token
    }

    public var description: String { "<credentials>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
