import CSQLite
import Storage

/// An open SQLite file and the statements prepared on it.
///
/// `@unchecked` because it moves between threads. One thread uses it at a time: the writer's, or that of a read which
/// took it from `Readers`, whose lock orders them.
@safe final class Connection: @unchecked Sendable {
    /// More than the program has statements.
    private static let mostStatements = 512

    /// Once per process, before its first connection. If SQLite has started already, it is only slower.
    private static let start: Void = { _ = spindle_sqlite_count_no_memory() }()

    let handle: OpaquePointer
    private var isOpen = true
    private var statements: [SQL.Shape: Statement] = [:]
    private var commands = [Statement?](repeating: nil, count: Command.allCases.count)
    private let texts = BoundTexts()
    private var readLimit: ReadLimit?
    private let patience: LockPatience
    /// The files that must be unchanged when the writer commits.
    var files: OpenFiles?

    /// Opens `path` with `flags`. Waits for other processes' locks with `patience`.
    init(_ path: String, _ flags: Int32, patience: LockPatience) throws(StorageError) {
        Self.start
        var handle: OpaquePointer?
        let flags = flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle = unsafe handle else {
            unsafe sqlite3_close(handle)
            throw unsafe StorageError(code, String(cString: sqlite3_errstr(code)))
        }
        unsafe self.handle = handle
        self.patience = patience
        unsafe patience.serve(handle)
        unsafe spindle_sqlite_refuse_quoted_strings(handle)
    }

    deinit { close() }

    /// Frees the statements, without which SQLite would not close, and the file.
    func close() {
        guard isOpen else { return }
        isOpen = false
        statements = [:]
        commands = []
        unsafe sqlite3_close(handle)
    }

    /// Ends every read that takes longer than `longest`.
    func limitReads(to longest: Duration) { readLimit = ReadLimit(longest, of: self) }

    func readBegins() { readLimit?.begin() }

    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }
    var changedRows: Int { unsafe Int(sqlite3_changes64(handle)) }

    /// The statement of `sql`, which is prepared only at its first use.
    func statement(_ sql: SQL) throws(StorageError) -> Statement {
        guard sql.shape != .ofRunTimeText else { return try unsafe Statement(sql, on: handle, isKept: false) }
        if let statement = statements[sql.shape], statement.isText(of: sql) { return statement }
        let statement = try unsafe Statement(sql, on: handle, isKept: true)
        if statements.count == Self.mostStatements { statements.removeAll(keepingCapacity: true) }
        statements[sql.shape] = statement
        return statement
    }

    /// Runs `statement` with the values of `sql` and leaves it ready for the next time.
    func run<Value>(
        _ statement: Statement, _ sql: SQL, _ work: (Statement) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        defer { statement.end() }
        try statement.bind(sql, texts)
        return try work(statement)
    }

    func run(_ command: Command) throws(StorageError) {
        let statement: Statement
        if let known = commands[command.rawValue] {
            statement = known
        } else {
            statement = try unsafe Statement(command.sql, on: handle, isKept: true)
            commands[command.rawValue] = statement
        }
        defer { statement.end() }
        try statement.run()
    }

    /// Commits a page with unchanged content.
    func tryWriting() throws(StorageError) {
        try files?.confirm()
        guard case .integer(let version) = try answer("PRAGMA user_version") else { return }
        try answer(SQL(script: "PRAGMA user_version = \(version)"))
    }

    /// Runs `sql` once and returns the first column of its first row; nil when there is no row.
    @discardableResult
    func answer(_ sql: SQL) throws(StorageError) -> SQLValue? {
        try run(try statement(sql), sql) { statement throws(StorageError) in try statement.answer() }
    }
}
