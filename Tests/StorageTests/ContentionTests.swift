import Dispatch
import Storage
import StoragePostgreSQL
import TestSupport
import Testing

/// Writers that wait for one row take no thread from writers of others.
@Suite(.enabled(if: PostgreSQLCluster.isAvailable)) struct ContentionTests {
    @Test("While every write waits for one locked row, PostgreSQL reads go on and the database reports ready")
    func locked() async throws {
        let (database, other) = try await Self.pair(connections: 4)
        let (isLocked, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let holder: Void = other.write { db in
            try db.execute("UPDATE things SET number = 1 WHERE id = \(1)")
            isLocked.signal()
            _ = mayEnd.wait(timeout: .now() + 60)
        }
        await isLocked.waited()
        let done = Ledger<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    try await database.run("UPDATE things SET number = \(number) WHERE id = \(1)")
                    done.note(number)
                }
            }
            // Longer than the others need to take every thread they can.
            for _ in 0..<10 {
                try await Task.sleep(for: .milliseconds(20))
                #expect(try await database.countThings() == 2)
                #expect(try await database.rows("SELECT id FROM things WHERE id = \(2)").count == 1)
                try await database.confirmReady()
            }
            #expect(done.entries.isEmpty)
            mayEnd.signal()
            try await group.waitForAll()
        }
        try await holder
        #expect(done.entries.count == 40)
        await database.close()
    }

    @Test("Writes that repeatedly lose races for one row delay no write to another row, and succeed in the end")
    func losing() async throws {
        let (database, other) = try await Self.pair(connections: 4)
        let tries = (0..<6).map { _ in Ledger<Int>() }
        let (isInTurn, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let inTurn = Ledger<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for loser in 0..<6 {
                group.addTask {
                    try await database.write { db in
                        let before = try db.rows("SELECT number FROM things WHERE id = \(1)").first
                        let count = tries[loser].note(1)
                        if count <= 4 {
                            // Another writer is faster.
                            let isChanged = DispatchSemaphore(value: 0)
                            Task {
                                try await other.run("UPDATE things SET winner = \(count) WHERE id = \(1)")
                                isChanged.signal()
                            }
                            _ = isChanged.wait(timeout: .now() + 30)
                        } else {
                            inTurn.note(loser)
                            isInTurn.signal()
                            _ = mayEnd.wait(timeout: .now() + 60)
                        }
                        let number = try before?.get("number", as: Int.self) ?? 0
                        try db.execute("UPDATE things SET number = \(number + 1) WHERE id = \(1)")
                    }
                }
            }
            await isInTurn.waited()
            try await database.run("UPDATE things SET number = 7 WHERE id = \(2)")
            #expect(try await database.number(of: 2) == 7)
            #expect(inTurn.entries.count == 1, "one at a time")
            for _ in 0..<100 { mayEnd.signal() }
            try await group.waitForAll()
        }
        #expect(try await database.number(of: 1) == 6)
        await database.close()
    }

    @Test("Hundreds of concurrent writes to one row and some to another all succeed")
    func fair() async throws {
        let (database, _) = try await Self.pair(connections: 8)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<330 {
                group.addTask {
                    try await database.write { db in try Self.add(to: number < 300 ? 1 : 2, db) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await database.number(of: 1) == 300)
        #expect(try await database.number(of: 2) == 30)
        await database.close()
    }

    @Test("Closing a database answers every queued write, and those answered as done are stored")
    func closing() async throws {
        let (database, other) = try await Self.pair(connections: 4)
        let begun = Ledger<Int>()
        let done = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let done: Void? = try? await database.write { db in
                        begun.note(number)
                        try Self.add(to: 1, db)
                    }
                    return done != nil
                }
            }
            while begun.entries.count < 10 { await Task.yield() }
            await database.close()
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(done > 0)
        #expect(try await other.number(of: 1) == done)
    }

    private static func add(to id: Int, _ db: any Transaction) throws {
        let number = try db.rows("SELECT number FROM things WHERE id = \(id)").first?.get("number", as: Int.self)
        try db.execute("UPDATE things SET number = \((number ?? 0) + 1) WHERE id = \(id)")
    }

    /// A database with two things, and a second connection to it.
    private static func pair(connections: Int) async throws -> (PostgreSQLDatabase, PostgreSQLDatabase) {
        let url = try await Backend.postgresql.freshAddress()
        let other = try await PostgreSQLDatabase.open(url: url, connections: 2)
        try await other.createThings()
        try await other.run("CREATE TABLE schema_steps (version BIGINT PRIMARY KEY)")
        try await other.run("INSERT INTO things (id, number) VALUES (\(1), 0), (\(2), 0)")
        return (
            try await PostgreSQLDatabase.open(url: url, connections: connections, patience: .seconds(60)), other
        )
    }
}
