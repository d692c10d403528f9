public import Directory
public import Values

/// The user that a token speaks for, and when and how that user last authenticated.
public struct Subject: Sendable, Hashable {
    public let user: UserID
    public let signedInAt: Timestamp
    /// How the user authenticated: an authentication method reference (RFC 8176).
    public let method: String?
    /// The browser session it happened in. A logout there notifies its clients.
    public let session: Session.ID?
    /// The id of the trusted issuer whose token proved it in the request at hand.
    public let issuer: String?
    /// Whether `signedInAt` is known. An issuer need not say when its user signed in there.
    public let isDated: Bool

    public init(
        user: UserID, signedInAt: Timestamp, method: String? = nil, session: Session.ID? = nil, issuer: String? = nil,
        isDated: Bool = true
    ) {
        self.user = user
        self.signedInAt = signedInAt
        self.method = method
        self.session = session
        self.issuer = issuer
        self.isDated = isDated
    }
}
