import JOSE
import OAuth
import Storage
import Values

/// The platform's first admin client, which `spindle init` makes once for each database.
struct FirstAdministrator: Sendable {
    private static let fact = "admin_client_id"
    private let database: any Database
    private let clients: Clients

    init(_ stores: Stores) {
        database = stores.database
        clients = stores.clients
    }

    /// The client that was made earlier, whether or not it still exists; nil for a new database.
    func find() async throws -> Client.ID? {
        try await database.read { db in try Self.stored(in: db) }
    }

    /// Makes the client; nil when another `init` was first.
    func create() async throws -> Clients.Registered? {
        let metadata = try ClientMetadata(
            .members([
                "client_name": "Administrator", "grant_types": .array(["client_credentials"]),
                "scope": .string(Scope.admin),
            ]))
        let made = try await clients.register(metadata, merchant: nil)
        let winner = try await database.write { db in
            try db.execute(
                """
                INSERT INTO facts (name, value) VALUES (\(Self.fact), \(made.client.id))
                ON CONFLICT (name) DO NOTHING
                """)
            return try Self.stored(in: db)
        }
        guard winner == made.client.id else {
            _ = try await clients.delete(made.client.id)
            return nil
        }
        return made
    }

    private static func stored(in db: any Transaction) throws -> Client.ID? {
        try db.rows("SELECT value FROM facts WHERE name = \(fact)").first?.get("value")
    }
}
