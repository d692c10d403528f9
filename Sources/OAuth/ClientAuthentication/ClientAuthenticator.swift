public import Directory
public import Storage
public import Values

/// Decides whether a request comes from the client that it names.
public struct ClientAuthenticator: Sendable {
    private let database: any Database
    private let known: KnownClients
    /// The client that any secret authenticates: nil, except in development mode.
    private let open: Client.ID?
    private let assertions: ClientAssertions

    public init(database: any Database, known: KnownClients, open: Client.ID? = nil, assertions: ClientAssertions) {
        self.database = database
        self.known = known
        self.open = open
        self.assertions = assertions
    }

    /// The client, once it has proved to be `credentials.id` by its registered method. A public client proves nothing.
    ///
    /// Throws `invalid_client` for an unknown client, a proof that is wrong, missing or of another kind, a disabled
    /// client and a client of a disabled merchant. The client cannot tell which (RFC 6749 §5.2).
    public func authenticate(_ credentials: ClientCredentials) async throws -> Client {
        try await prove(credentials, alsoDisabled: false).client
    }

    /// As above, with `alsoDisabled` accepting a disabled client too, so that it can end its own tokens.
    func prove(
        _ credentials: ClientCredentials, alsoDisabled: Bool
    ) async throws -> (client: Client, isLive: Bool) {
        func refused(_ reason: String) -> OAuthError { .clientRefused(reason, credentials.id) }
        guard let found = try await entry(credentials.id) else {
            throw OAuthError.unknownClient(credentials.id)
        }
        let method = found.client.authentication
        switch (method, credentials.proof) {
        case (.none, .none): break
        case (.none, .secret): throw refused("secret_of_public_client")
        case (.secretBasic, .secret(let secret)), (.secretPost, .secret(let secret)):
            let presented = secret.fingerprint
            // Every live secret is compared, each in constant time.
            guard found.secrets.filter({ $0.matches(presented) }).count > 0 || found.client.id == open else {
                throw refused("wrong_secret")
            }
        case (.secretBasic, .none), (.secretPost, .none): throw refused("secret_missing")
        case (.secretJWT, .assertion), (.privateKeyJWT, .assertion): break
        case (.secretJWT, _), (.privateKeyJWT, _): throw refused("assertion_missing")
        case (_, .assertion): throw refused("assertion_not_expected")
        }
        guard found.isLive || alsoDisabled else { throw refused("disabled_client") }
        // Last, because an assertion can be used only once.
        if case .assertion(let assertion) = credentials.proof { try await assertions.take(assertion, of: found.client) }
        return (found.client, found.isLive)
    }

    /// Whether the client has been deleted, whatever this server has cached.
    func isGone(_ id: Client.ID) async throws -> Bool {
        try await database.read { db in try Clients.find(id, in: db) == nil }
    }

    /// The client that a request names, proved or not. Use it only to choose the format of the response.
    public func named(_ id: Client.ID) async throws -> Client? { try await entry(id)?.client }

    private func entry(_ id: Client.ID) async throws -> KnownClients.Entry? {
        try await known.entry(id) { try await database.read { db in try Clients.entry(id, in: db) } }
    }
}
