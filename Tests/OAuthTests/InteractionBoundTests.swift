import Cryptography
import Directory
import Keys
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Trimming of waiting interactions")
struct InteractionBoundTests {
    @Test(
        "Surplus interactions are deleted up to a boundary that is read once, outside the writes",
        arguments: [false, true])
    func boundary(isSignedIn: Bool) async throws {
        let (base, clock, random) = (try await Backend.sqlite.open(), ManualClock(), SystemRandom())
        let interactions = Interactions(
            database: base, seal: Seal(masterKey: .random(from: random), random: random), clock: clock, random: random)
        for _ in 1...30 {
            clock.advance(by: .milliseconds(1))
            guard case .begun = try await interactions.begin("state=s", of: Client.ID("client"), in: nil) else {
                Issue.record("throttled")
                return
            }
        }
        if isSignedIn {
            try await base.write { db in _ = try db.execute("UPDATE interactions SET session = 'ada'") }
        }
        let limit = isSignedIn ? Interactions.limitOfSignedIn(to: 10) : Interactions.limit(to: 10)
        let database = Explained(base: base)
        let retention = Retention(database: database, tables: [StoredTable("interactions", retention: [limit])])
        var sweep = await retention.sweep(at: clock.now, batch: 8)
        var gone = [sweep.gone]
        while !sweep.behind.isEmpty {
            sweep = await retention.sweep(sweep.behind, at: clock.now, batch: 8)
            gone.append(sweep.gone)
        }
        #expect(gone == [8, 8, 4] && sweep.failures.isEmpty)
        #expect(database.count("OFFSET") == 1)
        #expect(database.writes.count == 3 && !database.writes.contains { $0.contains("OFFSET") })
        database.forget()
        #expect(await retention.sweep(at: clock.now, batch: 8).gone == 0)
        #expect(database.writes.isEmpty, "nothing is beyond the bound")
        await database.close()
    }
}
