import Authentication
import Cryptography
import Directory
import Federation
import JSON
import Keys
import OAuth
import Outbound
import Storage
import TestSupport
import Testing
import Values

/// A database whose COMMITs succeed but are never acknowledged, so that each closure runs again.
struct RunsTwice: Database {
    let base: any Database

    func read<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value {
        try await base.read(work)
    }

    func write<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value {
        _ = try await base.write(work)
        return try await base.write(work)
    }

    func close() async { await base.close() }
}

@Suite("A COMMIT of unknown outcome")
struct UnknownCommitTests {
    @Test("A deletion whose first COMMIT succeeded unacknowledged is reported as done", arguments: Backend.available)
    func deletes(backend: Backend) async throws {
        let (clock, random) = (ManualClock(), SystemRandom())
        let database = RunsTwice(base: try await backend.open())
        let known = KnownClients(clock: clock)
        let seal = Seal(masterKey: .random(from: random), random: random)
        let merchants = Merchants(
            database: database, clock: clock, random: random, known: known,
            erasure: BulkErasure(database: database))
        let clients = Clients(
            database: database, clock: clock, random: random, seal: seal, known: known,
            erasure: BulkErasure(database: database),
            sessions: Sessions(database: database, clock: clock, events: .unheard))
        let issuers = TrustedIssuers(
            database: database, clock: clock, random: random, seal: seal, outbound: OutboundPolicy(),
            sessions: Sessions(database: database, clock: clock, events: .unheard),
            families: TokenFamilies(database: database, callbacks: .unheard, events: .unheard))
        let hashing = HashingPool(
            parameters: PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1), random: random)
        let users = Users(
            database: database, hashing: hashing, clock: clock, random: random, events: .unheard)

        let user = try await users.create(try UserChanges(["email": "ada@example.com"]), by: commandLine)
        let deletion = UserDeletion(
            database: database, grace: .days(14),
            erasure: BulkErasure(database: database), clock: clock,
            events: .unheard)
        #expect(try await deletion.delete(user.id, by: commandLine))
        #expect(try await deletion.delete(user.id, by: commandLine) == false)

        let merchant = try await merchants.create(["name": "Loom"], by: commandLine)
        let client = try await clients.register(try ClientMetadata([:]), merchant: merchant.id, by: commandLine).client
        let secret = try #require(try await clients.secrets(of: client.id).first)
        #expect(try await clients.endSecret(secret.id, of: client.id, by: commandLine))
        #expect(try await clients.endSecret(secret.id, of: client.id, by: commandLine) == false)
        #expect(try await clients.delete(client.id, by: commandLine))
        #expect(try await clients.delete(client.id, by: commandLine) == false)

        let issuer = try await issuers.register(
            ["issuer": "https://paper.example", "secret": "a shared secret of at least 32 bytes"],
            merchant: merchant.id, by: commandLine)
        #expect(try await issuers.delete(issuer.id, by: commandLine))
        #expect(try await issuers.delete(issuer.id, by: commandLine) == false)

        #expect(try await merchants.delete(merchant.id, by: commandLine))
        #expect(try await merchants.delete(merchant.id, by: commandLine) == false)
        await database.close()
    }
}
