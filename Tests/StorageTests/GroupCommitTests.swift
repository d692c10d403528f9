import Dispatch
import Storage
import StorageSQLite
import TestSupport
import Testing

/// How the members of one commit affect each other.
@Suite struct GroupCommitTests {
    private struct Refusal: Error {}

    @Test("In a group commit only the writers that throw are undone, whatever they had written")
    func oneOfAGroup() async throws {
        let database = try await Backend.sqlite.openThings()
        // The second time the statements are known to need a savepoint.
        for round in 0..<2 {
            let failed = try await group(database, of: 40) { id, db in
                let id = round * 100 + id
                if id % 4 == 3 { throw Refusal() }
                try db.execute("INSERT INTO things (id) VALUES (\(id))")
                if id % 4 == 2 { throw Refusal() }
                try db.execute("UPDATE things SET number = \(id) WHERE id = \(id)")
                if id % 4 == 1 { throw Refusal() }
            }
            #expect(failed == Set((0..<40).filter { $0 % 4 != 0 }))
        }
        let rows = try await database.read { try $0.rows("SELECT id, number FROM things ORDER BY id") }
        let expected = [0, 100].flatMap { start in (0..<40).filter { $0 % 4 == 0 }.map { start + $0 } }
        #expect(try rows.map { try $0.get("id", as: Int.self) } == expected)
        #expect(try rows.map { try $0.get("number", as: Int.self) } == expected)
    }

    @Test("In a group commit a row refused in mid-statement undoes that writer's statement, not the others'")
    func refusedInTheMiddle() async throws {
        let database = try await Backend.sqlite.openThings()
        let failed = try await group(database, of: 20) { id, db in
            // The last of three has the first one's name when `id` is odd.
            let names = ["a\(id)", "b\(id)", id % 2 == 0 ? "c\(id)" : "a\(id)"]
            try db.execute(
                """
                INSERT INTO things (id, name) VALUES (\(id * 3), \(names[0])), (\(id * 3 + 1), \(names[1])),
                    (\(id * 3 + 2), \(names[2]))
                """)
        }
        #expect(failed == Set((0..<20).filter { $0 % 2 == 1 }))
        #expect(try await database.countThings() == 30)
    }

    @Test("An SQLite writer that ignores the refusal of a row keeps what else it has written")
    func goingOn() async throws {
        let database = try await Backend.sqlite.openThings()
        let failed = try await group(database, of: 10) { id, db in
            try db.execute("INSERT INTO things (id) VALUES (\(id))")
            _ = try? db.execute("INSERT INTO things (id) VALUES (\(id))")
            try db.execute("UPDATE things SET number = 1 WHERE id = \(id)")
        }
        #expect(failed.isEmpty)
        let row = try await database.read { try $0.rows("SELECT sum(number) AS total FROM things").first }
        #expect(try row?.get("total", as: Int.self) == 10)
    }

    @Test("When SQLite itself rolls back, every writer in a group commit fails, even one that ignored the error")
    func rolledBack() async throws {
        let database = try await Backend.sqlite.openThings()
        try await database.write { _ = try $0.rows("PRAGMA max_page_count = 40") }
        let failed = try await group(database, of: 9) { id, db in
            try db.execute("INSERT INTO things (id) VALUES (\(id))")
            guard id == 4 else { return }
            // More than the file may grow to.
            _ = try? db.execute("UPDATE things SET text = \(String(repeating: "x", count: 500_000)) WHERE id = 4")
            // A statement that ran now would be committed alone.
            _ = try? db.execute("INSERT INTO things (id) VALUES (\(1000))")
        }
        #expect(failed == Set(0..<9))
        #expect(try await database.countThings() == 0)
        try await database.write { _ = try $0.rows("PRAGMA max_page_count = 1000000") }
        #expect(
            try await group(database, of: 9) { id, db in try db.execute("INSERT INTO things (id) VALUES (\(id))") }
                .isEmpty)
        #expect(try await database.countThings() == 9)
    }

    @Test("A closing SQLite database commits or refuses each waiting write, and answers accordingly")
    func closing() async throws {
        let path = try await Backend.sqlite.freshAddress()
        let database = try await SQLiteDatabase.open(path: path)
        try await database.createThings()
        let failed = try await group(database, of: 600) { id, db in
            try db.execute("INSERT INTO things (id) VALUES (\(id))")
        } whileWaiting: {
            Task { await database.close() }
        }
        await database.close()
        let again = try await SQLiteDatabase.open(path: path)
        #expect(try await again.countThings() == 600 - failed.count)
        await again.close()
    }

    /// Runs `work` by `count` members that wait together, and returns those that failed.
    private func group(
        _ database: any Database, of count: Int,
        _ work: @escaping @Sendable (Int, any Transaction) throws -> Void,
        whileWaiting: @Sendable () -> Void = {}
    ) async throws -> Set<Int> {
        let hasBegun = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        async let gate: Void = database.write { _ in
            hasBegun.signal()
            _ = mayEnd.wait(timeout: .now() + 60)
        }
        await hasBegun.waited()
        let failed = try await withThrowingTaskGroup(of: Int?.self) { group in
            for id in 0..<count {
                group.addTask { (try? await database.write { db in try work(id, db) }) == nil ? id : nil }
            }
            // All wait in one group.
            let sqlite = try #require(database as? SQLiteDatabase)
            while sqlite.waitingWrites < count { try await Task.sleep(for: .milliseconds(1)) }
            whileWaiting()
            mayEnd.signal()
            return try await group.reduce(into: Set<Int>()) { failed, id in if let id { failed.insert(id) } }
        }
        try await gate
        return failed
    }
}
