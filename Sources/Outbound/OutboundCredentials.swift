import Foundation
import Text

/// What another server knows us by: a name and a password (RFC 7617), or a token (RFC 6750). They do not print.
public struct OutboundCredentials: Sendable, CustomStringConvertible, CustomReflectable {
    let authorization: String

    /// As token endpoints read it: both halves are encoded as in a form before they are joined (RFC 6749 §2.3.1).
    public init(id: String, secret: String) {
        let pair = PercentEncoding.encode(id) + ":" + PercentEncoding.encode(secret)
        authorization = "Basic " + Data(pair.utf8).base64EncodedString()
    }

    /// A token that another server gave. Nil for one that no header can hold.
    public init?(bearer token: String) {
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        authorization = "Bearer " + token
    }

    public var description: String { "<credentials>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
