import Storage

/// An open transaction on a connection: one read, or one member of a group of writers.
final class SQLiteTransaction: Transaction {
    /// How to undo the transaction's changes.
    enum Undoing {
        /// There are no changes.
        case nothing
        /// With its own savepoint.
        case savepoint
        /// Only with the whole group. The statement is the one that should have had a savepoint.
        case group(Statement)
    }

    private var connection: Connection?
    private let savepoints: Savepoints
    private(set) var undoing = Undoing.nothing

    init(_ connection: Connection, _ savepoints: Savepoints) {
        self.connection = connection
        self.savepoints = savepoints
    }

    func rows(_ sql: SQL) throws -> [Row] {
        try run(sql) { statement, _ throws(StorageError) in try statement.rows() }
    }

    func execute(_ sql: SQL) throws -> Int {
        try run(sql) { statement, connection throws(StorageError) in
            try statement.run()
            return connection.changedRows
        }
    }

    /// Makes the transaction unusable: its closure has returned.
    func end() { connection = nil }

    private func run<Value>(
        _ sql: SQL, _ work: (Statement, Connection) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        guard let connection else { throw .unreadable("a transaction was used after its closure had returned") }
        // SQLite would commit a later statement on its own.
        guard connection.isInTransaction else { throw .rolledBack }
        let statement = try connection.statement(sql)
        let before = undoing
        if case .nothing = before, !statement.isReadOnly { try prepareToUndo(statement, connection) }
        do {
            return try connection.run(statement, sql) { statement throws(StorageError) in
                try work(statement, connection)
            }
        } catch {
            // SQLite has already undone a statement that a constraint refused.
            if case .group = undoing, error.isRefusedRow { undoing = before }
            throw error
        }
    }

    private func prepareToUndo(_ statement: Statement, _ connection: Connection) throws(StorageError) {
        guard savepoints.areNeeded(by: statement) else {
            undoing = .group(statement)
            return
        }
        try connection.run(.openMember)
        undoing = .savepoint
    }
}

extension StorageError {
    fileprivate var isRefusedRow: Bool {
        switch self {
        case .conflict, .constraint, .rejected, .holdsNUL: true
        case .unavailable, .tooMany, .noTable, .unreadable, .unopened, .unsuitable: false
        }
    }
}
