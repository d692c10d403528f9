import Storage
import Synchronization

/// A database that counts the reads on the thread of their caller, and those beside it.
final class CountedReads: Database {
    private let base: any Database
    private let here = Mutex(0)
    private let elsewhere = Mutex(0)

    init(base: any Database) { self.base = base }

    var reads: Int { here.withLock(\.self) }
    var readsAside: Int { elsewhere.withLock(\.self) }

    func read<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value {
        here.withLock { $0 += 1 }
        return try await base.read(work)
    }

    func readAside<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        elsewhere.withLock { $0 += 1 }
        return try await base.readAside(work)
    }

    func write<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value {
        try await base.write(work)
    }

    func close() async { await base.close() }
}
