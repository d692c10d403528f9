import Dispatch
import Storage
import TestSupport
import Testing

/// What the two engines promise alike when many ask at once.
@Suite struct ConcurrencyContractTests {
    private struct Refusal: Error {}

    @Test("A guarded UPDATE is won exactly once, however many try", arguments: Backend.available)
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

    @Test("A refused row of one writer does not affect its neighbours", arguments: Backend.available)
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

    @Test("Two writers that each check the other's row do not both pass", arguments: Backend.available)
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

    @Test("A read sees one moment, whatever is written meanwhile", arguments: Backend.available)
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
        // Once for each run: a read may run again, as a whole, when it turns out to have two statements.
        mayRead.signal()
        mayRead.signal()
        let (first, second) = try await seen
        #expect(first == second)
        #expect(first == [1] || first.sorted() == [2, 2])
        #expect(try await database.number(of: 1) == 2)
    }

    @Test("A cancelled caller cancels no other, and its own write ends whole", arguments: Backend.available)
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
