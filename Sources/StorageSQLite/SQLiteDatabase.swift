import GRDB
public import Storage

/// One file, written by one writer that gathers what waits into one durable commit, read by a pool of snapshots.
public final class SQLiteDatabase: Storage.Database {
    /// Only its writer is used; see `Readers`.
    private let pool: DatabasePool
    private let readers: Readers
    private let writer: GroupCommit

    /// Opens or creates the file at `path`, with WAL and `synchronous=FULL`.
    public static func open(path: String) async throws -> SQLiteDatabase {
        try SQLiteDatabase(path: path)
    }

    private init(path: String) throws {
        var configuration = GRDB.Configuration()
        configuration.foreignKeysEnabled = true
        // Another process (a command, a backup) may hold the write lock for a moment.
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA cache_size = -16000")
        }
        do {
            pool = try DatabasePool(path: path, configuration: configuration)
            try pool.writeWithoutTransaction { db in
                // GRDB's pool sets NORMAL on its writer after `prepareDatabase`: with it a power cut could take back
                // a token that was already answered.
                try db.execute(sql: "PRAGMA synchronous = FULL")
                // Checkpoints sync the whole file: fewer of them, and still a WAL of some 32 MiB at most.
                try db.execute(sql: "PRAGMA wal_autocheckpoint = 8000")
                // Where the savepoints of a group keep the pages as they were: on disk that was half of all writes.
                try db.execute(sql: "PRAGMA temp_store = MEMORY")
                let level = try Int.fetchOne(db, sql: "PRAGMA synchronous")
                guard level == 2 else { throw StorageError.unavailable("SQLite refused synchronous=FULL") }
            }
            readers = try Readers(path: path, configuration: configuration)
        } catch let error as DatabaseError {
            throw StorageError(error)
        }
        writer = GroupCommit(pool: pool)
    }

    public func read<Value: Sendable>(
        _ work: @escaping @Sendable (any Storage.Transaction) throws -> Value
    ) async throws -> Value {
        try readHere(work)
    }

    /// Reads on the calling thread: a snapshot in WAL waits for nobody, and a hop to another thread costs more than
    /// the query (docs/decisions/reads-on-the-calling-thread.md).
    private func readHere<Value>(_ work: (any Storage.Transaction) throws -> Value) throws -> Value {
        do {
            return try readers.read(work)
        } catch let error as DatabaseError {
            throw StorageError(error)
        }
    }

    public func write<Value: Sendable>(
        _ work: @escaping @Sendable (any Storage.Transaction) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            writer.enqueue(PendingWrite(work: work, continuation: continuation))
        }
    }

    public func close() async {
        await writer.stop()
        readers.close()
        foldLog()
        try? pool.close()
    }

    /// Brings what the log holds into the database file, so that an operator who copies only that file has it all.
    private func foldLog() {
        try? pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
    }

    /// The value of a pragma on the writer's connection: what the durability test reads back.
    public func writerPragma(_ name: StaticString) async throws -> Int64 {
        try writerPragmaHere("\(name)")
    }

    private func writerPragmaHere(_ name: String) throws -> Int64 {
        try pool.writeWithoutTransaction { try Int64.fetchOne($0, sql: "PRAGMA \(name)") ?? -1 }
    }

    /// Writes a consistent copy to `path`, which must not exist, while the server runs.
    public func copy(to path: String) async throws {
        try await write { _ in }
        try copyHere(to: path)
    }

    private func copyHere(to path: String) throws {
        do {
            try pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        } catch let error as DatabaseError {
            throw StorageError(error)
        }
    }
}
