/// Where a developer begins: the clients and users that are there, and how to use them. In development mode only.
///
/// It posts `form_token`, `client_id` and `call`, which is `client_credentials`, to a client's `action`.
public struct DevelopmentHomePage: PageContents {
    public struct Client: Sendable {
        let id: String
        let kind: String
        let use: String
        let secret: String?
        let scope: String
        let redirectURIs: [String]
        let hasRedirectURIs: Bool
        let snippet: String?
        let request: String?
        let action: String?

        /// - Parameters: `request` is an authorization request to open. `action` is where a form gets the client's own
        ///   token.
        public init(
            id: String, kind: String, use: String, secret: String?, scope: String, redirectURIs: [String] = [],
            snippet: String? = nil, request: String? = nil, action: String? = nil
        ) {
            self.id = id
            self.kind = kind
            self.use = use
            self.secret = secret
            self.scope = scope
            self.redirectURIs = redirectURIs
            hasRedirectURIs = !redirectURIs.isEmpty
            self.snippet = snippet
            self.request = request
            self.action = action
        }
    }

    public struct User: Sendable {
        let name: String
        let email: String
        let subject: String

        public init(name: String, email: String, subject: String) {
            self.name = name
            self.email = email
            self.subject = subject
        }
    }

    let issuer: String
    let discovery: String
    let keys: String
    let tryIt: String
    let formToken: String
    let clients: [Client]
    let users: [User]

    /// - Parameter tryIt: the authorization request to begin with.
    public init(
        issuer: String, discovery: String, keys: String, tryIt: String, formToken: String, clients: [Client],
        users: [User]
    ) {
        self.issuer = issuer
        self.discovery = discovery
        self.keys = keys
        self.tryIt = tryIt
        self.formToken = formToken
        self.clients = clients
        self.users = users
    }
}
