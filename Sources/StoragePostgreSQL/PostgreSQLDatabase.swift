import Foundation
public import Storage
import Threads

/// PostgreSQL through the system's libpq: a pool of connections, each owned by its own thread.
///
/// `write` is SERIALIZABLE and returns after COMMIT was acknowledged. Its closure runs again after a serialization
/// failure, after a lost connection, and after a COMMIT of unknown outcome.
public final class PostgreSQLDatabase: Database {
    private let queue: WorkQueue

    private init(queue: WorkQueue) { self.queue = queue }

    deinit { queue.close() }

    /// Connects to `url`, which is `postgresql://…` or libpq's `key=value` form.
    ///
    /// One connection is made at once, so that a wrong address fails here; the others are made when work needs them.
    /// Work that has waited `patience` for a connection is refused: its caller has gone by then.
    public static func open(
        url: String, connections: Int = 16, patience: Duration = .seconds(5)
    ) async throws -> PostgreSQLDatabase {
        let address = try ServerAddress(url)
        let queue = WorkQueue(threads: connections, patience: patience)
        do throws(SystemThread.Unavailable) {
            try startThreads(connections, for: queue, address)
        } catch {
            queue.close()
            throw StorageError.unavailable("\(error)")
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

    private static func startThreads(
        _ connections: Int, for queue: WorkQueue, _ address: ServerAddress
    ) throws(SystemThread.Unavailable) {
        let turn = NSLock()
        let gate = ConnectGate()
        for number in 0..<connections {
            try SystemThread.start(named: "postgresql-\(number)") {
                let session = Session(address: address, turn: turn, door: gate)
                session.waitForTurn()
                while let work = queue.next() {
                    work.run(session)
                    session.waitForTurn()
                }
                session.disconnect()
                queue.threadEnded()
            }
        }
        // All other threads may be waiting for a server that does not answer.
        try SystemThread.start(named: "postgresql-late") {
            while queue.refuseOverdue() { Thread.sleep(forTimeInterval: 0.25) }
        }
    }

    private func perform<Value: Sendable>(_ job: @escaping @Sendable (Session) throws -> Value) async throws -> Value {
        // A continuation ignores cancellation: a transaction that has begun ends by its own rules, not the caller's.
        try await withCheckedThrowingContinuation { continuation in
            do {
                try queue.add(
                    WorkQueue.Work(
                        run: { session in continuation.resume(with: Result { try job(session) }) },
                        refuse: { continuation.resume(throwing: $0) }))
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
