public import Storage
import Synchronization

/// A database that lets a test change stored data between a request's checks and its writes.
public final class InterruptedDatabase: Database {
    public typealias Change = @Sendable () async throws -> Void

    private let database: any Database
    private let next = Mutex<(countdown: Int, change: Change)?>(nil)
    private let outcomes = Mutex(false)
    private let statements = Mutex(0)
    private let counted = Mutex(0)

    init(_ database: any Database) { self.database = database }

    /// Runs `change` once, before the `count`th write of a request from now on. Its own writes and those in the
    /// background are not counted. That write throws the error that `change` throws.
    public func interrupt(beforeWrite count: Int = 1, _ change: @escaping Change) {
        next.withLock { $0 = (count, change) }
    }

    /// Whether the requested change has run.
    public var wasInterrupted: Bool { next.withLock { $0 == nil } }

    /// Whether the outcome of every COMMIT is unknown: it happened, and the closure runs again.
    public var forgetsOutcomes: Bool {
        get { outcomes.withLock(\.self) }
        set { outcomes.withLock { $0 = newValue } }
    }

    /// How many statements the writes of requests have run so far; those in the background come at any time.
    public var statementsWritten: Int { statements.withLock(\.self) }

    /// How many rows the reads of requests have returned so far.
    public var rowsRead: Int { counted.withLock(\.self) }

    public func confirmRoom() async throws { try await database.confirmRoom() }

    public func read<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await database.read { [self] db in
            try work(Reading(base: db) { count in self.counted.withLock { $0 += count } })
        }
    }

    public func write<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await write(work, by: database.write)
    }

    private func write<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value,
        by engine: (@escaping @Sendable (any Transaction) throws -> Value) async throws -> Value
    ) async throws -> Value {
        let isOfRequest = try await beginsRequestsWrite()
        let counted: @Sendable (any Transaction) throws -> Value = { [self] db in
            try work(Counted(base: db) { self.statements.withLock { $0 += isOfRequest ? 1 : 0 } })
        }
        if forgetsOutcomes { _ = try await engine(counted) }
        return try await engine(counted)
    }

    public func guardedWrite<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await write(work, by: database.guardedWrite)
    }

    public func change(
        _ first: SQL, decided: SQL, then next: @escaping @Sendable (_ decided: SQL?) -> [SQL]
    ) async throws -> Bool {
        if try await beginsRequestsWrite() { statements.withLock { $0 += 1 + next(decided).count } }
        if forgetsOutcomes { _ = try await database.change(first, decided: decided, then: next) }
        return try await database.change(first, decided: decided, then: next)
    }

    /// Whether the write that begins is a request's. Runs the requested change before it.
    private func beginsRequestsWrite() async throws -> Bool {
        // A request runs on the thread of its connection.
        let isOfRequest = withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }
        let change: Change? = next.withLock { next in
            guard isOfRequest, let waiting = next else { return nil }
            next = waiting.countdown > 1 ? (waiting.countdown - 1, waiting.change) : nil
            return waiting.countdown > 1 ? nil : waiting.change
        }
        try await change?()
        return isOfRequest
    }

    public func inTurn<Value: Sendable>(
        of requester: Requester, _ change: () async throws -> Value
    ) async throws -> Value {
        try await database.inTurn(of: requester, change)
    }

    private struct Counted: Transaction {
        let base: any Transaction
        let count: () -> Void

        func rows(_ sql: SQL) throws -> [Row] {
            count()
            return try base.rows(sql)
        }
        func execute(_ sql: SQL) throws -> Int {
            count()
            return try base.execute(sql)
        }
        func enqueue(_ sql: SQL) throws {
            count()
            try base.enqueue(sql)
        }
        func hold(_ sql: SQL) throws { try base.hold(sql) }
    }

    private struct Reading: Transaction {
        let base: any Transaction
        let count: (Int) -> Void

        func rows(_ sql: SQL) throws -> [Row] {
            let rows = try base.rows(sql)
            count(rows.count)
            return rows
        }
        func execute(_ sql: SQL) throws -> Int { try base.execute(sql) }
    }

    public func close() async { await database.close() }
}
