public import Directory
public import Values

/// One completed authorization: the family of its code and tokens. Ending it ends all of them at once.
public struct TokenFamily: Sendable {
    public typealias ID = Identifier<TokenFamily>

    public let id: ID
    /// The family whose token bought the exchange code of this one.
    public let parent: ID?
    public let client: Client.ID
    /// Nil when a client acts for itself.
    public let subject: Subject?
    public let scope: Scope
    public let request: AuthenticationRequest
    public let createdAt: Timestamp
    /// The latest expiry of its tokens. It moves along with them.
    public let expiresAt: Timestamp
    /// Whether its tokens come in an authorization response, through the browser.
    public let isOfFrontChannel: Bool

    public var user: UserID? { subject?.user }
    /// A client's own family counts from its creation.
    var signedInAt: Timestamp { subject?.signedInAt ?? createdAt }
}
