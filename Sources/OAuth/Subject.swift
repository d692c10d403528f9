public import Directory
public import Values

/// The person a token speaks for, and when and how that person last proved to be that person.
public struct Subject: Sendable, Hashable {
    public let user: UserID
    public let signedInAt: Timestamp
    /// What the person showed: an authentication method reference (RFC 8176).
    public let method: String?
    /// The browser session it happened in: a logout there is told to its clients.
    public let session: Session.ID?

    public init(user: UserID, signedInAt: Timestamp, method: String? = nil, session: Session.ID? = nil) {
        self.user = user
        self.signedInAt = signedInAt
        self.method = method
        self.session = session
    }
}
