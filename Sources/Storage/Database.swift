/// The whole seam between two engines.
///
/// The work is synchronous on purpose: a transaction cannot await the network while it holds a lock. It holds only SQL
/// and pure decisions, so that it may run twice (PostgreSQL retries a whole closure after a serialization failure, or
/// after a COMMIT whose outcome is unknown). Inserts of values the caller made therefore say ON CONFLICT DO NOTHING.
public protocol Database: Sendable {
    /// Runs `work` on one consistent snapshot. It must not change anything.
    func read<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value

    /// The same, for what may take long: a list, a search, an export. It holds up no thread that serves requests.
    func scan<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value

    /// Runs `work` in a transaction and returns when what it did is on disk. A thrown error undoes all of it.
    @discardableResult
    func write<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value

    /// Throws when nobody can be served: for who asks whether to send requests here.
    func confirmReady() async throws

    /// Finishes what is running and releases the engine.
    func close() async
}

extension Database {
    public func confirmReady() async throws { try await read(Self.askSchema) }

    /// Reads a page of the database, which `SELECT 1` alone would not.
    @Sendable public static func askSchema(_ db: any Transaction) throws {
        _ = try db.rows("SELECT version FROM schema_steps ORDER BY version DESC LIMIT 1")
    }

    /// An engine whose reads wait for the network holds up nobody.
    public func scan<Value: Sendable>(
        _ work: @escaping @Sendable (any Transaction) throws -> Value
    ) async throws -> Value {
        try await read(work)
    }
}

/// An open transaction: valid only inside the closure it was handed to.
public protocol Transaction {
    func rows(_ sql: SQL) throws -> [Row]

    /// Runs `sql` and returns how many rows it changed.
    @discardableResult func execute(_ sql: SQL) throws -> Int
}

/// What an engine can refuse, in words common to both.
public enum StorageError: Error, Sendable, Equatable {
    /// A unique index or primary key refused the row.
    case conflict(String)
    /// A foreign key refused the row: what it stands on is not there.
    case constraint(String)
    /// A CHECK or NOT NULL refused the row: nobody looked at a value that came in.
    case rejected(String)
    /// A text holds U+0000, which no engine stores: nobody looked at a value that came in.
    case holdsNUL
    /// The engine cannot be reached or is full; trying again later may help.
    case unavailable(String)
    /// There is no table of this name.
    case noTable(String)
    /// A statement, a schema or a stored value is not what the code expects: a bug or an altered database.
    case unreadable(String)
}
