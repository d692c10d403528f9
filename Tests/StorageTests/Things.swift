import Storage
import TestSupport

extension Backend {
    /// A new database with two small tables.
    func openThings() async throws -> any Database {
        let database = try await openEmpty()
        try await database.createThings()
        return database
    }
}

extension Database {
    func createThings() async throws {
        try await write { db in
            try db.execute(
                """
                CREATE TABLE things (
                    id BIGINT PRIMARY KEY, name TEXT UNIQUE, number BIGINT, text TEXT,
                    flag BIGINT CHECK (flag IN (0, 1)), winner BIGINT)
                """)
            try db.execute(
                """
                CREATE TABLE parts (
                    id BIGINT PRIMARY KEY, thing_id BIGINT NOT NULL REFERENCES things (id) ON DELETE CASCADE,
                    ended_at BIGINT)
                """)
            try db.execute("CREATE UNIQUE INDEX parts_live ON parts (thing_id) WHERE ended_at IS NULL")
        }
    }

    /// Runs one statement in its own transaction.
    @discardableResult func run(_ sql: SQL) async throws -> Int { try await write { try $0.execute(sql) } }

    func countThings() async throws -> Int {
        try await read { try $0.rows("SELECT count(*) AS n FROM things").first?.get("n") ?? -1 }
    }

    func number(of id: Int) async throws -> Int? {
        try await read { try $0.rows("SELECT number FROM things WHERE id = \(id)").first?.get("number") }
    }
}

extension StorageError {
    /// The name of the case.
    var kind: String {
        switch self {
        case .conflict: "conflict"
        case .constraint: "constraint"
        case .rejected: "rejected"
        case .holdsNUL: "holds NUL"
        case .unavailable: "unavailable"
        case .tooMany: "too many"
        case .noTable: "no table"
        case .unopened: "unopened"
        case .unreadable: "unreadable"
        case .unsuitable: "unsuitable"
        }
    }
}
