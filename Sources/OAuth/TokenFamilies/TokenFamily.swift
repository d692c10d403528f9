public import Directory
public import Values

/// One completed authorization: the family of its code and tokens. Ending it ends all of them at once.
public struct TokenFamily: Sendable {
    public typealias ID = Identifier<TokenFamily>

    public let id: ID
    /// The permission whose token bought the exchange code this one came from.
    public let parent: ID?
    public let client: Client.ID
    /// Nil when a client acts for itself.
    public let subject: Subject?
    public let scope: Scope
    public let request: AuthenticationRequest
    public let createdAt: Timestamp
    /// What its tokens live to; it moves along with them.
    public let expiresAt: Timestamp
    /// Whether its tokens come with an authorization answer, through the browser.
    public let isOfFrontChannel: Bool

    public var user: UserID? { subject?.user }
    /// A client's own permission begins with itself.
    var signedInAt: Timestamp { subject?.signedInAt ?? createdAt }
}
