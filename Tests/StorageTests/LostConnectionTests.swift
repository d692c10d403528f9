import Dispatch
import Storage
import StoragePostgreSQL
import TestSupport
import Testing

/// Connections that die: between transactions, inside one, and while COMMIT is under way.
@Suite(.enabled(if: PostgreSQLCluster.isAvailable)) struct LostConnectionTests {
    @Test("A PostgreSQL connection killed while idle is replaced, and no caller gets an error")
    func idle() async throws {
        let (database, other, _) = try await Self.pair()
        for id in 0..<3 {
            try await other.terminate(try await database.processID())
            try await database.run("INSERT INTO things (id) VALUES (\(id))")
            try await other.terminate(try await database.processID())
            #expect(try await database.countThings() == id + 1)
        }
    }

    @Test("A transaction whose connection is killed runs again, whole")
    func inside() async throws {
        let (database, other, _) = try await Self.pair()
        let victim = try await database.processID()
        let hasInserted = DispatchSemaphore(value: 0)
        let mayGoOn = DispatchSemaphore(value: 0)
        let runs = Ledger<Int>()
        async let written: Void = database.write { db in
            try db.execute("INSERT INTO things (id) VALUES (\(1))")
            if runs.note(1) == 1 {
                hasInserted.signal()
                _ = mayGoOn.wait(timeout: .now() + 10)
            }
            try db.execute("INSERT INTO things (id) VALUES (\(2))")
        }
        await hasInserted.waited()
        try await other.terminate(victim)
        mayGoOn.signal()
        try await written
        #expect(runs.entries.count == 2)
        #expect(try await database.countThings() == 2)
    }

    @Test("A transaction that loses its connection three times is unavailable, and the next one succeeds")
    func always() async throws {
        let (database, other, _) = try await Self.pair()
        let pids = Ledger<Int>()
        let error = await #expect(throws: StorageError.self) {
            try await database.write { db in
                let pid = try db.rows("SELECT pg_backend_pid() AS pid").first?.get("pid", as: Int.self) ?? 0
                pids.note(pid)
                try db.execute("SELECT pg_terminate_backend(\(pid))")
                try db.execute("INSERT INTO things (id) VALUES (\(1))")
            }
        }
        #expect(error?.kind == "unavailable")
        #expect(Set(pids.entries).count == 3)
        try await database.run("INSERT INTO things (id) VALUES (\(2))")
        #expect(try await other.countThings() == 1)
    }

    @Test("A write that a server in recovery refuses runs again on another connection, then is unavailable")
    func standby() async throws {
        let (database, other, _) = try await Self.pair(connections: 2)
        // A standby's answer to a transaction that writes: feature_not_supported.
        try await other.run(
            """
            CREATE FUNCTION refuse() RETURNS BIGINT LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'cannot write during recovery' USING ERRCODE = '0A000'; END $$
            """)
        let pids = Ledger<Int>()
        try await database.write { db in
            let pid = try db.rows("SELECT pg_backend_pid() AS pid").first?.get("pid", as: Int.self) ?? 0
            if pids.note(pid) == 1 { try db.execute("SELECT refuse()") }
            try db.execute("INSERT INTO things (id) VALUES (\(1))")
        }
        #expect(Set(pids.entries).count == 2)
        #expect(try await other.countThings() == 1)
        let error = await #expect(throws: StorageError.self) {
            try await database.write { db in try db.execute("SELECT refuse()") }
        }
        #expect(error?.kind == "unavailable")
    }

    @Test("A transaction whose COMMIT was done but not acknowledged finds its work done when it runs again")
    func unknownOutcome() async throws {
        let (_, other, url) = try await Self.pair()
        let cutter = try Cutter(serverURL: url)
        let database = try await PostgreSQLDatabase.open(url: cutter.url, connections: 1)
        try await other.run("INSERT INTO things (id) VALUES (\(1))")
        cutter.cutNextAnswer(to: "COMMIT")
        let seen = Ledger<Int?>()
        let attempt = 4711
        let hasWon = try await database.write { db in
            let before = try db.rows("SELECT winner FROM things WHERE id = \(1)").first
            seen.note(try before?.get("winner") ?? nil)
            try db.execute("INSERT INTO things (id) VALUES (\(2)) ON CONFLICT DO NOTHING")
            try db.execute("UPDATE things SET winner = \(attempt) WHERE id = \(1) AND winner IS NULL")
            let after = try db.rows("SELECT winner FROM things WHERE id = \(1)").first
            return try after?.get("winner", as: Int.self) == attempt
        }
        #expect(hasWon)
        #expect(seen.entries == [nil, attempt], "the first COMMIT was done, and the closure ran twice")
        #expect(try await other.countThings() == 2)
    }

    @Test("A transaction whose COMMIT never arrived at the server is run again and committed")
    func lostCommit() async throws {
        let (_, other, url) = try await Self.pair()
        let cutter = try Cutter(serverURL: url)
        let database = try await PostgreSQLDatabase.open(url: cutter.url, connections: 1)
        cutter.cutBefore("COMMIT")
        try await database.run("INSERT INTO things (id) VALUES (\(1))")
        #expect(try await other.countThings() == 1)
    }

    @Test("Work is unavailable while the PostgreSQL server is away, and succeeds when it returns")
    func gone() async throws {
        let (_, _, url) = try await Self.pair()
        let cutter = try Cutter(serverURL: url)
        let database = try await PostgreSQLDatabase.open(url: cutter.url, connections: 2)
        cutter.refuses = true
        let error = await #expect(throws: StorageError.self) {
            try await database.run("INSERT INTO things (id) VALUES (\(1))")
        }
        #expect(error?.kind == "unavailable")
        cutter.refuses = false
        // No connection is tried again before a second has passed.
        let until = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < until, (try? await database.countThings()) == nil {
            try await Task.sleep(for: .milliseconds(100))
        }
        try await database.run("INSERT INTO things (id) VALUES (\(1))")
        #expect(try await database.countThings() == 1)
    }

    @Test("While the PostgreSQL server is away, not every request tries to connect to it")
    func knocking() async throws {
        let (_, _, url) = try await Self.pair()
        let cutter = try Cutter(serverURL: url)
        let database = try await PostgreSQLDatabase.open(url: cutter.url, connections: 8)
        cutter.refuses = true
        let before = cutter.knocks
        let start = ContinuousClock.now
        for _ in 1...200 { #expect((try? await database.countThings()) == nil) }
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        #expect(cutter.knocks - before <= 10 + seconds)
    }

    @Test("When new database connections cannot be made, the existing ones do the work")
    func fewConnections() async throws {
        let (_, _, url) = try await Self.pair()
        let cutter = try Cutter(serverURL: url)
        cutter.mostGuests = 2
        // Patient: on a busy machine the two may take longer than usual.
        let database = try await PostgreSQLDatabase.open(url: cutter.url, connections: 8, patience: .seconds(60))
        let start = ContinuousClock.now
        let refused = await withTaskGroup { group in
            for _ in 0..<500 {
                group.addTask {
                    let number = try? await database.read { db in
                        try db.rows("SELECT count(*) AS n FROM things, pg_sleep(0.002)").first?.get("n", as: Int.self)
                    }
                    return number == nil
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        // Each thread has to find out once, or twice in a race with an accepted one; then one tries each second.
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        #expect(refused <= 20 + seconds, "\(refused) of 500")
    }

    /// A database over one connection, a second connection to it, and its address.
    static func pair(connections: Int = 1) async throws -> (PostgreSQLDatabase, PostgreSQLDatabase, String) {
        let url = try await Backend.postgresql.freshAddress()
        let other = try await PostgreSQLDatabase.open(url: url, connections: 1)
        try await other.createThings()
        return (try await PostgreSQLDatabase.open(url: url, connections: connections), other, url)
    }

    @Test("Work that a silent PostgreSQL server does not answer is refused; once it answers, work is done")
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
        // No connection is tried again before a second has passed.
        let until = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < until, (try? await database.countThings()) == nil {
            try await Task.sleep(for: .milliseconds(100))
        }
        try await other.run("DELETE FROM things")
        try await database.run("INSERT INTO things (id) VALUES (\(2))")
        #expect(try await database.countThings() == 1)
    }

    @Test("A transaction whose COMMIT a silent server does not acknowledge finds it done when it runs again")
    func unknownOutcomeOfSilence() async throws {
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

    @Test("The readiness check fails while the PostgreSQL server is silent and work still waits for it")
    func readiness() async throws {
        let (cutter, other) = try await Self.cutter()
        try await other.run("CREATE TABLE schema_steps (version BIGINT PRIMARY KEY)")
        let database = try await PostgreSQLDatabase.open(url: cutter.url, connections: 1, answerTime: .seconds(600))
        cutter.isSilent = true
        let done = Ledger<Int>()
        async let waiting: Void = { done.note(try await database.countThings()) }()
        // After the readiness check it would wait for the only connection, and be refused with the rest.
        try await cutter.withholdsSomething()
        let error = await #expect(throws: StorageError.self) { try await database.confirmReady() }
        #expect(error?.kind == "unavailable")
        #expect(done.entries.isEmpty)
        cutter.isSilent = false
        try await waiting
        #expect(done.entries == [0])
        try await database.confirmReady()
    }

    @Test("A database told to abandon its work refuses what the server does not answer, and closes")
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

    @Test("While database work that waits for a lock is abandoned, other work is done as before")
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

    @Test("Closing a database does not wait for a silent PostgreSQL server", .timeLimit(.minutes(1)))
    func closing() async throws {
        let (cutter, _) = try await Self.cutter()
        let database = try await PostgreSQLDatabase.open(url: cutter.url, connections: 1, answerTime: .seconds(600))
        cutter.isSilent = true
        async let ready: Void = database.confirmReady()
        _ = try? await ready
        await database.close()
    }

    /// A proxy before a new database, and a connection past the proxy.
    static func cutter() async throws -> (Cutter, PostgreSQLDatabase) {
        let url = try await Backend.postgresql.freshAddress()
        let other = try await PostgreSQLDatabase.open(url: url, connections: 1)
        try await other.createThings()
        return (try Cutter(serverURL: url), other)
    }
}

extension PostgreSQLDatabase {
    fileprivate func processID() async throws -> Int {
        try await read { try $0.rows("SELECT pg_backend_pid() AS pid").first?.get("pid") ?? 0 }
    }

    /// Ends another connection of the server and waits until it is gone: a commit that waits for a slow disk ends last.
    func terminate(_ pid: Int) async throws {
        for _ in 1...10 {
            let row = try await read { try $0.rows("SELECT pg_terminate_backend(\(pid), 60000) AS is_gone").first }
            if try row?.get("is_gone", as: Bool.self) == true { return }
        }
        Issue.record("the backend \(pid) does not end")
    }
}
