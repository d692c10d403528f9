public import Directory
public import Values

/// A stored attempt to sign in as a user: at which client, from which address, and whether it succeeded.
public struct Login: Sendable {
    public typealias ID = Identifier<Login>

    /// The kind of a login, in SPiD's terms.
    public enum Kind: String, Sendable {
        /// On this server's pages.
        case normal
        /// By an existing session or a session code, without asking the user anything.
        case auto
        /// By another party's assertion.
        case thirdParty = "thirdparty"
        /// By an app that asked for the password itself.
        case api
    }

    public let id: ID
    public let user: UserID
    /// The user's address, if the requester may see it.
    public let email: String?
    public let client: Client.ID
    public let merchant: Merchant.ID?
    public let kind: Kind
    public let succeeded: Bool
    /// The name of the party that asserted it.
    public let provider: String?
    public let address: String
    public let userAgent: String
    public let createdAt: Timestamp

    /// An attempt, before its outcome is known.
    public struct Attempt: Sendable {
        let id: ID
        let client: Client.ID?
        let kind: Kind
        let provider: String?
        let address: String
        let userAgent: String

        /// - Parameter client: the client that sent the user; nil for none.
        public init(
            id: ID, client: Client.ID?, kind: Kind, provider: String? = nil, address: String, userAgent: String
        ) {
            self.id = id
            self.client = client
            self.kind = kind
            self.provider = provider
            self.address = address
            // The browser's description of itself is shown and never trusted.
            self.userAgent = String(userAgent.filter { !$0.isNewline }).prefix(bytes: 300)
        }
    }
}
