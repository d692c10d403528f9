import Storage
import Synchronization

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
