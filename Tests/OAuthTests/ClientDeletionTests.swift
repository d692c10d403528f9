import Cryptography
import Directory
import JSON
import OAuth
import Storage
import Synchronization
import TestSupport
import Testing
import Values

@Suite("Deletion of clients and merchants in bounded parts")
struct ClientDeletionTests {
    @Test(
        "A client that is being deleted is not listed, cannot be changed, and its tokens are no longer valid",
        arguments: Backend.available)
    func unseen(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let token = try await world.signIn()
        #expect(try await world.clients.delete(world.phone.id, within: BulkErasure.Budget(batches: 0), by: commandLine))
        #expect(try await world.count("SELECT id FROM token_families") == 1)
        #expect(await !world.isLive(token))
        #expect(try await world.clients.find(world.phone.id) == nil)
        #expect(try await world.clients.findLive(world.phone.id) == nil)
        for merchant in [nil, world.merchant] {
            let listed = try await world.clients.list(ClientSearch(of: merchant), after: nil, count: 9)
            #expect(listed.map(\.id) == [world.backend.id])
        }
        #expect(try await world.clients.change(world.phone.id, ["disabled": false], by: commandLine) == nil)
        #expect(try await world.clients.delete(world.phone.id, by: commandLine) == false)
        await #expect(throws: OAuthError.self) { try await world.signIn() }
        await world.database.close()
    }

    @Test(
        "Rows that are left of a deleted client are deleted by later rounds, each within its budget",
        arguments: Backend.available)
    func client(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        for _ in 1...12 { try await world.signIn() }
        let clients = clients(of: world, batch: 5)
        let budget = BulkErasure.Budget(batches: 1)
        #expect(try await clients.delete(world.phone.id, within: budget, by: commandLine))
        #expect(try await world.count("SELECT id FROM token_families") == 7)
        #expect(try await clients.finishDeletions(within: budget).isBehind)
        #expect(try await world.count("SELECT id FROM token_families") == 2)
        let last = try await clients.finishDeletions(within: BulkErasure.Budget(batches: 9))
        #expect(last.gone == 1 && !last.isBehind)
        #expect(try await world.count("SELECT id FROM clients") == 1)
        #expect(try await clients.finishDeletions(within: budget).gone == 0)
        await world.database.close()
    }

    @Test(
        "The sessions that a client's tokens bought end before the client is deleted",
        arguments: Backend.available)
    func sessions(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        try await world.signIn()
        try await world.database.write { db in
            let family: String = try #require(try db.rows("SELECT id FROM token_families").first).get("id")
            for number in 1...120 {
                try db.execute(
                    """
                    INSERT INTO sessions (id, fingerprint, user_id, path, client_id, buyer_id, signed_in_at,
                        created_at, seen_at, expires_at, user_agent, ip_address, method, is_dated)
                    VALUES (\("s\(number)"), \("f\(number)"), \(world.user), \(family), \(world.phone.id),
                        \(world.phone.id), 0, 0, 0, \(world.clock.now + .hours(1)), '', '', 'pwd', 1)
                    """)
            }
        }
        let live: SQL = "SELECT id FROM sessions WHERE ended_at IS NULL"
        #expect(try await world.clients.delete(world.phone.id, within: BulkErasure.Budget(batches: 1), by: commandLine))
        #expect(try await world.count(live) == 0)
        #expect(try await world.clients.finishDeletions(within: BulkErasure.Budget(batches: 9)).gone == 1)
        await world.database.close()
    }

    @Test(
        "A merchant's interrupted deletion hides the merchant at once, and later rounds finish it",
        arguments: Backend.available)
    func interrupted(backend: Backend) async throws {
        struct Interruption: Error {}
        let world = try await TokenFixture(try await backend.open())
        let merchants = world.merchants
        await #expect(throws: Interruption.self) {
            try await merchants.delete(world.merchant, by: commandLine, first: { throw Interruption() })
        }
        #expect(try await merchants.find(world.merchant) == nil)
        #expect(try await merchants.finishDeletions(within: .request).gone == 1)
    }

    @Test(
        "A merchant being deleted is not listed or changed; later rounds delete it with its clients",
        arguments: Backend.available)
    func merchant(backend: Backend) async throws {
        let database = try await backend.open()
        let (world, other) = (try await TokenFixture(database), try await TokenFixture(database))
        let token = try await world.signIn()
        let kept = try await other.signIn()
        let merchants = world.merchants
        #expect(try await merchants.delete(world.merchant, within: BulkErasure.Budget(batches: 0), by: commandLine))
        #expect(await !world.isLive(token))
        #expect(try await merchants.find(world.merchant) == nil)
        #expect(try await merchants.list(MerchantSearch(), after: nil, count: 9).map(\.id) == [other.merchant])
        #expect(try await merchants.change(world.merchant, ["disabled": false], by: commandLine) == nil)
        #expect(try await merchants.delete(world.merchant, by: commandLine) == false)
        // A client counts as a batch, because there may be many without rows.
        #expect(try await merchants.finishDeletions(within: BulkErasure.Budget(batches: 1)).isBehind)
        #expect(try await world.count("SELECT id FROM clients") == 3)
        #expect(try await merchants.finishDeletions(within: .request).gone == 1)
        #expect(try await world.count("SELECT id FROM clients") == 2)
        #expect(try await world.count("SELECT id FROM merchants") == 1)
        #expect(await other.isLive(kept))
        await database.close()
    }

    @Test("A client's deletion that fails does not delay another client's deletion", arguments: Backend.available)
    func failing(backend: Backend) async throws {
        struct Unwilling: Error {}
        let world = try await TokenFixture(try await backend.open())
        for client in [world.phone, world.backend] {
            #expect(try await world.clients.delete(client.id, within: BulkErasure.Budget(batches: 0), by: commandLine))
            world.clock.advance(by: .seconds(1))
        }
        let stuck = world.phone.id.text
        let table = StoredTable(
            "clients",
            ofClient: .steps { id, _, _ in
                if id.sqlValue == .text(stuck) { throw Unwilling() }
                return 0
            })
        let clients = clients(of: world, BulkErasure(database: world.database, tables: [table]))
        let round = try await clients.finishDeletions(within: .request)
        #expect(round.gone == 1 && !round.isBehind)
        #expect(round.failures.map(\.owner) == [stuck])
        #expect(try await world.clients.finishDeletions(within: .request).gone == 1)
        await world.database.close()
    }

    @Test(
        "A client's deletion stops if the client was created again under the same id",
        arguments: Backend.available)
    func madeAgain(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let id = world.phone.id
        #expect(try await world.clients.delete(id, within: BulkErasure.Budget(batches: 0), by: commandLine))
        let reached = Mutex(false)
        // As if another node had finished, and the client had been created again.
        let first = StoredTable(
            "clients",
            ofClient: .steps { _, _, db in
                _ = try db.execute("UPDATE clients SET deleted_at = NULL WHERE id = \(id)")
                return 0
            })
        let second = StoredTable(
            "consents",
            ofClient: .steps { _, _, _ in
                reached.withLock { $0 = true }
                return 0
            })
        let clients = clients(of: world, BulkErasure(database: world.database, tables: [first, second]))
        _ = try await clients.finishDeletions(within: .request)
        #expect(!reached.withLock { $0 })
        #expect(try await world.clients.find(id) != nil)
        await world.database.close()
    }

    private func clients(of world: TokenFixture, batch: Int) -> Clients {
        clients(of: world, BulkErasure(database: world.database, batch: batch))
    }

    private func clients(of world: TokenFixture, _ erasure: BulkErasure) -> Clients {
        Clients(
            database: world.database, clock: world.clock, random: SystemRandom(), seal: world.seal,
            known: KnownClients(clock: world.clock), erasure: erasure,
            sessions: Sessions(database: world.database, clock: world.clock, events: .unheard))
    }

    @Test("A client's rows are deleted in batches, and other clients' rows stay", arguments: Backend.available)
    func rowsOfClient(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let own = try await world.signIn(on: world.backend)
        for _ in 1...12 { try await world.signIn() }
        var budget = BulkErasure.Budget.unlimited
        #expect(try await BulkErasure(database: world.database, batch: 5).client(world.phone.id, &budget) { _ in true })
        #expect(try await world.count("SELECT id FROM token_families") == 1)
        #expect(try await world.count("SELECT fingerprint FROM refresh_tokens") == 1)
        #expect(try await world.count("SELECT user_id FROM connections") == 1)
        #expect(try await world.clients.delete(world.phone.id, by: commandLine))
        #expect(try await world.clients.find(world.phone.id) == nil)
        #expect(try await world.clients.find(world.backend.id)?.disabledAt == nil)
        #expect(await world.isLive(own))
        await world.database.close()
    }

    @Test(
        "A merchant's deletion deletes its clients and its issuers' links to users, and no other merchant's",
        arguments: Backend.available)
    func rowsOfMerchant(backend: Backend) async throws {
        let database = try await backend.open()
        let (one, other) = (try await TokenFixture(database), try await TokenFixture(database))
        for world in [one, other] {
            for _ in 1...12 { try await world.signIn() }
            try await database.write { db in
                let (issuer, user) = (world.merchant.text, world.user)
                try db.execute("INSERT INTO issuers (id, merchant_id) VALUES (\(issuer), \(world.merchant))")
                try db.execute(
                    """
                    INSERT INTO issuer_settings (issuer_id, merchant_id, issuer, audiences, algorithms, create_users,
                        created_at, updated_at)
                    VALUES (\(issuer), \(world.merchant), 'i', '', '', 0, 0, 0)
                    """)
                for subject in 1...12 {
                    try db.execute(
                        """
                        INSERT INTO issuer_subjects (issuer_id, subject, user_id, created_at)
                        VALUES (\(issuer), \("s\(subject)"), \(user), 0)
                        """)
                }
            }
        }
        var budget = BulkErasure.Budget.unlimited
        #expect(try await BulkErasure(database: database, batch: 5).merchant(one.merchant, &budget) { _ in true })
        #expect(try await one.count("SELECT subject FROM issuer_subjects") == 12)
        #expect(try await one.merchants.delete(one.merchant, by: commandLine))
        #expect(try await one.count("SELECT id FROM token_families") == 12)
        #expect(try await one.count("SELECT subject FROM issuer_subjects") == 12)
        let remembered = try await database.rows("SELECT id FROM issuers WHERE gone_at IS NOT NULL")
        #expect(try remembered.map { try $0.get("id", as: String.self) } == [one.merchant.text])
        #expect(try await one.merchants.find(one.merchant) == nil)
        #expect(try await one.merchants.find(other.merchant)?.disabledAt == nil)
        await database.close()
    }

    @Test(
        "A user's deletion deletes refresh tokens in batches before their token families",
        arguments: Backend.available)
    func chain(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        for _ in 1...3 {
            var answer = try await world.signIn()
            for _ in 1...7 { answer = try await world.refresh(answer) }
        }
        let erasure = BulkErasure(database: world.database, batch: 5)
        var (rounds, left, budget) = (0, 24, BulkErasure.Budget(batches: 1))
        while try await !erasure.user(world.user, &budget, while: { _ in true }) {
            let now = try await world.count("SELECT fingerprint FROM refresh_tokens")
            #expect(left - now <= 5, "no transaction deletes more than a batch")
            (rounds, left, budget) = (rounds + 1, now, BulkErasure.Budget(batches: 1))
        }
        #expect(rounds >= 4)
        #expect(try await world.count("SELECT id FROM token_families") == 0)
        await world.database.close()
    }
}
