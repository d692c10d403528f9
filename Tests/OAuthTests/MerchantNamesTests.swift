import Audit
import Cryptography
import Directory
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Likeness of merchants' names")
struct MerchantNamesTests {
    /// One who gives no name of another merchant's.
    private struct Owner: MerchantAuthority {
        let reservedNames: [String]? = []
        let actor = Actor(.anonymous)
        func confirm(in db: any Transaction) {}
        func permit(changingMerchantBy document: JSON) {}
    }

    private func store(over database: any Database) -> Merchants {
        let clock = ManualClock()
        return Merchants(
            database: database, clock: clock, random: SystemRandom(), known: KnownClients(clock: clock),
            erasure: BulkErasure(database: database))
    }

    @Test(
        "Renaming a merchant reads all merchants' names before the write, and only the first time",
        arguments: Backend.available)
    func learned(backend: Backend) async throws {
        let database = CountedReads(base: try await backend.open())
        let merchants = store(over: database)
        let loom = try await merchants.create(["name": "Loom"], by: commandLine).id
        _ = try await merchants.create(["name": "Rival"], by: commandLine)
        #expect(database.readsAside == 0)
        for name in ["Loomery", "Weaver"] {
            let renamed = try await merchants.change(loom, ["name": .string(name)], by: Owner())
            #expect(renamed?.name == name)
            #expect(database.readsAside == 1, "\(name)")
        }
        await #expect(throws: JSONFault.self) {
            _ = try await merchants.change(loom, ["name": "R\u{456}val"], by: Owner())
        }
        await database.close()
    }

    @Test(
        "The check for alike merchant names forgets names that are no longer taken, and keeps those in use",
        arguments: Backend.available)
    func forgotten(backend: Backend) async throws {
        let database = CountedReads(base: try await backend.open())
        let merchants = store(over: database)
        let loom = try await merchants.create(["name": "Loom"], by: commandLine).id
        _ = try await merchants.create(["name": "Rival"], by: commandLine)
        try await database.write { db in
            for number in 1...1200 {
                try db.execute(
                    """
                    INSERT INTO taken (kind, name, gone_at) VALUES ('merchant', \("Weaver \(number)"), 0)
                    """)
            }
        }
        func rename(_ name: String) async throws -> String? {
            try await merchants.change(loom, ["name": .string(name)], by: Owner())?.name
        }
        #expect(try await rename("Loomery") == "Loomery")
        await #expect(throws: JSONFault.self) { _ = try await rename("WEAVER 1200") }
        try await database.write { db in _ = try db.execute("DELETE FROM taken WHERE merchant_id IS NULL") }
        // Now more names are remembered than exist.
        #expect(try await rename("Weaver 1200") == "Weaver 1200")
        await #expect(throws: JSONFault.self) { _ = try await rename("RIVAL.") }
        #expect(try await rename("Loom") == "Loom")
        #expect(database.readsAside == 1, "those in use were known all the time")
        await database.close()
    }

    @Test(
        "A merchant's earlier names stay taken, and after a hundred only the platform can rename the merchant",
        arguments: Backend.available)
    func earlier(backend: Backend) async throws {
        let database = try await backend.open()
        let merchants = store(over: database)
        let loom = try await merchants.create(["name": "Loom"], by: commandLine).id
        let rival = try await merchants.create(["name": "Rival"], by: commandLine).id
        for number in 1...100 {
            let renamed = try await merchants.change(loom, ["name": .string("Weaver \(number)")], by: Owner())
            #expect(renamed != nil, "\(number)")
        }
        for name in ["Loom", "Weaver 7", "WEAVER 99"] {
            await #expect(throws: JSONFault.self, "\(name)") {
                _ = try await merchants.change(rival, ["name": .string(name)], by: Owner())
            }
        }
        await #expect(throws: JSONFault.self) { _ = try await merchants.change(loom, ["name": "One"], by: Owner()) }
        #expect(try await merchants.change(loom, ["name": "One"], by: commandLine)?.name == "One")
        await database.close()
    }
}
