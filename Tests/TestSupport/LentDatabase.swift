import Foundation
import Storage
import Synchronization

/// A database that one test has. When nothing refers to it any more, a file is removed, and a database of PostgreSQL
/// goes to the next test: making one is slow.
final class LentDatabase: Database {
    let backend: Backend
    let address: String
    private let base: any Database
    private let isClosed = Mutex(false)
    /// Databases of PostgreSQL that no test has, with the content of the last one. Few, because each keeps its
    /// connections.
    private static let free = Mutex<[(address: String, database: any Database)]>([])
    private static let mostFree = 24

    private init(_ backend: Backend, _ address: String, _ base: any Database) {
        self.backend = backend
        self.address = address
        self.base = base
    }

    /// A database with the whole schema and `content`.
    static func take(_ backend: Backend, with content: Content) async throws -> LentDatabase {
        while case .postgresql = backend, let (address, database) = free.withLock({ $0.popLast() }) {
            // A test may have left rows that cannot be removed.
            guard (try? await content.fill(database)) != nil else {
                await database.close()
                continue
            }
            return LentDatabase(backend, address, database)
        }
        if case .file(let file) = content {
            let path = Backend.freshQuickPath()
            try FileManager.default.copyItem(atPath: file, toPath: path)
            return LentDatabase(backend, path, try await Backend.open(path))
        }
        let address = try await backend.copyOfSchema()
        let database = try await Backend.open(address)
        if case .rows = content { try await content.fill(database) }
        return LentDatabase(backend, address, database)
    }

    deinit {
        switch backend {
        case .postgresql:
            guard !isClosed.withLock(\.self) else { return }
            let (address, base) = (address, base)
            Self.free.withLock { if $0.count < Self.mostFree { $0.append((address, base)) } }
        case .sqlite:
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: address + suffix) }
        }
    }

    func close() async {
        isClosed.withLock { $0 = true }
        await base.close()
    }
}

extension LentDatabase {
    var hasRowIDs: Bool { base.hasRowIDs }

    func read<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value {
        try await base.read(work)
    }

    func scan<Value: Sendable>(
        for requester: Requester, _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await base.scan(for: requester, work)
    }

    func readAside<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await base.readAside(work)
    }

    func rows(_ sql: SQL) async throws -> [Row] { try await base.rows(sql) }

    func change(
        _ first: SQL, decided: SQL, then next: @escaping @Sendable (_ decided: SQL?) -> [SQL]
    ) async throws -> Bool {
        try await base.change(first, decided: decided, then: next)
    }

    func write<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value {
        try await base.write(work)
    }

    func guardedWrite<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await base.guardedWrite(work)
    }

    func inTurn<Value: Sendable>(of requester: Requester, _ change: () async throws -> Value) async throws -> Value {
        try await base.inTurn(of: requester, change)
    }

    func migrate<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value {
        try await base.migrate(work)
    }

    func confirmReady(_ check: @escaping @Sendable (any Transaction) throws -> Void) async throws {
        try await base.confirmReady(check)
    }

    func confirmRoom() async throws { try await base.confirmRoom() }

    func abandonWork(over time: Duration) {
        // It refuses work from now on, so no other test gets it.
        isClosed.withLock { $0 = true }
        base.abandonWork(over: time)
    }
}
