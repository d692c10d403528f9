import Directory
import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Bulk deletion of a client's or merchant's rows")
struct BulkErasureTests {
    @Test("A client's rows are deleted in batches, and other clients' rows stay", arguments: Backend.available)
    func client(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let own = try await world.signIn(on: world.backend)
        for _ in 1...12 { try await world.signIn() }
        var budget = BulkErasure.Budget.unlimited
        #expect(try await BulkErasure(database: world.database, batch: 5).client(world.phone.id, &budget) { _ in true })
        #expect(try await world.count("SELECT id FROM token_families") == 1)
        #expect(try await world.count("SELECT fingerprint FROM refresh_tokens") == 1)
        #expect(try await world.count("SELECT user_id FROM connections") == 1)
        #expect(try await world.clients.delete(world.phone.id))
        #expect(try await world.clients.find(world.phone.id) == nil)
        #expect(try await world.clients.find(world.backend.id)?.disabledAt == nil)
        #expect(await world.isLive(own))
        await world.database.close()
    }

    @Test("A merchant's clients and links are deleted, and another's stay", arguments: Backend.available)
    func merchant(backend: Backend) async throws {
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
        #expect(try await one.merchants.delete(one.merchant))
        #expect(try await one.count("SELECT id FROM token_families") == 12)
        #expect(try await one.count("SELECT subject FROM issuer_subjects") == 12)
        let remembered = try await database.rows("SELECT id FROM issuers WHERE gone_at IS NOT NULL")
        #expect(try remembered.map { try $0.get("id", as: String.self) } == [one.merchant.text])
        #expect(try await one.merchants.find(one.merchant) == nil)
        #expect(try await one.merchants.find(other.merchant)?.disabledAt == nil)
        await database.close()
    }

    @Test("The many refresh tokens of a token family are deleted in batches before it", arguments: Backend.available)
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
