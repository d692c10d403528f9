import CSQLite
import Dispatch
import Foundation
import Storage
import Synchronization
import TestSupport
import Testing

@testable import StorageSQLite

/// The particulars of a file: how it is opened, what it holds, how it is closed.
@Suite struct SQLiteTests {
    private struct Refusal: Error {}
    private final class Begun: Sendable {
        private let number = Mutex(0)
        var count: Int { number.withLock { $0 } }
        func another() { number.withLock { $0 += 1 } }
    }

    @Test("The SQLite writer is durable, checks foreign keys and keeps temporary data in memory")
    func pragmas() async throws {
        let database = try await SQLiteDatabase.open(path: try await Backend.sqlite.freshAddress())
        #expect(try await database.writerPragma("synchronous") == 2)
        #expect(try await database.writerPragma("foreign_keys") == 1)
        #expect(try await database.writerPragma("cache_size") == -16_000)
        #expect(try await database.writerPragma("temp_store") == 2)
        #expect(try await database.writerPragma("wal_autocheckpoint") == 8000)
        #expect(try await database.writerPragma("mmap_size") <= 0)
        let mode = try await database.read {
            try $0.rows("PRAGMA journal_mode").first?.get("journal_mode", as: String.self)
        }
        #expect(mode == "wal")
        await database.close()
    }

    @Test("List queries that always overlap do not keep SQLite's write-ahead log from being reset")
    func overlappingScans() async throws {
        let path = try await Backend.sqlite.freshAddress()
        let database = try await SQLiteDatabase.open(path: path)
        _ = try await database.write { db in try db.execute("CREATE TABLE loads (id BIGINT PRIMARY KEY, load TEXT)") }
        let begun = Begun()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for merchant in ["loom", "mill"] {
                group.addTask {
                    while !Task.isCancelled {
                        try await database.scan(for: .merchant(merchant)) { db in
                            _ = try db.rows("SELECT COUNT(*) AS many FROM loads")
                            begun.another()
                            let own = begun.count
                            // The other merchant's list begins before this one ends, unless they run one by one.
                            for _ in 1...100 where begun.count == own { usleep(1000) }
                        }
                    }
                }
            }
            for id in 1...160 {
                // Another text each time: SQLite does not rewrite an equal one.
                let text = String(repeating: "\(id % 10)", count: 1 << 20)
                _ = try await database.write { db in
                    try db.execute(
                        """
                        INSERT INTO loads (id, load) VALUES (\(Int64(id % 4)), \(text))
                        ON CONFLICT (id) DO UPDATE SET load = excluded.load
                        """)
                }
            }
            group.cancelAll()
            while let result = await group.nextResult() { if case .failure = result { continue } }
        }
        let length = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? 0
        #expect(length < 120 << 20, "160 MiB were written")
        await database.close()
    }

    @Test("Closing an SQLite database writes its log into the database file and removes the log")
    func closing() async throws {
        let path = try await Backend.sqlite.freshAddress()
        let database = try await SQLiteDatabase.open(path: path)
        try await database.createThings()
        for id in 1...50 { try await database.run("INSERT INTO things (id) VALUES (\(id))") }
        #expect(try await database.countThings() == 50)
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        await database.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        #expect(!FileManager.default.fileExists(atPath: path + "-shm"))
        let refusal = await #expect(throws: StorageError.self) { try await database.run("DELETE FROM things") }
        #expect(refusal?.kind == "unavailable")
    }

    @Test("An SQLite read that throws leaves no snapshot behind: the next read sees later writes")
    func readers() async throws {
        let database = try await Backend.sqlite.openThings()
        for id in 1...5 {
            await #expect(throws: Refusal.self) {
                try await database.read { db in
                    _ = try db.rows("SELECT id FROM things")
                    throw Refusal()
                }
            }
            await #expect(throws: StorageError.self) {
                try await database.read { try $0.rows("SELECT nothing FROM things") }
            }
            try await database.run("INSERT INTO things (id) VALUES (\(id))")
            #expect(try await database.countThings() == id)
        }
    }

    @Test("An SQLite read that takes too long is ended as unavailable")
    func overdue() async throws {
        let path = try await Backend.sqlite.freshAddress()
        let database = try await SQLiteDatabase.open(path: path, longestRead: .milliseconds(50))
        let error = await #expect(throws: StorageError.self) {
            try await database.read { db in
                try db.rows(
                    "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) AS n FROM n")
            }
        }
        #expect(error?.kind == "unavailable")
        try await database.createThings()
        #expect(try await database.countThings() == 0)
        await database.close()
    }

    @Test("Searches of an SQLite database that hang do not delay other reads", .timeLimit(.minutes(5)))
    func scans() async throws {
        let database = try await Backend.sqlite.openThings()
        let (begun, gate) = (Begun(), DispatchSemaphore(value: 0))
        try await withThrowingTaskGroup(of: Void.self) { searches in
            // More than there are threads for tasks: run where they are asked for, they would leave none.
            for number in 0..<64 {
                searches.addTask {
                    try await database.scan(for: .merchant("\(number)")) { _ in
                        begun.another()
                        gate.wait()
                    }
                }
            }
            while begun.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
            #expect(try await database.countThings() == 0)
            #expect(begun.count == 2)
            for _ in 0..<64 { gate.signal() }
            try await searches.waitForAll()
        }
        #expect(begun.count == 64)
        await database.close()
    }

    @Test("An SQLite transaction kept beyond its closure refuses statements")
    func escaped() async throws {
        final class Pocket: @unchecked Sendable { var kept: (any Transaction)? }
        let pocket = Pocket()
        let database = try await Backend.sqlite.openThings()
        try await database.write { db in pocket.kept = db }
        #expect(throws: StorageError.self) { try pocket.kept?.execute("INSERT INTO things (id) VALUES (\(1))") }
        _ = try await database.read { db in pocket.kept = db }
        #expect(throws: StorageError.self) { try pocket.kept?.rows("SELECT id FROM things") }
    }

    @Test("A misspelt column name in double quotes is an error in SQLite, not a text")
    func doubleQuotes() async throws {
        let database = try await Backend.sqlite.openThings()
        let reading = await #expect(throws: StorageError.self) {
            try await database.read { try $0.rows("SELECT id FROM things WHERE \"nmae\" = 'nmae'") }
        }
        let writing = await #expect(throws: StorageError.self) {
            try await database.run("INSERT INTO things (id, name) VALUES (1, \"nmae\")")
        }
        #expect(reading?.kind == "unreadable")
        #expect(writing?.kind == "unreadable")
    }

    @Test("An SQL text with two statements, with none, or with a parameter without a value is refused")
    func oneStatement() async throws {
        let database = try await Backend.sqlite.openThings()
        let texts = ["DELETE FROM things; DELETE FROM parts", "", "DELETE FROM things WHERE id = $1"]
        for text in texts {
            let error = await #expect(throws: StorageError.self) { try await database.run(SQL(script: text)) }
            #expect(error?.kind == "unreadable")
        }
    }

    @Test("SQLite text is read up to U+0000 with invalid UTF-8 repaired; other types are read as text")
    func strangeValues() async throws {
        let database = try await Backend.sqlite.openThings()
        try await database.run("INSERT INTO things (id, text) VALUES (2, CAST(x'610062' AS TEXT))")
        try await database.run("INSERT INTO things (id, text) VALUES (3, CAST(x'61ff62' AS TEXT))")
        try await database.run("INSERT INTO things (id, text) VALUES (4, x'c3a9')")
        try await database.run("INSERT INTO things (id, text) VALUES (5, x'')")
        try await database.run("INSERT INTO things (id, text) VALUES (6, 1.5)")
        let rows = try await database.read { try $0.rows("SELECT text FROM things ORDER BY id") }
        let texts = try rows.map { try $0.get("text", as: String.self) }
        #expect(texts == ["a", "a\u{FFFD}b", "é", "", "1.5"])
        let row = try await database.read { try $0.rows("SELECT 2.5 AS n, count(*) AS n FROM things").first }
        #expect(try row?.get("n", as: String.self) == "2.5")
        #expect(throws: StorageError.unreadable("no column m")) { try row?.get("m", as: String.self) }
    }

    @Test("A statement with RETURNING is done whole and committed, and execute counts its rows")
    func returning() async throws {
        let database = try await Backend.sqlite.openThings()
        let first = try await database.write { db in
            try db.rows("INSERT INTO things (id) VALUES (\(1)), (\(2)), (\(3)) RETURNING id").first?.get(
                "id", as: Int.self)
        }
        #expect(first == 1)
        #expect(try await database.countThings() == 3)
        #expect(try await database.run("UPDATE things SET number = \(7) RETURNING id") == 3)
    }

    @Test("A copy of an SQLite database is whole, and never replaces another file")
    func copying() async throws {
        let database = try await SQLiteDatabase.open(path: try await Backend.sqlite.freshAddress())
        try await database.createThings()
        try await database.run("INSERT INTO things (id) VALUES (1)")
        let path = try await Backend.sqlite.freshAddress()
        try await database.copy(to: path)
        await #expect(throws: StorageError.self) { try await database.copy(to: path) }
        let copy = try await SQLiteDatabase.open(path: path)
        #expect(try await copy.countThings() == 1)
        await copy.close()
        await database.close()
        await #expect(throws: StorageError.self) { try await database.copy(to: path + "2") }
    }

    @Test("Opening an SQLite file that is no database, or in a missing folder, fails with the reason")
    func badFiles() async throws {
        let path = try await Backend.sqlite.freshAddress()
        try Data(repeating: 0x61, count: 8192).write(to: URL(filePath: path))
        let noDatabase = await #expect(throws: StorageError.self) { _ = try await SQLiteDatabase.open(path: path) }
        #expect(noDatabase == .unreadable("file is not a database"))
        let nowhere = await #expect(throws: StorageError.self) {
            _ = try await SQLiteDatabase.open(path: path + "/x/y")
        }
        #expect(nowhere == .unavailable("unable to open database file"))
    }

    @Test("The migrator fails on a damaged SQLite database, and does not take it for an empty one")
    func damaged() async throws {
        let path = try await Backend.sqlite.freshAddress()
        let database = try await SQLiteDatabase.open(path: path)
        try await database.createThings()
        try await database.run("CREATE TABLE schema_steps (version BIGINT PRIMARY KEY, name TEXT, checksum TEXT)")
        try await database.run("INSERT INTO schema_steps (version, name, checksum) VALUES (1, 'first', 'x')")
        await database.close()
        // The header and the schema stay; the pages of the tables are overwritten.
        var bytes = try Data(contentsOf: URL(filePath: path))
        try #require(bytes.count > 8192)
        bytes.replaceSubrange(4096..., with: Data(repeating: 0x61, count: bytes.count - 4096))
        try bytes.write(to: URL(filePath: path))
        let again = try await SQLiteDatabase.open(path: path)
        let migrator = Migrator(database: again, migrations: [Migration(version: 1, name: "first", script: "")])
        await #expect(throws: StorageError.self) { _ = try await migrator.state() }
        await #expect(throws: StorageError.self) { try await migrator.migrate(at: 1) }
        await again.close()
    }

    @Test("A statement is prepared once, whatever its values; another literal is another statement")
    func preparedOnce() async throws {
        let connection = try Connection.forWriting(try await Backend.sqlite.freshAddress())
        func select(_ number: Int) -> SQL { "SELECT \(number) AS n" }
        let columns: SQL.Columns = "1 AS n"
        func spliced() -> SQL { "SELECT \(columns)" }
        #expect(try connection.statement(select(1)) === connection.statement(select(2)))
        #expect(try connection.statement(spliced()) === connection.statement(spliced()))
        #expect(try connection.statement(spliced()) !== connection.statement(select(1)))
        #expect(try connection.answer(select(7)) == .integer(7))
        #expect(try connection.answer(spliced()) == .integer(1))
        connection.close()
    }

    @Test("An SQL text composed at run time is prepared anew for each run")
    func runTimeText() async throws {
        let connection = try Connection.forWriting(try await Backend.sqlite.freshAddress())
        for number in 1...600 {
            #expect(try connection.answer(SQL(script: "SELECT \(number)")) == .integer(Int64(number)))
        }
        var sql = SQL.StringInterpolation(literalCapacity: 0, interpolationCount: 0)
        sql.appendLiteral("SELECT ")
        sql.appendLiteral("\(1) + ")
        sql.appendInterpolation(2)
        #expect(try connection.answer(SQL(stringInterpolation: sql)) == .integer(3))
        #expect(SQL(stringInterpolation: sql).text == "SELECT 1 + $1")
        #expect(SQL(stringInterpolation: sql).shape == .ofRunTimeText)
        connection.close()
    }

    @Test("A prepared SQLite statement returns the columns of a schema changed since")
    func changedSchema() async throws {
        let path = try await Backend.sqlite.freshAddress()
        let writer = try Connection.forWriting(path)
        try writer.answer("CREATE TABLE t (a BIGINT)")
        try writer.answer("INSERT INTO t VALUES (1)")
        let reader = try Connection.forReading(path)
        let all: SQL = "SELECT * FROM t"
        #expect(
            try reader.run(reader.statement(all), all) { statement throws(StorageError) in try statement.rows() }.count
                == 1)
        try writer.answer("ALTER TABLE t ADD COLUMN b BIGINT DEFAULT 5")
        let row = try reader.run(reader.statement(all), all) { statement throws(StorageError) in try statement.rows() }
            .first
        #expect(try row?.get("b", as: Int.self) == 5)
        reader.close()
        writer.close()
    }

    @Test("A write that waits too long for another process's lock on the SQLite file fails as unavailable")
    func busy() async throws {
        let path = try await Backend.sqlite.freshAddress()
        let first = try Connection.forWriting(path)
        let second = try Connection(path, SQLITE_OPEN_READWRITE, patience: LockPatience(.zero))
        try first.run(.beginWriting)
        let error = #expect(throws: StorageError.self) { try second.run(.beginWriting) }
        #expect(error == .unavailable("database is locked"))
        try first.run(.rollBack)
        try second.run(.beginWriting)
        second.close()
        first.close()
    }

    @Test("A long wait for another process's lock on the SQLite file can be ended early")
    func endlessLock() async throws {
        let path = try await Backend.sqlite.freshAddress()
        let first = try Connection.forWriting(path)
        let patience = LockPatience(.seconds(600))
        let second = try Connection.forWriting(path, patience: patience)
        try first.run(.beginWriting)
        let ending = Thread {
            Thread.sleep(forTimeInterval: 0.2)
            patience.shorten(to: .zero)
        }
        ending.start()
        let error = #expect(throws: StorageError.self) { try second.run(.beginWriting) }
        #expect(error == .unavailable("database is locked"))
        second.close()
        first.close()
    }

    @Test("A shortened wait for an SQLite lock ends early each time, and gets the lock once it is free")
    func shortenedLock() async throws {
        let path = try await Backend.sqlite.freshAddress()
        let first = try Connection.forWriting(path)
        let patience = LockPatience(.seconds(600))
        let second = try Connection.forWriting(path, patience: patience)
        patience.shorten(to: .milliseconds(50))
        try first.run(.beginWriting)
        for _ in 0..<3 {
            #expect(throws: StorageError.unavailable("database is locked")) { try second.run(.beginWriting) }
        }
        try first.run(.rollBack)
        try second.run(.beginWriting)
        second.close()
        first.close()
    }

    @Test("Large texts are bound whole to an SQL statement, and so is a small one after them")
    func boundTexts() async throws {
        let connection = try Connection.forWriting(try await Backend.sqlite.freshAddress())
        for size in [0, 1, 65_535, 65_536, 65_537, 1_000_000, 3] {
            let text = String(repeating: "é", count: size)
            #expect(try connection.answer("SELECT \(text) || \("-") || \(text)") == .text(text + "-" + text))
        }
        connection.close()
    }
}
