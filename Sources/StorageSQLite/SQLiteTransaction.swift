import GRDB
import Storage

/// A statement at a time on an open connection, through GRDB's statement cache.
struct SQLiteTransaction: Storage.Transaction {
    let db: GRDB.Database

    func rows(_ sql: Storage.SQL) throws -> [Storage.Row] {
        try mappingErrors {
            let statement = try db.cachedStatement(sql: sql.text)
            let columns = statement.columnNames
            let cursor = try GRDB.Row.fetchCursor(statement, arguments: StatementArguments(sql.bindings))
            var rows: [Storage.Row] = []
            while let row = try cursor.next() {
                rows.append(Storage.Row(columns: columns, values: row.databaseValues.map(SQLValue.init)))
            }
            return rows
        }
    }

    func execute(_ sql: Storage.SQL) throws -> Int {
        try mappingErrors {
            let statement = try db.cachedStatement(sql: sql.text)
            try statement.execute(arguments: StatementArguments(sql.bindings))
            return db.changesCount
        }
    }

    /// So that a store sees the same errors on either engine, also when it looks at them inside its transaction.
    private func mappingErrors<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let error as DatabaseError {
            throw StorageError(error)
        }
    }
}

extension GRDB.Database {
    func run(_ sql: String) throws { try cachedStatement(sql: sql).execute() }
}

extension StatementArguments {
    fileprivate init(_ values: [SQLValue]) {
        self.init(values.map(\.databaseValue))
    }
}

extension SQLValue {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .text(let text): text.databaseValue
        }
    }

    fileprivate init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .string(let text): self = .text(text)
        case .double(let number): self = .text(String(number))
        case .blob(let data): self = .text(String(decoding: data, as: UTF8.self))
        }
    }
}

extension StorageError {
    /// What SQLite said, without the bound values.
    init(_ error: DatabaseError) {
        let text = error.message ?? "error \(error.extendedResultCode.rawValue)"
        switch (error.resultCode, error.extendedResultCode) {
        case (_, .SQLITE_CONSTRAINT_UNIQUE), (_, .SQLITE_CONSTRAINT_PRIMARYKEY): self = .conflict(text)
        case (.SQLITE_CONSTRAINT, _): self = .constraint(text)
        case (.SQLITE_BUSY, _), (.SQLITE_LOCKED, _), (.SQLITE_FULL, _), (.SQLITE_IOERR, _), (.SQLITE_CANTOPEN, _),
            (.SQLITE_READONLY, _), (.SQLITE_MISUSE, _):
            self = .unavailable(text)
        default: self = .unreadable(text)
        }
    }
}
