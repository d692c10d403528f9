import Administration
import Audit
import Directory
import JSON
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

    /// The id of the client made earlier, whether or not it still exists; nil for a new database.
    func find() async throws -> Client.ID? {
        try await database.read { db in try Self.stored(in: db) }
    }

    /// Creates the client, and stores its id in the same transaction. Nil when another `init` was first.
    func create() async throws -> Clients.Registered? {
        let metadata = try ClientMetadata(
            .members([
                "client_name": "Administrator", "grant_types": .array(["client_credentials"]),
                "scope": .string(Scope.admin),
            ]))
        do {
            return try await clients.register(metadata, merchant: nil, by: Installer())
        } catch is AnotherWasFirst {
            return nil
        }
    }

    private struct AnotherWasFirst: Error {}

    /// The authority of `spindle init`, which creates this client and no other.
    private struct Installer: ClientAuthority {
        let isClientItself = false
        let lendsResources = false
        let reservedNames: [String]? = nil
        var actor: Actor { Administrator.commandLine.actor }

        func confirm(in db: any Transaction) {}

        func permit(making client: Client, in db: any Transaction) throws {
            try Facts.note(client.id, as: fact, in: db)
            guard try stored(in: db) == client.id else { throw AnotherWasFirst() }
        }
    }

    private static func stored(in db: any Transaction) throws -> Client.ID? {
        try Facts.value(of: fact, in: db)
    }
}
