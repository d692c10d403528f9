import CSQLite
import Glibc
public import Storage
import Synchronization
import Threads

/// One SQLite file: a single writer commits waiting work in groups, and a pool of readers reads snapshots.
public final class SQLiteDatabase: Database {
    private let readers: Readers
    private let writer: GroupCommit
    private let files: OpenFiles
    private let scans = RequesterTurns(most: 2, of: "lists and downloads")
    /// Used while the log is long.
    private let loneScans = RequesterTurns(most: 1, of: "lists and downloads")
    /// In bytes: twice its usual size (`Connection.forWriting`).
    private static let longLog: Int64 = 64 << 20
    /// Several, which share a commit.
    private let changes = RequesterTurns(most: 8, ofShare: 4, waiting: 128, of: "changes")

    private init(_ readers: Readers, _ writer: GroupCommit, _ files: OpenFiles) {
        self.readers = readers
        self.writer = writer
        self.files = files
    }

    deinit { writer.stop() }

    public var hasRowIDs: Bool { true }

    /// How many writes wait for the running commit.
    package var waitingWrites: Int { writer.waiting }

    /// Opens or creates the file at `path`, with WAL and `synchronous=FULL`.
    ///
    /// A read that takes `longestRead` is ended, like a statement on PostgreSQL.
    public static func open(path: String, longestRead: Duration = .seconds(30)) async throws -> SQLiteDatabase {
        let files = OpenFiles(path)
        let readers = Readers(path, files, longestRead: longestRead)
        // The writer's connection closes last: it moves the log into the file.
        let writer = try await GroupCommit.open(path, files, atEnd: readers.close)
        let database = SQLiteDatabase(readers, writer, files)
        try readers.openFirst()
        return database
    }

    /// Reads on the calling thread: a WAL snapshot never waits for a writer, and a hop to another thread costs more
    /// than the query (docs/decisions/reads-on-the-calling-thread.md).
    public func read<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try readers.read(work)
    }

    /// Reads on a separate thread, of which there are two at a time.
    ///
    /// The log can only begin anew when no read needs it. If two scans always overlap that never happens, so they run
    /// one by one once the log is long.
    public func scan<Value: Sendable>(
        for requester: Requester, _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await scans.run(for: requester) {
            guard files.logLength > Self.longLog else { return try await readAside(work) }
            return try await loneScans.run(for: requester) {
                try await withWriter { connection throws(StorageError) in
                    // Moves all of it into the file; no scan prevents that now.
                    _ = try? connection.answer("PRAGMA wal_checkpoint(PASSIVE)")
                }
                return try await readAside(work)
            }
        }
    }

    public func readAside<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        do {
            return try await SystemThread.run(named: "spindle-scan") { [readers] in try readers.read(work) }
        } catch let none as SystemThread.Unavailable {
            throw StorageError.unavailable("\(none)")
        }
    }

    public func write<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        let value = Mutex<Value?>(nil)
        try await withCheckedThrowingContinuation { (caller: CheckedContinuation<Void, any Error>) in
            writer.enqueue(
                GroupMember(
                    work: { transaction in
                        let made = try work(transaction)
                        value.withLock { $0 = made }
                    }, caller: caller))
        }
        guard let value = value.withLock({ $0 }) else { throw StorageError.unavailable("a write without a result") }
        return value
    }

    public func inTurn<Value: Sendable>(
        of requester: Requester, _ change: () async throws -> Value
    ) async throws -> Value {
        try await changes.run(for: requester, change)
    }

    public func confirmReady(_ check: @escaping @Sendable (any Transaction) throws -> Void) async throws {
        try files.confirm()
        try readers.read { db in
            try Self.askSchema(db)
            try check(db)
        }
    }

    public func confirmRoom() async throws {
        try await writer.doubt.settle {
            // A failed commit leaves the log longer, so there is always room for the page of the trial.
            try files.confirmRoom()
            try await withWriter { connection throws(StorageError) in try connection.tryWriting() }
        }
    }

    public func abandonWork(over time: Duration) {
        scans.close()
        loneScans.close()
        changes.close()
        writer.waitForLocks(atMost: time)
    }

    public func close() async {
        writer.stop()
        await writer.ended()
    }

    /// The value of a pragma on the writer's connection, for the durability test.
    public func writerPragma(_ name: StaticString) async throws -> Int64 {
        try await withWriter { connection throws(StorageError) in
            guard case .integer(let number) = try connection.answer(SQL(script: "PRAGMA \(name)")) else { return -1 }
            return number
        }
    }

    /// Writes a consistent copy to `path`, which must not exist, while the server runs.
    public func copy(to path: String) async throws {
        // SQLite reads a name that begins with `file:` as a URI.
        let path = path.hasPrefix("/") ? path : "./" + path
        try await withWriter { connection throws(StorageError) in _ = try connection.answer("VACUUM INTO \(path)") }
    }

    /// Runs `work` on the writer's thread, outside any transaction.
    private func withWriter<Value: Sendable>(
        _ work: @escaping @Sendable (Connection) throws(StorageError) -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { caller in
            let isTaken = writer.enqueue { connection in caller.resume(with: Result { try work(connection) }) }
            if !isTaken { caller.resume(throwing: StorageError.unavailable("the database is closing")) }
        }
    }
}

extension SQLiteDatabase {
    /// The names of the tables in the file at `path`. The file is not changed, except that SQLite rolls back what a
    /// killed process left unfinished, which a reader may not do.
    public static func tables(in path: String) throws -> Set<String> {
        do {
            return try readTables(in: path)
        } catch let error as StorageError {
            guard case .unavailable = error, unsafe access(path + "-journal", F_OK) == 0 else { throw error }
            let connection = try Connection(path, SQLITE_OPEN_READWRITE, patience: LockPatience(.milliseconds(500)))
            defer { connection.close() }
            try connection.answer("PRAGMA schema_version")
            return try readTables(in: path)
        }
    }

    private static func readTables(in path: String) throws -> Set<String> {
        let reader = try Reader(path, OpenFiles(path), longestRead: .seconds(30))
        defer { reader.close() }
        return try reader.read { db in
            let rows = try db.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
            return Set(try rows.map { try $0.get("name", as: String.self) })
        }
    }
}
