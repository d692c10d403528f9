import Directory
import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Ids of deleted clients")
struct TakenClientIDTests {
    private static let id = Client.ID("kept-in-apps")

    private func make(in world: TokenFixture, of merchant: Merchant.ID? = nil) async throws -> ClientCredentials {
        let metadata = try ClientMetadata(["grant_types": ["client_credentials", "password"]])
        let made = try await world.clients.register(
            metadata, as: Self.id, merchant: merchant ?? world.merchant, by: commandLine)
        return ClientCredentials(id: made.client.id, secret: made.secret)
    }

    private func ownToken(_ client: ClientCredentials, _ world: TokenFixture) async throws -> TokenResponse {
        try await world.token(["grant_type": "client_credentials"], as: client)
    }

    private func isUsed(_ world: TokenFixture) async throws -> Bool {
        try await world.count("SELECT id FROM clients WHERE id = \(Self.id) AND used_at IS NOT NULL") == 1
    }

    @Test(
        "A deleted client's id is taken for 366 days if the client had a token; the refusal tells until when",
        arguments: Backend.available, ["client_credentials", "password"])
    func taken(backend: Backend, grant: String) async throws {
        let world = try await TokenFixture(try await backend.open())
        let client = try await make(in: world)
        let token = grant == "password" ? try await world.signIn(on: client) : try await ownToken(client, world)
        #expect(await world.isLive(token))
        #expect(try await world.clients.delete(Self.id, by: commandLine))
        #expect(try await world.count("SELECT id FROM clients WHERE id = \(Self.id)") == 0)
        let end = world.clock.now + .days(366)
        world.clock.advance(by: .days(366) - .milliseconds(1))
        let fault = await #expect(throws: JSONFault.self) { _ = try await make(in: world) }
        #expect(fault?.member == "id" && fault?.expected.contains(end.iso8601) == true, "\(String(describing: fault))")
        world.clock.advance(by: .milliseconds(1))
        _ = try await make(in: world)
        #expect(await !world.isLive(token))
        await world.database.close()
    }

    @Test(
        "The ids of a deleted merchant's clients that had tokens are taken for 366 days",
        arguments: Backend.available)
    func merchant(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let other = try await world.merchants.create(["name": "Rival"], by: commandLine).id
        _ = try await ownToken(try await make(in: world, of: other), world)
        #expect(try await world.merchants.delete(other, by: commandLine))
        await #expect(throws: JSONFault.self) { _ = try await make(in: world) }
        world.clock.advance(by: .days(366))
        _ = try await make(in: world)
        await world.database.close()
    }

    @Test("A deleted client's id is free at once if the client never had a token", arguments: Backend.available)
    func unused(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let first = try await make(in: world)
        await #expect(throws: OAuthError.self) {
            try await ownToken(ClientCredentials(id: Self.id, secret: nil), world)
        }
        await #expect(throws: JSONFault.self, "while there is one") { _ = try await make(in: world) }
        #expect(try await world.clients.delete(Self.id, by: commandLine))
        let second = try await make(in: world)
        _ = try await ownToken(second, world)
        await #expect(throws: OAuthError.self) { try await ownToken(first, world) }
        await world.database.close()
    }

    @Test(
        "A node with a deleted client in its cache does not take it for a new client of the same id",
        arguments: Backend.available)
    func stale(backend: Backend) async throws {
        let database = try await backend.open()
        let world = try await TokenFixture(database)
        let first = try await make(in: world)
        let known = try #require(try await world.clients.findLive(Self.id))
        let clock = world.clock
        func noteUse() async throws -> Bool {
            try await database.write { db in try Clients.noteUse(of: known, at: clock.now, in: db) }
        }
        // Deleted by a command, of which this node is not told.
        #expect(try await database.change("DELETE FROM clients WHERE id = \(first.id)"))
        #expect(try await !noteUse())
        clock.advance(by: .milliseconds(1))
        let second = try await make(in: world)
        #expect(try await !noteUse())
        await #expect(throws: OAuthError.self) { try await ownToken(first, world) }
        #expect(try await !isUsed(world))
        clock.advance(by: .seconds(1))
        _ = try await ownToken(second, world)
        #expect(try await isUsed(world))
        await database.close()
    }

    @Test(
        "The sweeper forgets a deleted client's id after 366 days, and never a deleted merchant's name",
        arguments: Backend.available)
    func sweep(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let other = try await world.merchants.create(["name": "kept-in-apps"], by: commandLine).id
        _ = try await ownToken(try await make(in: world), world)
        #expect(try await world.clients.delete(Self.id, by: commandLine))
        #expect(try await world.merchants.delete(other, by: commandLine))
        let retention = Retention(database: world.database, tables: StoredTable.ofDirectory)
        func kinds() async throws -> Set<String> {
            Set(try await world.database.rows("SELECT kind FROM taken").map { try $0.get("kind") })
        }
        world.clock.advance(by: .days(366) - .milliseconds(1))
        _ = await retention.sweep(at: world.clock.now)
        #expect(try await kinds() == ["client", "merchant", "merchant_number"])
        world.clock.advance(by: .milliseconds(1))
        _ = await retention.sweep(at: world.clock.now)
        #expect(try await kinds() == ["merchant", "merchant_number"])
        await world.database.close()
    }
}
