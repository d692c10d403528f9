import Foundation

/// A name and a password for another server (RFC 7617). They do not print.
public struct OutboundCredentials: Sendable, CustomStringConvertible, CustomReflectable {
    let authorization: String

    /// As token endpoints read it: both halves are encoded as in a form before they are joined (RFC 6749 §2.3.1).
    public init(id: String, secret: String) {
        let pair = OutboundForm.encode(id) + ":" + OutboundForm.encode(secret)
        authorization = "Basic " + Data(pair.utf8).base64EncodedString()
    }

    public var description: String { "<credentials>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
