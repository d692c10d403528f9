import Dispatch
import Storage
import TestSupport
import Testing

/// The promises of both engines: values, statements, refusals.
@Suite struct DatabaseContractTests {
    private struct Refusal: Error {}

    @Test(
        "NULL, the least and greatest BIGINT and any text are read back as they were stored",
        arguments: Backend.available)
    func values(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        let texts: [String?] = [
            nil, "", "plain", "it's \"quoted\" \\ %s $1 ?", "line\nbreak\ttab", "naïve Ωmega 日本語", "👩‍👩‍👧‍👦🇳🇴",
            String(repeating: "0123456789", count: 100_000),
        ]
        let numbers: [Int64?] = [nil, 0, -1, .min, .max, 1 << 53]
        try await database.write { db in
            for (id, text) in texts.enumerated() {
                try db.execute("INSERT INTO things (id, text) VALUES (\(id), \(text))")
            }
            for (id, number) in numbers.enumerated() {
                try db.execute("INSERT INTO things (id, number) VALUES (\(100 + id), \(number))")
            }
        }
        let rows = try await database.read { try $0.rows("SELECT id, number, text FROM things ORDER BY id") }
        #expect(try rows.prefix(texts.count).map { try $0.get("text", as: String?.self) } == texts)
        #expect(try rows.dropFirst(texts.count).map { try $0.get("number", as: Int64?.self) } == numbers)
    }

    @Test("A value in an SQL statement is bound as a parameter, never read as SQL", arguments: Backend.available)
    func injection(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        let hostile = "x'); DROP TABLE things; --"
        try await database.run("INSERT INTO things (id, text) VALUES (1, \(hostile))")
        let found = try await database.read { try $0.rows("SELECT id FROM things WHERE text = \(hostile)") }
        #expect(found.count == 1)
    }

    @Test(
        "While a database abandons long work, a short write is done and kept",
        arguments: Backend.available)
    func healthyInTheLastSecond(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        database.abandonWork(over: .seconds(60))
        try await database.run("INSERT INTO things (id, number) VALUES (\(1), 7)")
        #expect(try await database.number(of: 1) == 7)
        await database.close()
    }

    @Test("The call execute tells how many rows it changed", arguments: Backend.available)
    func changedRows(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        let counts = try await database.write { db in
            [
                try db.execute("INSERT INTO things (id, number) VALUES (\(1), 7), (\(2), 7), (\(3), 8)"),
                try db.execute("UPDATE things SET text = \("a") WHERE number = \(7)"),
                try db.execute("UPDATE things SET text = \("b") WHERE number = \(7) AND text IS NULL"),
                try db.execute("DELETE FROM things WHERE id = \(3)"),
            ]
        }
        #expect(counts == [3, 2, 0, 1])
    }

    @Test(
        "ON CONFLICT, RETURNING, a partial index and a cascade mean the same on both engines",
        arguments: Backend.available)
    func dialect(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        try await database.write { db in
            try db.execute("INSERT INTO things (id, number) VALUES (\(1), \(1))")
            #expect(try db.execute("INSERT INTO things (id) VALUES (\(1)) ON CONFLICT DO NOTHING") == 0)
            #expect(try db.execute("INSERT INTO things (id) VALUES (\(2)) ON CONFLICT (id) DO NOTHING") == 1)
            let upserted = try db.rows(
                """
                INSERT INTO things (id, number) VALUES (\(1), \(5))
                ON CONFLICT (id) DO UPDATE SET number = things.number + excluded.number RETURNING id, number
                """)
            #expect(try upserted.map { try $0.get("number", as: Int.self) } == [6])
            // The partial index is unique among rows without an end.
            try db.execute("INSERT INTO parts (id, thing_id, ended_at) VALUES (\(1), \(1), \(9))")
            try db.execute("INSERT INTO parts (id, thing_id) VALUES (\(2), \(1))")
            let skipped = try db.execute("INSERT INTO parts (id, thing_id) VALUES (\(3), \(1)) ON CONFLICT DO NOTHING")
            #expect(skipped == 0)
            let ended = try db.rows("UPDATE parts SET ended_at = \(10) WHERE ended_at IS NULL RETURNING id")
            #expect(try ended.map { try $0.get("id", as: Int.self) } == [2])
            try db.execute("DELETE FROM things WHERE id = \(1)")
            #expect(try db.rows("SELECT id FROM parts").isEmpty)
        }
    }

    @Test("Counts, sums and comparisons in SQL are read as numbers on both engines", arguments: Backend.available)
    func numbers(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        try await database.run("INSERT INTO things (id, number) VALUES (1, \(Int64.max)), (2, \(-5)), (3, NULL)")
        let row = try await database.read { db in
            try db.rows(
                """
                SELECT count(*) AS all_rows, sum(number) AS total, max(id) > 2 AS many, max(number) AS top FROM things
                """
            ).first
        }
        #expect(try row?.get("all_rows", as: Int.self) == 3)
        #expect(try row?.get("total", as: Int64.self) == .max - 5)
        #expect(try row?.get("many", as: Bool.self) == true)
        #expect(try row?.get("top", as: Int64.self) == .max)
    }

    @Test(
        "An error thrown in a write transaction undoes all of it and reaches the caller",
        arguments: Backend.available)
    func rollback(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        await #expect(throws: Refusal.self) {
            try await database.write { db in
                try db.execute("INSERT INTO things (id) VALUES (\(1))")
                throw Refusal()
            }
        }
        #expect(try await database.countThings() == 0)
    }

    @Test(
        "A refused row undoes its whole transaction, with the same error on both engines",
        arguments: Backend.available)
    func refusals(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        try await database.run("INSERT INTO things (id, name) VALUES (1, \("tWXyZ-secret"))")

        func refusal(of statement: SQL) async -> StorageError? {
            await #expect(throws: StorageError.self) {
                try await database.write { db in
                    try db.execute("INSERT INTO things (id) VALUES (50)")
                    try db.execute(statement)
                }
            }
        }
        let duplicate = await refusal(of: "INSERT INTO things (id) VALUES (\(1))")
        let sameName = await refusal(of: "INSERT INTO things (id, name) VALUES (\(2), \("tWXyZ-secret"))")
        let orphan = await refusal(of: "INSERT INTO parts (id, thing_id) VALUES (\(1), \(99))")
        let unchecked = await refusal(of: "INSERT INTO things (id, flag) VALUES (\(3), \(2))")
        let empty = await refusal(of: "INSERT INTO parts (id, thing_id) VALUES (\(1), NULL)")
        let unknown = await refusal(of: "INSERT INTO nowhere (id) VALUES (\(1))")
        let broken = await refusal(of: "INSERT INTO (")

        for case let error? in [duplicate, sameName] { #expect(error.kind == "conflict") }
        #expect(orphan?.kind == "constraint")
        for case let error? in [unchecked, empty] { #expect(error.kind == "rejected") }
        #expect(unknown?.kind == "no table" && broken?.kind == "unreadable")
        #expect(!"\(String(describing: sameName))".contains("tWXyZ"), "an error quoted a value")
        #expect(try await database.countThings() == 1)
    }

    @Test(
        "A text with U+0000 is refused in writes and searches, and never cut off silently",
        arguments: Backend.available)
    func nul(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        try await database.run("INSERT INTO things (id, name) VALUES (1, \("admin"))")
        for text in ["admin\u{0}", "admin\u{0}x", "\u{0}"] {
            let written = await #expect(throws: StorageError.self) {
                try await database.write { db in
                    try db.execute("INSERT INTO things (id) VALUES (50)")
                    try db.execute("INSERT INTO things (id, text) VALUES (\(2), \(text))")
                }
            }
            #expect(written == .holdsNUL)
            let found = await #expect(throws: StorageError.self) {
                try await database.read { try $0.rows("SELECT id FROM things WHERE name = \(text)") }
            }
            #expect(found == .holdsNUL)
        }
        #expect(try await database.countThings() == 1, "what came before it was not undone")
        // The statement and the connection still work.
        #expect(try await database.run("INSERT INTO things (id, text) VALUES (\(2), \("admin"))") == 1)
    }

    @Test("A read transaction cannot write", arguments: Backend.available)
    func readOnly(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        await #expect(throws: StorageError.self) {
            try await database.read { try $0.execute("INSERT INTO things (id) VALUES (\(1))") }
        }
        #expect(try await database.countThings() == 0)
    }

    @Test("A query result of 30,000 rows comes whole and in order", arguments: Backend.available)
    func bigResult(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        try await database.write { db in
            for id in 0..<30_000 {
                try db.execute("INSERT INTO things (id, text) VALUES (\(id), \("the text of number \(id)"))")
            }
        }
        let rows = try await database.read { try $0.rows("SELECT id, text FROM things ORDER BY id") }
        let ids: [Int64] = try rows.map { try $0.get("id") }
        #expect(ids == (0..<30_000).map { Int64($0) })
        #expect(try rows.last?.get("text", as: String.self) == "the text of number 29999")
    }

    @Test("Data survives close and open; a closed database refuses work", arguments: Backend.available)
    func close(_ backend: Backend) async throws {
        let address = try await backend.freshAddress()
        let first = try await Backend.open(address)
        try await first.createThings()
        try await first.run("INSERT INTO things (id) VALUES (\(1))")
        await first.close()
        await first.close()
        let refusal = await #expect(throws: StorageError.self) { _ = try await first.countThings() }
        #expect(refusal?.kind == "unavailable")
        let second = try await Backend.open(address)
        #expect(try await second.countThings() == 1)
        await second.close()
    }

    @Test("Of many concurrent guarded UPDATEs of one row exactly one changes it", arguments: Backend.available)
    func guardedUpdate(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        try await database.run("INSERT INTO things (id) VALUES (\(1))")
        let winners = try await withThrowingTaskGroup { group in
            for asker in 1...64 {
                group.addTask {
                    let changed = try await database.write { db in
                        try db.execute("UPDATE things SET winner = \(asker) WHERE id = \(1) AND winner IS NULL")
                    }
                    return changed == 1 ? asker : nil
                }
            }
            return try await group.reduce(into: []) { winners, winner in winners += winner.map { [$0] } ?? [] }
        }
        let row = try await database.read { try $0.rows("SELECT winner FROM things").first }
        #expect(winners.count == 1)
        #expect(try winners.first == row?.get("winner", as: Int.self))
    }

    @Test("Of 200 concurrent writers all commit except the one that throws", arguments: Backend.available)
    func oneOfManyFails(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        let failures = await withTaskGroup { group in
            for id in 0..<200 {
                group.addTask {
                    do {
                        try await database.write { db in
                            try db.execute("INSERT INTO things (id, text) VALUES (\(id), \("t\(id)"))")
                            if id == 77 { throw Refusal() }
                        }
                        return nil as Int?
                    } catch {
                        return id
                    }
                }
            }
            return await group.reduce(into: []) { failures, id in failures += id.map { [$0] } ?? [] }
        }
        #expect(failures == [77])
        let rows = try await database.read { try $0.rows("SELECT id FROM things") }
        #expect(Set(try rows.map { try $0.get("id", as: Int.self) }) == Set(0..<200).subtracting([77]))
    }

    @Test("A row refused to one writer does not affect concurrent writers", arguments: Backend.available)
    func oneOfManyConflicts(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        let conflicts = await withTaskGroup { group in
            for id in 0..<60 {
                group.addTask {
                    do {
                        try await database.run("INSERT INTO things (id, name) VALUES (\(id), \("name \(id % 20)"))")
                        return 0
                    } catch let error as StorageError where error.kind == "conflict" {
                        return 1
                    } catch {
                        return 1000
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(conflicts == 40)
        #expect(try await database.countThings() == 20)
    }

    @Test("Concurrent increments that read and then write lose no update", arguments: Backend.available)
    func readModifyWrite(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        try await database.run("INSERT INTO things (id, number) VALUES (\(1), 0), (\(2), 0)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for turn in 0..<60 {
                group.addTask {
                    let id = 1 + turn % 2
                    try await database.write { db in
                        let rows = try db.rows("SELECT number FROM things WHERE id = \(id)")
                        let number = try rows.first?.get("number", as: Int.self) ?? 0
                        try db.execute("UPDATE things SET number = \(number + 1) WHERE id = \(id)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await database.number(of: 1) == 30)
        #expect(try await database.number(of: 2) == 30)
    }

    @Test(
        "Of two concurrent writers that each check the other's row, one changes its row",
        arguments: Backend.available)
    func writeSkew(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        try await database.run("INSERT INTO things (id, number) VALUES (\(1), 1), (\(2), 1)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 1...2 {
                group.addTask {
                    try await database.write { db in
                        let rows = try db.rows("SELECT sum(number) AS total FROM things")
                        guard try rows.first?.get("total", as: Int.self) == 2 else { return }
                        try db.execute("UPDATE things SET number = 0 WHERE id = \(id)")
                    }
                }
            }
            try await group.waitForAll()
        }
        let left = [try await database.number(of: 1), try await database.number(of: 2)]
        #expect(left.compactMap(\.self).reduce(0, +) == 1)
    }

    @Test("A read transaction sees the data of one moment, whatever is written meanwhile", arguments: Backend.available)
    func snapshot(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        try await database.run("INSERT INTO things (id, number) VALUES (\(1), \(1))")
        let hasRead = DispatchSemaphore(value: 0)
        let mayRead = DispatchSemaphore(value: 0)
        async let seen = database.read { db in
            let first = try db.rows("SELECT number FROM things").map { try $0.get("number", as: Int.self) }
            hasRead.signal()
            _ = mayRead.wait(timeout: .now() + 10)
            return (first, try db.rows("SELECT number FROM things").map { try $0.get("number", as: Int.self) })
        }
        await hasRead.waited()
        try await database.write { db in
            try db.execute("UPDATE things SET number = \(2)")
            try db.execute("INSERT INTO things (id, number) VALUES (\(2), \(2))")
        }
        // Counts each run: a read runs again as a whole if it turns out to have two statements.
        mayRead.signal()
        mayRead.signal()
        let (first, second) = try await seen
        #expect(first == second)
        #expect(first == [1] || first.sorted() == [2, 2])
        #expect(try await database.number(of: 1) == 2)
    }

    @Test(
        "A cancelled caller's write is done whole or not at all, and no other caller's is cancelled",
        arguments: Backend.available)
    func cancellation(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        let answered = Ledger<Int>()
        await withTaskGroup { group in
            for id in 0..<100 {
                group.addTask {
                    let caller = Task {
                        try await database.write { db in
                            try db.execute("INSERT INTO things (id, number) VALUES (\(id), 1)")
                            try db.execute("UPDATE things SET number = 2 WHERE id = \(id)")
                        }
                    }
                    if id % 2 == 0 { caller.cancel() }
                    if case .success = await caller.result { answered.note(id) }
                }
            }
        }
        let rows = try await database.read { try $0.rows("SELECT id, number FROM things") }
        let stored = Set(try rows.map { try $0.get("id", as: Int.self) })
        let done = Set(answered.entries)
        #expect(done.isSuperset(of: (0..<100).filter { $0 % 2 == 1 }))
        #expect(stored.isSuperset(of: done))
        #expect(try rows.allSatisfy { try $0.get("number", as: Int.self) == 2 })
    }
}

extension DispatchSemaphore {
    /// Waits up to ten seconds without holding one of the tests' few threads.
    func waited() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                _ = self.wait(timeout: .now() + 10)
                continuation.resume()
            }
        }
    }
}
