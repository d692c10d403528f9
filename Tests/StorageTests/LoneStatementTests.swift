import Dispatch
import Foundation
import Storage
import StoragePostgreSQL
import TestSupport
import Testing

/// Statements that are sent together with those of other callers.
@Suite struct LoneStatementTests {
    @Test("Each of many concurrent callers gets the answer to its own statement", arguments: Backend.available)
    func own(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 0..<400 {
                group.addTask {
                    let isStored = try await database.change(
                        "INSERT INTO things (id, number) VALUES (\(id), \(id * 7)) ON CONFLICT (id) DO NOTHING")
                    #expect(isStored)
                    let rows = try await database.rows("SELECT number FROM things WHERE id = \(id)")
                    #expect(try rows.map { try $0.get("number", as: Int.self) } == [id * 7])
                    #expect(try await database.rows("SELECT id FROM parts WHERE id = \(id)").isEmpty)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await database.countThings() == 400)
        await database.close()
    }

    @Test(
        "Of many conditional changes of one row one is made, with its follow-up statements",
        arguments: Backend.available)
    func decided(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        try await database.run("INSERT INTO things (id) VALUES (\(0))")
        let winners = try await withThrowingTaskGroup(of: Int?.self) { group in
            for id in 1...60 {
                group.addTask {
                    let isWon = try await database.change(
                        "UPDATE things SET winner = \(id) WHERE id = \(0) AND winner IS NULL",
                        decided: "EXISTS (SELECT 1 FROM things WHERE id = \(0) AND winner = \(id))"
                    ) { decided in
                        ["INSERT INTO things (id) SELECT CAST(\(id) AS BIGINT) WHERE \(decided ?? .always)"]
                    }
                    return isWon ? id : nil
                }
            }
            return try await group.reduce(into: [Int]()) { if let id = $1 { $0.append(id) } }
        }
        let stored = try await database.rows("SELECT id FROM things WHERE id > \(0)").map {
            try $0.get("id", as: Int.self)
        }
        #expect(winners.count == 1 && stored == winners)
        await database.close()
    }

    @Test("A statement that fails among those of many callers fails only its own caller", arguments: Backend.available)
    func failing(_ backend: Backend) async throws {
        let database = try await backend.openThings()
        try await database.run("INSERT INTO things (id) VALUES (\(1000))")
        let kinds = try await withThrowingTaskGroup(of: String?.self) { group in
            for id in 0..<300 {
                group.addTask {
                    do {
                        // Every third has a value that no text may have, or a key that exists.
                        switch id % 6 {
                        case 0: _ = try await database.rows("SELECT id FROM things WHERE text = \("\0")")
                        case 3: try await database.change("INSERT INTO things (id) VALUES (\(1000))")
                        case 1, 4: try await database.change("INSERT INTO things (id) VALUES (\(id))")
                        default: _ = try await database.rows("SELECT id FROM things WHERE id = \(id)")
                        }
                        return nil
                    } catch let error as StorageError {
                        return error.kind
                    }
                }
            }
            return try await group.reduce(into: [:]) { $0[$1 ?? "none", default: 0] += 1 }
        }
        #expect(kinds == ["none": 200, "conflict": 50, "holds NUL": 50])
        #expect(try await database.countThings() == 101)
        await database.close()
    }

    @Test(
        "Changes that were acknowledged before a PostgreSQL connection was lost are stored",
        .enabled(if: PostgreSQLCluster.isAvailable))
    func lost() async throws {
        let (database, other, _) = try await LostConnectionTests.pair(connections: 8)
        let killer = Task {
            while !Task.isCancelled {
                for row in try await other.rows(Self.others) { try await other.terminate(try row.get("pid")) }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        let stored = await withTaskGroup(of: Int?.self) { group in
            for id in 0..<2000 {
                group.addTask {
                    let isStored = try? await database.change(
                        "INSERT INTO things (id) VALUES (\(id)) ON CONFLICT (id) DO NOTHING")
                    return isStored == nil ? nil : id
                }
            }
            return await group.reduce(into: [Int]()) { if let id = $1 { $0.append(id) } }
        }
        killer.cancel()
        _ = try? await killer.value
        let rows = try await other.rows("SELECT id FROM things")
        let there = Set(try rows.map { try $0.get("id", as: Int.self) })
        #expect(there.isSuperset(of: stored), "acknowledged and gone: \(Set(stored).subtracting(there))")
        #expect(!stored.isEmpty)
        await database.close()
    }

    private static let others: SQL =
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"

    @Test(
        "A change that was committed but not acknowledged is not an error when it runs again",
        .enabled(if: PostgreSQLCluster.isAvailable))
    func unknownOutcome() async throws {
        let (_, other, url) = try await LostConnectionTests.pair()
        let cutter = try Cutter(serverURL: url)
        let database = try await PostgreSQLDatabase.open(url: cutter.url, connections: 1)
        try await other.run("INSERT INTO things (id) VALUES (\(0))")
        cutter.cutNextAnswer(to: "COMMIT")
        let isWon = try await database.change(
            "UPDATE things SET winner = \(7) WHERE id = \(0) AND winner IS NULL",
            decided: "EXISTS (SELECT 1 FROM things WHERE id = \(0) AND winner = \(7))"
        ) { decided in
            [
                """
                INSERT INTO things (id) SELECT CAST(\(1) AS BIGINT) WHERE \(decided ?? .always)
                ON CONFLICT (id) DO NOTHING
                """
            ]
        }
        // The caller reads which change has won: it was its own.
        #expect(!isWon)
        #expect(try await other.countThings() == 2)
    }

    @Test(
        "While a PostgreSQL server is silent every caller is refused, and served when it answers again",
        .enabled(if: PostgreSQLCluster.isAvailable))
    func silent() async throws {
        let (cutter, _) = try await LostConnectionTests.cutter()
        let database = try await PostgreSQLDatabase.open(
            url: cutter.url + "&connect_timeout=2", connections: 4, patience: .seconds(1),
            answerTime: .milliseconds(300))
        @Sendable func ask() async -> Bool { (try? await database.rows("SELECT id FROM things")) != nil }
        let before = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { await ask() } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(before == 50)
        cutter.isSilent = true
        let during = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { await ask() } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(during == 0)
        cutter.isSilent = false
        let until = ContinuousClock.now + .seconds(60)
        var isBack = false
        while !isBack, ContinuousClock.now < until { isBack = await ask() }
        #expect(isBack)
        await database.close()
    }

    @Test(
        "A statement does not wait for a locked row that only another caller's statement needs",
        .enabled(if: PostgreSQLCluster.isAvailable)
    )
    func lockedRow() async throws {
        let (database, _, _) = try await LostConnectionTests.pair(connections: 8)
        try await database.run("INSERT INTO things (id, number) VALUES (\(0), \(0))")
        let (held, othersAreDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let waited = database.write { db in
            _ = try db.execute("UPDATE things SET number = \(1) WHERE id = \(0)")
            held.signal()
            return othersAreDone.wait(timeout: .now() + 8) == .success
        }
        await Self.wait(for: held)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<20 { try await database.change("UPDATE things SET winner = \(2) WHERE id = \(0)") }
            }
            for id in 1...60 {
                group.addTask { _ = try await database.change("INSERT INTO things (id) VALUES (\(id))") }
            }
            for _ in 1...60 { try await group.next() }
            othersAreDone.signal()
            try await group.waitForAll()
        }
        #expect(try await waited, "they waited for it")
        #expect(try await database.countThings() == 61)
        await database.close()
    }

    private static func wait(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                semaphore.wait()
                continuation.resume()
            }
        }
    }

    @Test(
        "Closing a database does or refuses each waiting statement, and answers accordingly",
        .enabled(if: PostgreSQLCluster.isAvailable))
    func closing() async throws {
        let (database, other, _) = try await LostConnectionTests.pair(connections: 8)
        let stored = await withTaskGroup(of: Int.self) { group in
            for id in 0..<300 {
                group.addTask {
                    do {
                        return try await database.change("INSERT INTO things (id) VALUES (\(id))") ? 1 : 0
                    } catch {
                        #expect((error as? StorageError)?.kind == "unavailable")
                        return 0
                    }
                }
            }
            group.addTask {
                await database.close()
                return 0
            }
            return await group.reduce(0, +)
        }
        #expect(try await other.countThings() == stored)
    }
}
