import Synchronization

/// The interface to both database engines.
///
/// Work is synchronous on purpose: a transaction cannot wait for the network while it holds a lock. It contains only
/// SQL and pure decisions, so it may run twice: PostgreSQL repeats a whole closure after a serialization failure, or
/// after a COMMIT of unknown outcome. Inserts of values that the caller made therefore use ON CONFLICT DO NOTHING.
public protocol Database: Sendable {
    /// Whether tables are ordered by row ids, with a separate index for their primary key.
    var hasRowIDs: Bool { get }

    /// Runs `work` on one consistent snapshot. It must not change anything.
    func read<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value

    /// Like `read`, for long work such as a list, a search or an export. It blocks no thread that serves requests, and
    /// requesters take turns. Throws `unavailable` when too much waits.
    func scan<Value: Sendable>(
        for requester: Requester, _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value

    /// Like `read`, for work that may take as long as hundreds of requests: it blocks no thread that serves them. The
    /// caller lets only a few run at once.
    func readAside<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value

    /// The rows of one SELECT, which is its own snapshot. On a server across a network, those of several callers are
    /// sent together.
    func rows(_ sql: SQL) async throws -> [Row]

    /// Runs `first`, and what `next` returns if that changed a row, in one transaction. Returns whether it did, once
    /// all is on disk.
    ///
    /// A server across a network gets everything at once, together with that of other callers in the same transaction.
    /// Then the statements of `next` must only act under the condition `decided` that they are given, which only
    /// `first` can have made true. It is nil where they run only after `first` succeeded. If another transaction holds
    /// a row, the group waits a tenth of a second, and then each runs by itself.
    func change(
        _ first: SQL, decided: SQL, then next: @escaping @Sendable (_ decided: SQL?) -> [SQL]
    ) async throws -> Bool

    /// Runs `work` in a transaction and returns when its changes are on disk. A thrown error undoes all of them.
    @discardableResult
    func write<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value

    /// Like `write`, for work whose outcome is decided by one row that it changes: everything that ends or spends what
    /// the work has read changes that row too, or makes what the work stores worthless
    /// (docs/decisions/libpq-and-serializable.md).
    @discardableResult
    func guardedWrite<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value

    /// Runs `change`, which writes for `requester`, in its turn: a requester with many changes waits only for itself,
    /// and other writes wait for a few of them at most. Throws `unavailable` when too much waits.
    func inTurn<Value: Sendable>(
        of requester: Requester, _ change: () async throws -> Value
    ) async throws -> Value

    /// Like `write`, for a step of the schema, which may take as long as `scan`.
    func migrate<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value

    /// Throws when no request can be served, or when `check` throws. For a load balancer's check whether to send
    /// requests here.
    func confirmReady(_ check: @escaping @Sendable (any Transaction) throws -> Void) async throws

    /// Throws when no change can be stored, for example on a full disk. It costs nothing until a change has been
    /// refused; then it tries one that changes nothing (`WriteDoubt`).
    func confirmRoom() async throws

    /// From now on refuses work, even work in progress, that takes longer than `time`, or waits that long for a lock,
    /// because the process is about to end. Other work is done as before.
    func abandonWork(over time: Duration)

    /// Finishes running work and releases the engine. A server across a network gets some seconds for that, or a moment
    /// after `abandonWork`.
    func close() async
}

extension Database {
    public var hasRowIDs: Bool { false }

    public func confirmReady(_ check: @escaping @Sendable (any Transaction) throws -> Void) async throws {
        try await read { db in
            try Self.askSchema(db)
            try check(db)
        }
    }

    public func confirmRoom() async throws {}

    /// The same without a further check.
    public func confirmReady() async throws { try await confirmReady { _ in } }

    /// Reads a page of the database, which `SELECT 1` alone would not.
    @Sendable public static func askSchema(_ db: any Transaction) throws {
        _ = try db.rows("SELECT version FROM schema_steps ORDER BY version DESC LIMIT 1")
    }

    public func migrate<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await write(work)
    }

    public func guardedWrite<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await write(work)
    }

    public func rows(_ sql: SQL) async throws -> [Row] { try await read { db in try db.rows(sql) } }

    public func change(
        _ first: SQL, decided: SQL, then next: @escaping @Sendable (_ decided: SQL?) -> [SQL]
    ) async throws -> Bool {
        try await guardedWrite { db in
            guard try db.execute(first) > 0 else { return false }
            for sql in next(nil) { try db.enqueue(sql) }
            return true
        }
    }

    /// Runs a single statement. Returns whether it changed a row, once that is on disk.
    @discardableResult public func change(_ sql: SQL) async throws -> Bool {
        try await change(sql, decided: .always) { _ in [] }
    }

    public func abandonWork(over time: Duration) {}

    public func scan<Value: Sendable>(
        for requester: Requester, _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await read(work)
    }

    public func readAside<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await read(work)
    }

    public func inTurn<Value: Sendable>(
        of requester: Requester, _ change: () async throws -> Value
    ) async throws -> Value {
        try await change()
    }
}

/// An open transaction, valid only inside its closure.
public protocol Transaction {
    func rows(_ sql: SQL) throws -> [Row]

    /// Runs `sql` and returns how many rows it changed.
    @discardableResult func execute(_ sql: SQL) throws -> Int

    /// Runs `sql`, whose result is not needed, by the end of the transaction. A server across a network gets it
    /// together with the next statement, or with COMMIT; an error then comes from there.
    func enqueue(_ sql: SQL) throws

    /// Runs `sql`, an UPDATE that changes nothing, on an engine with concurrent transactions: if another one changes
    /// the row at the same time, one of the two runs again. With a single writer there is nothing to do.
    func hold(_ sql: SQL) throws
}

extension Transaction {
    public func enqueue(_ sql: SQL) throws { try execute(sql) }

    public func hold(_ sql: SQL) throws {}
}

/// Errors that both engines have in common.
public enum StorageError: Error, Sendable, Equatable {
    /// A unique index or primary key refused the row.
    case conflict(String)
    /// A foreign key refused the row: the row it refers to does not exist.
    case constraint(String)
    /// A CHECK or NOT NULL refused the row: an input value was not validated.
    case rejected(String)
    /// A text contains U+0000, which no engine stores: an input value was not validated.
    case holdsNUL
    /// The engine cannot be reached or is full; trying again later may help.
    case unavailable(String)
    /// Too much of this kind waits for its turn; the engine is well (`RequesterTurns`).
    case tooMany(String)
    /// There is no table of this name.
    case noTable(String)
    /// The database was created with settings that cannot store our data; its operator must create another.
    case unsuitable(String)
    /// A sealed value does not open under the master key of this process: the database has another key by now, or was
    /// altered.
    case unopened(String)
    /// A statement, a schema or a stored value is not what the code expects: a bug or an altered database.
    case unreadable(String)
}

/// Whether the engine has refused a change for a reason that may persist, such as a full disk.
///
/// Later changes that succeed do not settle it: a small one may find room where a larger one does not. Only a trial
/// does. It runs when a load balancer asks, so that a server becomes ready again even if it is sent no changes.
public final class WriteDoubt: Sendable {
    private let isRaised = Atomic(false)

    public init() {}

    /// Notes a refused change.
    public func raise() { isRaised.store(true, ordering: .relaxed) }

    /// Calls `trial` if a change has been refused since it last succeeded.
    public func settle(by trial: () async throws -> Void) async throws {
        // Cleared first: a change that is refused meanwhile raises it again.
        guard isRaised.exchange(false, ordering: .relaxed) else { return }
        do {
            try await trial()
        } catch {
            raise()
            throw error
        }
    }
}
