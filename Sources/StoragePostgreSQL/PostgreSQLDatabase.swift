import Foundation
public import Storage

/// PostgreSQL through the system's libpq: a pool of connections, each owned by a thread of its own.
///
/// `write` is SERIALIZABLE and answers after COMMIT was acknowledged. Its closure runs again after a serialization
/// failure, after a connection was lost, and after a COMMIT whose outcome is unknown.
public final class PostgreSQLDatabase: Database {
    private let queue: WorkQueue

    private init(queue: WorkQueue) { self.queue = queue }

    deinit { queue.close() }

    /// Connects to `url`, which is `postgresql://…` or libpq's `key=value` form.
    ///
    /// One connection is made at once, so that a wrong address shows here; the others when work needs them.
    public static func open(url: String, connections: Int = 16) async throws -> PostgreSQLDatabase {
        let address = try ServerAddress(url)
        let queue = WorkQueue(threads: connections)
        let turn = NSLock()
        for number in 0..<connections {
            let thread = Thread {
                let session = Session(address: address, turn: turn)
                while let work = queue.next() { work(session) }
                session.disconnect()
                queue.threadEnded()
            }
            thread.name = "postgresql-\(number)"
            thread.start()
        }
        let database = PostgreSQLDatabase(queue: queue)
        try await database.perform { session in try session.connect() }
        return database
    }

    public func read<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await perform { session in try session.run(.read, work) }
    }

    public func write<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await perform { session in try session.run(.write, work) }
    }

    public func close() async {
        queue.close()
        await queue.ended()
    }

    private func perform<Value: Sendable>(_ job: @escaping @Sendable (Session) throws -> Value) async throws -> Value {
        // A continuation does not hear of cancellation: a transaction once begun ends by its own rules, not the caller's.
        try await withCheckedThrowingContinuation { continuation in
            do {
                try queue.add { session in continuation.resume(with: Result { try job(session) }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
