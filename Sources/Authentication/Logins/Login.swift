public import Directory
public import Values

/// A try to sign in to an account, as it is remembered: by whom, from where, and whether it was the person.
public struct Login: Sendable {
    public typealias ID = Identifier<Login>

    /// How somebody came, in SPiD's words.
    public enum Kind: String, Sendable {
        /// On our pages.
        case normal
        /// By a session or a session code, without anything asked.
        case auto
        /// By the word of somebody else.
        case thirdParty = "thirdparty"
        /// By an app that asked for the password itself.
        case api
    }

    public let id: ID
    public let user: UserID
    /// The account's address, where whoever asks may see it.
    public let email: String?
    public let client: Client.ID
    public let merchant: Merchant.ID?
    public let kind: Kind
    public let succeeded: Bool
    /// Whose word it was.
    public let provider: String?
    public let address: String
    public let userAgent: String
    public let createdAt: Timestamp

    /// A try, before it is known what comes of it.
    public struct Attempt: Sendable {
        let id: ID
        let client: Client.ID?
        let kind: Kind
        let provider: String?
        let address: String
        let userAgent: String

        /// - Parameter client: the client that the person came by; nil where none did.
        public init(
            id: ID, client: Client.ID?, kind: Kind, provider: String? = nil, address: String, userAgent: String
        ) {
            self.id = id
            self.client = client
            self.kind = kind
            self.provider = provider
            self.address = address
            // What a browser says about itself is shown, and never trusted.
            self.userAgent = String(userAgent.filter { !$0.isNewline }).prefix(bytes: 300)
        }
    }
}
