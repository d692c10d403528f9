public import Storage
import Values

/// Decides whether a request comes from the client it names.
public struct ClientAuthenticator: Sendable {
    private let database: any Database
    private let known: KnownClients

    public init(database: any Database, known: KnownClients) {
        self.database = database
        self.known = known
    }

    /// The client that proved to be `credentials.id`; a public client proves nothing.
    ///
    /// Throws `invalid_client` for an unknown client, a wrong secret, a secret that is missing or not expected, a
    /// disabled client and a client of a disabled merchant. The client cannot tell which (RFC 6749 §5.2).
    public func authenticate(_ credentials: ClientCredentials) async throws -> Client {
        let found = try await known.entry(credentials.id) {
            try await database.read { db in try Self.find(credentials.id, in: db) }
        }
        guard let found else { throw OAuthError.clientRefused("unknown_client", credentials.id) }
        if found.client.isPublic {
            guard credentials.secret == nil else {
                throw OAuthError.clientRefused("secret_of_public_client", credentials.id)
            }
        } else {
            guard let presented = credentials.secret?.fingerprint else {
                throw OAuthError.clientRefused("secret_missing", credentials.id)
            }
            // Every live secret is compared, in constant time each.
            guard found.secrets.filter({ $0.matches(presented) }).count > 0 else {
                throw OAuthError.clientRefused("wrong_secret", credentials.id)
            }
        }
        guard found.isLive else { throw OAuthError.clientRefused("disabled_client", credentials.id) }
        return found.client
    }

    static func find(_ id: Client.ID, in db: any Transaction) throws -> KnownClients.Entry? {
        let rows = try db.rows(
            """
            SELECT \(Clients.columns), merchants.disabled_at AS merchant_disabled_at, client_secrets.fingerprint
            FROM clients
            LEFT JOIN merchants ON merchants.id = clients.merchant_id
            LEFT JOIN client_secrets ON client_secrets.client_id = clients.id
            WHERE clients.id = \(id)
            """)
        guard let first = rows.first else { return nil }
        let client = try Client(first)
        let merchantDisabledAt: Timestamp? = try first.get("merchant_disabled_at")
        return KnownClients.Entry(
            client: client,
            secrets: try rows.compactMap { try $0.get("fingerprint") },
            isLive: client.disabledAt == nil && merchantDisabledAt == nil)
    }
}
