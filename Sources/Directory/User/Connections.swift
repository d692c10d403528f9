public import Storage
public import Values

/// Which clients a person has used.
public struct Connections: Sendable {
    private let database: any Database

    public init(database: any Database) { self.database = database }

    /// The clients that `user` is connected to, among `client` and all others of its merchant.
    public func clients(of user: UserID, around client: Client) async throws -> [Client] {
        try await database.read { db in
            // A client without a merchant has no others: its NULL is no client's merchant.
            try db.rows(
                """
                SELECT \(Clients.columns) FROM connections JOIN clients ON clients.id = connections.client_id
                WHERE connections.user_id = \(user)
                    AND (clients.id = \(client.id)
                        OR (clients.merchant_id = \(client.merchant) AND clients.registration_token IS NULL))
                ORDER BY clients.id
                """
            ).map(Client.init)
        }
    }
}
