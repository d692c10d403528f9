public import Storage
import Synchronization

/// A database that lets a test change stored data between a request's checks and its writes.
public final class InterruptedDatabase: Database {
    public typealias Change = @Sendable () async throws -> Void

    private let database: any Database
    private let next = Mutex<(countdown: Int, change: Change)?>(nil)

    init(_ database: any Database) { self.database = database }

    /// Runs `change` once, before the `count`th write from now on. Its own writes are not counted. An error that it
    /// throws is thrown by that write.
    public func interrupt(beforeWrite count: Int = 1, _ change: @escaping Change) {
        next.withLock { $0 = (count, change) }
    }

    /// Whether the requested change has run.
    public var wasInterrupted: Bool { next.withLock { $0 == nil } }

    public func read<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await database.read(work)
    }

    public func write<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        let change: Change? = next.withLock { next in
            guard let waiting = next else { return nil }
            next = waiting.countdown > 1 ? (waiting.countdown - 1, waiting.change) : nil
            return waiting.countdown > 1 ? nil : waiting.change
        }
        try await change?()
        return try await database.write(work)
    }

    public func close() async { await database.close() }
}
