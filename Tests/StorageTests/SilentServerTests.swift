import Dispatch
import Storage
import StoragePostgreSQL
import TestSupport
import Testing

/// A server that takes what is sent and answers nothing, as behind a broken network or on a frozen machine.
@Suite(.enabled(if: PostgreSQLCluster.isAvailable)) struct SilentServerTests {
    @Test("Work that a silent server does not answer is refused, and done when the server answers again")
    func silence() async throws {
        let (cutter, other) = try await Self.cutter()
        let database = try await PostgreSQLDatabase.open(
            url: cutter.url + "&connect_timeout=2", connections: 2, answerTime: .milliseconds(300))
        cutter.isSilent = true
        for _ in 0..<2 {
            let read = await #expect(throws: StorageError.self) { _ = try await database.countThings() }
            #expect(read?.kind == "unavailable")
            let written = await #expect(throws: StorageError.self) {
                try await database.run("INSERT INTO things (id) VALUES (\(1)) ON CONFLICT DO NOTHING")
            }
            #expect(written?.kind == "unavailable")
        }
        cutter.isSilent = false
        // Nobody knocks again before a second has passed.
        let until = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < until, (try? await database.countThings()) == nil {
            try await Task.sleep(for: .milliseconds(100))
        }
        try await other.run("DELETE FROM things")
        try await database.run("INSERT INTO things (id) VALUES (\(2))")
        #expect(try await database.countThings() == 1)
    }

    @Test("A COMMIT that was done, and that a silent server does not acknowledge, is found done by the second run")
    func unknownOutcome() async throws {
        let (cutter, other) = try await Self.cutter()
        let database = try await PostgreSQLDatabase.open(
            url: cutter.url, connections: 1, answerTime: .milliseconds(500))
        try await other.run("INSERT INTO things (id) VALUES (\(1))")
        cutter.muteAfter("COMMIT")
        let seen = Ledger<Int?>()
        let attempt = 4711
        try await database.write { db in
            let before = try db.rows("SELECT winner FROM things WHERE id = \(1)").first
            seen.note(try before?.get("winner") ?? nil)
            try db.execute("UPDATE things SET winner = \(attempt) WHERE id = \(1) AND winner IS NULL")
        }
        #expect(seen.entries == [nil, attempt], "the first COMMIT was done, and the closure ran twice")
    }

    @Test("A load balancer learns soon that the server is silent, while work still waits for it")
    func readiness() async throws {
        let (cutter, other) = try await Self.cutter()
        try await other.run("CREATE TABLE schema_steps (version BIGINT PRIMARY KEY)")
        let database = try await PostgreSQLDatabase.open(url: cutter.url, connections: 1, answerTime: .seconds(600))
        cutter.isSilent = true
        let done = Ledger<Int>()
        async let waiting: Void = { done.note(try await database.countThings()) }()
        // Behind the question about readiness it would wait for the only connection, and be refused as the rest is.
        try await cutter.withholdsSomething()
        let error = await #expect(throws: StorageError.self) { try await database.confirmReady() }
        #expect(error?.kind == "unavailable")
        #expect(done.entries.isEmpty)
        cutter.isSilent = false
        try await waiting
        #expect(done.entries == [0])
        try await database.confirmReady()
    }

    @Test("An abandoned database refuses work that the server does not answer, and closes")
    func abandoned() async throws {
        let (cutter, _) = try await Self.cutter()
        let database = try await PostgreSQLDatabase.open(url: cutter.url, connections: 2, answerTime: .seconds(600))
        cutter.isSilent = true
        await withTaskGroup { group in
            for id in 0..<4 {
                group.addTask {
                    let error = await #expect(throws: StorageError.self) {
                        try await database.run("INSERT INTO things (id) VALUES (\(id))")
                    }
                    #expect(error?.kind == "unavailable")
                }
            }
            try? await Task.sleep(for: .milliseconds(200))
            database.abandonWork(over: .milliseconds(100))
        }
        await database.close()
    }

    @Test("While work that waits for a lock is abandoned, other work is done as before")
    func abandonedAlone() async throws {
        let (cutter, other) = try await Self.cutter()
        let database = try await PostgreSQLDatabase.open(url: cutter.url, connections: 2, answerTime: .seconds(600))
        try await other.run("INSERT INTO things (id) VALUES (\(1)), (\(2))")
        let (isLocked, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let holder: Void = other.write { db in
            try db.execute("UPDATE things SET number = 1 WHERE id = \(1)")
            isLocked.signal()
            _ = mayEnd.wait(timeout: .now() + 60)
        }
        await isLocked.waited()
        async let stuck: Void = {
            let error = await #expect(throws: StorageError.self) {
                try await database.run("UPDATE things SET number = 2 WHERE id = \(1)")
            }
            #expect(error?.kind == "unavailable")
        }()
        database.abandonWork(over: .seconds(1))
        // A busy machine may take longer than that, too.
        let until = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < until,
            (try? await database.run("UPDATE things SET number = 3 WHERE id = \(2)")) == nil
        {
            try await Task.sleep(for: .milliseconds(50))
        }
        await stuck
        await database.close()
        mayEnd.signal()
        try await holder
        #expect(try await other.number(of: 1) == 1)
        #expect(try await other.number(of: 2) == 3)
    }

    @Test("Closing does not wait for a silent server")
    func closing() async throws {
        let (cutter, _) = try await Self.cutter()
        let database = try await PostgreSQLDatabase.open(url: cutter.url, connections: 1, answerTime: .seconds(600))
        cutter.isSilent = true
        async let ready: Void = database.confirmReady()
        _ = try? await ready
        await database.close()
    }

    /// A proxy before a new database, and a way around it.
    static func cutter() async throws -> (Cutter, PostgreSQLDatabase) {
        let url = try await Backend.postgresql.freshAddress()
        let other = try await PostgreSQLDatabase.open(url: url, connections: 1)
        try await other.createThings()
        return (try Cutter(serverURL: url), other)
    }
}
