import Storage

/// Lends databases with the whole schema to one test after another. Their number is limited, so that no test waits for
/// another's connections. PostgreSQL databases are emptied and reused, because creating one is slow.
actor DatabaseLoans {
    private static let first = [
        Backend.sqlite: DatabaseLoans(.sqlite, most: 6), .postgresql: DatabaseLoans(.postgresql, most: 6),
    ]
    private static let second = [
        Backend.sqlite: DatabaseLoans(.sqlite, most: 3), .postgresql: DatabaseLoans(.postgresql, most: 3),
    ]
    /// Whether this test has a database already. A second one comes from a separate pool: tests that each hold one and
    /// wait for another would wait for each other.
    @TaskLocal static var isSecond = false

    private let backend: Backend
    private let most: Int
    private var free: [any Database] = []
    private var lent = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private init(_ backend: Backend, most: Int) {
        self.backend = backend
        self.most = most
    }

    static func of(_ backend: Backend) -> DatabaseLoans {
        guard let loans = (isSecond ? second : first)[backend] else { preconditionFailure("no loans of \(backend)") }
        return loans
    }

    /// Takes an empty database, which must be given back.
    func take() async throws -> any Database {
        if lent < most {
            lent += 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
        do {
            if let database = free.popLast() { return database }
            return try await backend.open()
        } catch {
            release()
            throw error
        }
    }

    func giveBack(_ database: any Database) async {
        if backend == .postgresql, (try? await empty(database)) != nil {
            free.append(database)
        } else {
            await database.close()
        }
        release()
    }

    /// Hands the free place to the next waiting test.
    private func release() {
        guard let next = waiting.first else {
            lent -= 1
            return
        }
        waiting.removeFirst()
        next.resume()
    }

    /// Deletes all rows. TRUNCATE makes a new file for each table and index, which takes as long as a test does: so it
    /// is for many rows only.
    private func empty(_ database: any Database) async throws {
        try await database.write { db in
            let tables = try db.rows(
                """
                SELECT tablename, pg_relation_size(quote_ident(tablename)::regclass) AS size
                FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_steps'
                """)
            let names: [String] = try tables.map { try $0.get("tablename") }
            let sizes: [Int64] = try tables.map { try $0.get("size") }
            guard sizes.allSatisfy({ $0 < 1 << 19 }) else {
                _ = try db.execute(SQL(script: "TRUNCATE \(names.joined(separator: ", "))"))
                return
            }
            // Without asking the foreign keys, in whatever order.
            try db.enqueue("SET LOCAL session_replication_role = replica")
            for name in names { try db.enqueue(SQL(script: "DELETE FROM \(name)")) }
        }
    }
}
