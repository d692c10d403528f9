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

extension Connection {
    /// The one connection that writes. Creates the file if there is none.
    ///
    /// Another process (a command, a backup) may hold the write lock for a moment.
    static func forWriting(
        _ path: String, _ files: OpenFiles? = nil, patience: LockPatience = LockPatience(.seconds(10))
    ) throws(StorageError) -> Connection {
        let connection = try Connection(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, patience: patience)
        try connection.prepareCommon()
        guard try connection.answer("PRAGMA journal_mode = WAL") == .text("wal") else {
            throw .unreadable("could not activate WAL Mode at path: \(path)")
        }
        // With NORMAL a power cut could lose a token that a client already has.
        try connection.answer("PRAGMA synchronous = FULL")
        // A checkpoint syncs the whole file, so there are few; the log has some 32 MiB at most. A log that grew longer
        // during long reads is truncated when it begins anew (`SQLiteDatabase.scan`).
        try connection.answer("PRAGMA wal_autocheckpoint = 8000")
        try connection.answer("PRAGMA journal_size_limit = 33554432")
        // A group's savepoints keep old pages here: on disk that was half of all writes.
        try connection.answer("PRAGMA temp_store = MEMORY")
        guard try connection.answer("PRAGMA synchronous") == .integer(2) else {
            throw .unavailable("SQLite refused synchronous=FULL")
        }
        guard try connection.answer("PRAGMA foreign_keys") == .integer(1) else {
            throw .unavailable("SQLite refused foreign_keys=ON")
        }
        // The log of a killed process may contain a commit whose sync failed. It reads like any other, and may never
        // reach the disk. Moving it into the file makes it durable before anything depends on it. A full disk must not
        // prevent the start.
        _ = try? connection.answer("PRAGMA wal_checkpoint(PASSIVE)")
        // Opens the log, if nothing has yet.
        try connection.answer("PRAGMA schema_version")
        try files?.note()
        connection.files = files
        return connection
    }

    /// A connection that only reads a file in WAL mode; it only ever waits for another process's recovery.
    static func forReading(_ path: String, _ files: OpenFiles? = nil) throws(StorageError) -> Connection {
        let connection = try Connection(path, SQLITE_OPEN_READONLY, patience: LockPatience(.milliseconds(500)))
        try connection.prepareCommon()
        unsafe spindle_sqlite_leave_log_on_close(connection.handle)
        // Fails at once for an unreadable file.
        try connection.answer("PRAGMA schema_version")
        do {
            try files?.confirm()
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    private func prepareCommon() throws(StorageError) {
        try answer("PRAGMA foreign_keys = ON")
        try answer("PRAGMA cache_size = -16000")
        // A mapped file is read around SQLite's own locks.
        try answer("PRAGMA mmap_size = 0")
    }

    /// Moves the log into the database file, so that an operator who copies only that file has everything. A connection
    /// that wrote nothing leaves this to the writer, perhaps a running server.
    func foldLog() {
        guard unsafe sqlite3_total_changes64(handle) > 0 else { return }
        _ = try? answer("PRAGMA wal_checkpoint(PASSIVE)")
    }
}

extension Connection {
    /// Runs `members` in one transaction and commits it. A thrown error means that all of them are undone.
    func commit(_ members: [GroupMember], _ outcomes: inout [GroupMember.Outcome]) throws(StorageError) {
        if try attempt(members, &outcomes, .whereTheyWereMissed) { return }
        // Closures may run twice: see `Database`.
        outcomes.removeAll(keepingCapacity: true)
        _ = try attempt(members, &outcomes, .always)
    }

    /// False, with nothing done, when a member without a savepoint must be undone.
    private func attempt(
        _ members: [GroupMember], _ outcomes: inout [GroupMember.Outcome], _ savepoints: Savepoints
    ) throws(StorageError) -> Bool {
        try run(.beginWriting)
        do {
            for member in members {
                guard let outcome = try run(member, savepoints) else {
                    try run(.rollBack)
                    return false
                }
                outcomes.append(outcome)
            }
            try files?.confirm()
            try run(.commit)
            return true
        } catch {
            if isInTransaction { try? run(.rollBack) }
            throw error
        }
    }

    /// Nil when the member has thrown and cannot be undone alone.
    private func run(_ member: GroupMember, _ savepoints: Savepoints) throws(StorageError) -> GroupMember.Outcome? {
        let transaction = SQLiteTransaction(self, savepoints)
        let outcome = member.run(transaction)
        transaction.end()
        // After a full disk or an I/O error SQLite has rolled everything back, for every member.
        guard isInTransaction else { throw .rolledBack }
        switch transaction.undoing {
        case .nothing: return outcome
        case .savepoint:
            if outcome.hasThrown { try run(.undoMember) }
            try run(.closeMember)
            return outcome
        case .group(let statement):
            guard outcome.hasThrown else { return outcome }
            statement.needsSavepoint = true
            return nil
        }
    }
}

/// When a transaction opens a savepoint before its first change.
///
/// A savepoint costs a quarter of a small write, and few members are ever undone alone. So a member has none until one
/// that began with the same statement had to be undone. Then its group runs again, each member with a savepoint, and
/// the statement is remembered.
enum Savepoints {
    /// A read, which changes nothing.
    case never
    /// A member of a group that runs for the first time.
    case whereTheyWereMissed
    /// A member of a group that runs again.
    case always

    func areNeeded(by statement: Statement) -> Bool {
        switch self {
        case .never: false
        case .whereTheyWereMissed: statement.needsSavepoint
        case .always: true
        }
    }
}
