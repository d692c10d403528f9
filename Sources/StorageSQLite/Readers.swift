import Foundation
import GRDB
import Storage
import Synchronization

/// Connections that only read, each used by one thread at a time.
///
/// A read runs on the thread that asks for it, so as many are in use as there are threads that run: the next one is
/// taken from the idle ones, or opened. GRDB's own pool would do the same with three more locks and a prepared BEGIN
/// and COMMIT for each read, which cost more than the query (docs/decisions/reads-on-the-calling-thread.md).
final class Readers: Sendable {
    private struct State {
        var idle: [DatabaseQueue] = []
        var isClosed = false
    }

    private let path: String
    private let configuration: Configuration
    private let state = Mutex(State())

    init(path: String, configuration: Configuration) throws {
        self.path = path
        var configuration = configuration
        configuration.readonly = true
        self.configuration = configuration
        // One now, so that a file that cannot be read is told at the start.
        let first = try DatabaseQueue(path: path, configuration: configuration)
        state.withLock { $0.idle.append(first) }
    }

    /// Runs `work` on one snapshot of the database.
    func read<Value>(_ work: (any Storage.Transaction) throws -> Value) throws -> Value {
        let reader = try take()
        defer { giveBack(reader) }
        return try reader.unsafeRead { db in
            try db.run("BEGIN")
            // A transaction that only read has nothing to lose: ending it cannot fail in a way that matters.
            defer { try? db.run("COMMIT") }
            return try work(SQLiteTransaction(db: db))
        }
    }

    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        for reader in idle { try? reader.close() }
    }

    private func take() throws -> DatabaseQueue {
        let (reader, isClosed) = state.withLock { ($0.idle.popLast(), $0.isClosed) }
        guard !isClosed else { throw StorageError.unavailable("the database is closed") }
        return try reader ?? DatabaseQueue(path: path, configuration: configuration)
    }

    private func giveBack(_ reader: DatabaseQueue) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.idle.append(reader) }
            return state.isClosed
        }
        if isClosed { try? reader.close() }
    }
}
