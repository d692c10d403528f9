package import Storage
public import Values

/// A user's proof of identity. It is written once and copied to everything that rests on it: from a session or a token
/// family to codes, further families and web views (docs/model.md).
public struct SignIn: Sendable, Hashable {
    /// How the user proved it: an authentication method reference (RFC 8176), except `issuer`.
    public enum Method: String, Sendable {
        case password = "pwd"
        /// A code or a link sent to the user's address.
        case mail = "otp"
        /// A code sent to the user's phone.
        case text = "sms"
        /// The word of another issuer.
        case issuer
    }

    /// When the sign-in counts from.
    public let at: Timestamp
    /// False where an issuer did not say when its user signed in there: then `at` is when its assertion came here.
    public let isDated: Bool
    public let method: Method
    /// The id of the issuer that vouched for the user, or whose word a decision of the user followed.
    public let issuer: String?

    public init(at: Timestamp, by method: Method, isDated: Bool = true, issuer: String? = nil) {
        self.at = at
        self.isDated = isDated
        self.method = method
        self.issuer = issuer
    }

    /// Reads it from the columns of sessions, token families and authorization codes.
    package init(_ row: Row) throws {
        let method: String = try row.get("method")
        guard let known = Method(rawValue: method) else {
            throw StorageError.unreadable("“\(method)” is no method of a sign-in")
        }
        self.init(
            at: try row.get("signed_in_at"), by: known, isDated: try row.get("is_dated"),
            issuer: try row.get("issuer_id"))
    }
}
