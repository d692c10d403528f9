import CSQLite
import Foundation
import Storage
import TestSupport
import Testing

@testable import StorageSQLite

/// What a connection keeps between statements.
@Suite struct SQLiteConnectionTests {
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

    @Test("Text composed at run time is prepared for each run")
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

    @Test("A prepared statement sees a changed schema")
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

    @Test("Another process's write lock is waited for, then reported as unavailable")
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

    @Test("A wait for another process's write lock can be ended")
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

    @Test("A wait for a lock whose time was shortened ends early each time, and gets the lock once it is free")
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

    @Test("Large texts and many are bound whole, and a small one after them")
    func boundTexts() async throws {
        let connection = try Connection.forWriting(try await Backend.sqlite.freshAddress())
        for size in [0, 1, 65_535, 65_536, 65_537, 1_000_000, 3] {
            let text = String(repeating: "é", count: size)
            #expect(try connection.answer("SELECT \(text) || \("-") || \(text)") == .text(text + "-" + text))
        }
        connection.close()
    }
}
