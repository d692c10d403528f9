import Migrations
import TestSupport
import Testing

@testable import Storage

/// The schema's steps: forward only, each once, never altered.
@Suite struct MigratorTests {
    private static let first = Migration(
        version: 1, name: "first",
        script: """
            -- A comment; with a semicolon;
            CREATE TABLE notes (
                id BIGINT PRIMARY KEY, -- why
                text TEXT NOT NULL
            );
            CREATE INDEX notes_by_text ON notes (text);
            """)
    private static let second = Migration(
        version: 2, name: "second", script: "ALTER TABLE notes ADD COLUMN seen_at BIGINT;\n")
    private static let broken = Migration(
        version: 3, name: "broken", script: "CREATE TABLE more (id BIGINT PRIMARY KEY);\nCREATE NONSENSE;\n")

    @Test("The migrator gives an empty database the whole schema, once", arguments: Backend.available)
    func fromEmpty(_ backend: Backend) async throws {
        let database = try await backend.openEmpty()
        let migrator = Migrator(database: database, migrations: Migration.all)
        #expect(try await migrator.state() == .empty)
        #expect(try await migrator.migrate(at: 1) == Migration.all.map(\.version))
        #expect(try await migrator.state() == .current)
        #expect(try await migrator.migrate(at: 2) == [])
        let row = try await database.read { db in
            try db.rows("SELECT version, name, checksum, applied_at FROM schema_steps ORDER BY version").first
        }
        #expect(try row?.get("name", as: String.self) == Migration.all.first?.name)
        #expect(try row?.get("applied_at", as: Int.self) == 1)
    }

    @Test("The migrator gives a database with an older schema the missing schema steps", arguments: Backend.available)
    func behind(_ backend: Backend) async throws {
        let database = try await backend.openEmpty()
        try await Migrator(database: database, migrations: [Self.first]).migrate(at: 1)
        try await database.run("INSERT INTO notes (id, text) VALUES (\(1), \("kept"))")
        let migrator = Migrator(database: database, migrations: [Self.first, Self.second])
        #expect(try await migrator.state() == .behind([2]))
        #expect(try await migrator.migrate(at: 2) == [2])
        let row = try await database.read { try $0.rows("SELECT text, seen_at FROM notes").first }
        #expect(try row?.get("text", as: String.self) == "kept")
        #expect(try row?.get("seen_at", as: Int?.self) == nil)
    }

    @Test("The migrator refuses a database with an altered schema step or a newer schema", arguments: Backend.available)
    func refused(_ backend: Backend) async throws {
        let database = try await backend.openEmpty()
        try await Migrator(database: database, migrations: [Self.first, Self.second]).migrate(at: 1)
        let altered = Migration(version: 1, name: "first", script: Self.first.script + "\n-- altered")
        // Also if the database has more steps: it is not a newer Spindle's, whose first step would be ours.
        for known in [[altered, Self.second], [altered]] {
            let ours = Migrator(database: database, migrations: known)
            #expect(try await ours.state() == .altered(1))
            await #expect(throws: StorageError.self) { try await ours.migrate(at: 2) }
        }
        let old = Migrator(database: database, migrations: [Self.first])
        #expect(try await old.state() == .newer(2))
        await #expect(throws: StorageError.self) { try await old.migrate(at: 2) }
    }

    @Test("Schema steps leave out WITHOUT ROWID for an engine that has no row ids", arguments: Backend.available)
    func withoutRowIDs(_ backend: Backend) async throws {
        let database = try await backend.openEmpty()
        let script = "CREATE TABLE notes (\n    id TEXT PRIMARY KEY\n) WITHOUT ROWID;\n"
        let step = Migration(version: 1, name: "notes", script: script)
        #expect(step.statements(withRowIDs: false) == ["CREATE TABLE notes (\n    id TEXT PRIMARY KEY\n)"])
        #expect(try await Migrator(database: database, migrations: [step]).migrate(at: 1) == [1])
        try await database.run("INSERT INTO notes (id) VALUES ('kept')")
        #expect(try await database.rows("SELECT id FROM notes").count == 1)
        guard backend == .sqlite else { return }
        await #expect(throws: StorageError.self) { try await database.rows("SELECT rowid FROM notes") }
    }

    @Test(
        "A column declared COLLATE BINARY compares by bytes, whatever the database's collation is",
        arguments: Backend.available)
    func byBytes(_ backend: Backend) async throws {
        let database = try await backend.openEmpty()
        let step = Migration(
            version: 1, name: "notes", script: "CREATE TABLE notes (\n    text TEXT COLLATE BINARY PRIMARY KEY\n);\n")
        try await Migrator(database: database, migrations: [step]).migrate(at: 1)
        for text in ["b", "B", "_", "é", "ba"] { try await database.run("INSERT INTO notes (text) VALUES (\(text))") }
        let all = try await database.rows("SELECT text FROM notes ORDER BY text").map {
            try $0.get("text", as: String.self)
        }
        #expect(all == ["B", "_", "b", "ba", "é"])
        let some = try await database.rows("SELECT text FROM notes WHERE text >= \("b") AND text < \("b\u{10FFFF}")")
        #expect(some.count == 2)
    }

    @Test(
        "A schema step that fails leaves nothing of itself behind, and earlier steps stay",
        arguments: Backend.available)
    func failing(_ backend: Backend) async throws {
        let database = try await backend.openEmpty()
        let migrator = Migrator(database: database, migrations: [Self.first, Self.second, Self.broken])
        await #expect(throws: StorageError.self) { try await migrator.migrate(at: 1) }
        #expect(try await migrator.state() == .behind([3]))
        await #expect(throws: StorageError.self) { try await database.read { try $0.rows("SELECT id FROM more") } }
    }

    @Test("Servers that start together apply each schema step once", arguments: Backend.available)
    func together(_ backend: Backend) async throws {
        let address = try await backend.freshAddress()
        let applied = try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    let database = try await Backend.open(address)
                    return try await Migrator(database: database, migrations: Migration.all).migrate(at: 1)
                }
            }
            return try await group.reduce([], +)
        }
        // Chance decides which server made which step.
        #expect(applied.sorted() == Migration.all.map(\.version))
    }

    @Test("Deleting a parent row scans no child table: every foreign key has an index")
    func foreignKeys() async throws {
        let database = try await Backend.sqlite.open()
        let plans = try await database.read { db in
            let keys = try db.rows(
                """
                SELECT t.name AS child, k."from" AS child_column FROM sqlite_schema t
                JOIN pragma_foreign_key_list(t.name) k WHERE t.type = 'table'
                """)
            return try keys.map { key in
                // What SQLite runs for each parent row that goes (sqlite.org/foreignkeys.html, section 3).
                let child = try key.get("child", as: String.self)
                let column = try key.get("child_column", as: String.self)
                let plan = try db.rows(
                    SQL(script: "EXPLAIN QUERY PLAN SELECT 1 FROM \(child) WHERE \(column) = 'x'"))
                return (place: "\(child).\(column)", steps: try plan.map { try $0.get("detail", as: String.self) })
            }
        }
        #expect(plans.count > 10)
        for plan in plans {
            #expect(plan.steps.allSatisfy { $0.hasPrefix("SEARCH") }, "\(plan.place): \(plan.steps)")
        }
        await database.close()
    }
}
