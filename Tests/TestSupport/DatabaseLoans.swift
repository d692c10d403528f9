import Storage

/// Lends databases with the whole schema to one test after another: so many tests at once that none waits for another's
/// connections, and on PostgreSQL each database many times, emptied in between, because making one is dear.
actor DatabaseLoans {
    private static let sqlite = DatabaseLoans(.sqlite)
    private static let postgresql = DatabaseLoans(.postgresql)
    private static let most = 6

    private let backend: Backend
    private var free: [any Database] = []
    private var lent = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private init(_ backend: Backend) { self.backend = backend }

    static func of(_ backend: Backend) -> DatabaseLoans { backend == .sqlite ? sqlite : postgresql }

    /// An empty database; give it back.
    func take() async throws -> any Database {
        if lent < Self.most {
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

    /// Hands the place on to who waits.
    private func release() {
        guard let next = waiting.first else {
            lent -= 1
            return
        }
        waiting.removeFirst()
        next.resume()
    }

    private func empty(_ database: any Database) async throws {
        try await database.write { db in
            let tables: [String] = try db.rows(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_steps'"
            ).map { try $0.get("tablename") }
            _ = try db.execute(SQL(script: "TRUNCATE \(tables.joined(separator: ", "))"))
        }
    }
}
