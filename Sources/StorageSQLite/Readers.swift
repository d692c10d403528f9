import CSQLite
import Storage
import Synchronization

/// A connection that only reads.
struct Reader: Sendable {
    private let connection: Connection

    init(_ path: String, _ files: OpenFiles, longestRead: Duration) throws(StorageError) {
        connection = try .forReading(path, files)
        connection.limitReads(to: longestRead)
    }

    /// Whether the last read has left its snapshot: a reader that kept it would return old rows forever.
    var isClean: Bool { !connection.isInTransaction }

    /// Runs `work` on one snapshot.
    func read<Value>(_ work: (any Transaction) throws -> Value) throws -> Value {
        try connection.run(.begin)
        connection.readBegins()
        let transaction = SQLiteTransaction(connection, .never)
        defer {
            transaction.end()
            // A transaction that only read has nothing to lose, so it does not matter if ending it fails.
            do { try connection.run(.commit) } catch { try? connection.run(.rollBack) }
        }
        return try work(transaction)
    }

    func close() { connection.close() }
}

/// Connections that only read, each used by one thread at a time.
///
/// A read runs on the calling thread, so there are as many readers in use as threads that read. The next one is taken
/// from the idle ones, or opened (docs/decisions/reads-on-the-calling-thread.md).
final class Readers: Sendable {
    private struct State {
        var idle: [Reader] = []
        var isClosed = false
    }

    private let path: String
    private let files: OpenFiles
    private let longestRead: Duration
    private let state = Mutex(State())

    init(_ path: String, _ files: OpenFiles, longestRead: Duration) {
        self.path = path
        self.files = files
        self.longestRead = longestRead
    }

    /// Opens one reader, so that an unreadable file fails at start.
    func openFirst() throws(StorageError) { giveBack(try take()) }

    /// Runs `work` on one snapshot of the database.
    func read<Value>(_ work: (any Transaction) throws -> Value) throws -> Value {
        let reader = try take()
        defer { giveBack(reader) }
        return try reader.read(work)
    }

    /// Closes idle readers at once, and each of the others after its read.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        for reader in idle { reader.close() }
    }

    private func take() throws(StorageError) -> Reader {
        let (reader, isClosed) = state.withLock { ($0.idle.popLast(), $0.isClosed) }
        guard !isClosed else { throw .unavailable("the database is closed") }
        if let reader { return reader }
        return try Reader(path, files, longestRead: longestRead)
    }

    private func giveBack(_ reader: Reader) {
        let isKept = state.withLock { state in
            let isKept = !state.isClosed && reader.isClean
            if isKept { state.idle.append(reader) }
            return isKept
        }
        if !isKept { reader.close() }
    }
}

/// Ends a read that takes too long: while it is open, a checkpoint cannot go beyond its snapshot.
///
/// SQLite calls this after each 100,000 steps of its virtual machine, some milliseconds. A look-up never gets that far,
/// and so never reads the clock.
final class ReadLimit {
    private static let stepsBetween: Int32 = 100_000

    private let longest: Duration
    private var since: ContinuousClock.Instant?

    init(_ longest: Duration, of connection: Connection) {
        self.longest = longest
        unsafe sqlite3_progress_handler(
            connection.handle, Self.stepsBetween,
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<ReadLimit>.fromOpaque(context).takeUnretainedValue().isOver() ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Starts the limit for a new read.
    func begin() { since = nil }

    private func isOver() -> Bool {
        guard let since else {
            since = .now
            return false
        }
        return .now - since > longest
    }
}
