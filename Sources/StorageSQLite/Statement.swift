import CSQLite
import Glibc
import Storage

/// A prepared statement and its lifetime. It belongs to its connection's thread.
@safe final class Statement {
    /// Whether it leaves the database unchanged.
    let isReadOnly: Bool
    /// Whether a member that began with it had to be undone. Always true for a statement that is not kept.
    var needsSavepoint: Bool
    private let handle: OpaquePointer
    private let connection: OpaquePointer
    private let skeleton: [SQL.Part]
    private var columns: ColumnNames?

    /// Prepares `sql`; `isKept` means that it will run often.
    init(_ sql: SQL, on connection: OpaquePointer, isKept: Bool) throws(StorageError) {
        let text = sql.text
        var handle: OpaquePointer?
        var rest = 0
        let code = unsafe text.withCString { start in
            var tail: UnsafePointer<CChar>?
            let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
            let code = unsafe sqlite3_prepare_v3(connection, start, -1, flags, &handle, &tail)
            if let tail = unsafe tail { rest = unsafe text.utf8.count - (tail - start) }
            return code
        }
        guard code == SQLITE_OK else { throw unsafe StorageError(code, String(cString: sqlite3_errmsg(connection))) }
        guard let handle = unsafe handle else { throw .unreadable("an empty statement") }
        unsafe self.handle = handle
        unsafe self.connection = connection
        isReadOnly = unsafe sqlite3_stmt_readonly(handle) != 0
        needsSavepoint = !isKept
        skeleton = sql.skeleton
        // SQLite prepares only the first statement of a text; it must not silently drop another one.
        guard text.utf8.suffix(rest).allSatisfy({ $0 == 0x20 || $0 == 0x0A || $0 == 0x3B }) else {
            throw .unreadable("more than one statement")
        }
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// Whether `sql` is this statement with other values.
    func isText(of sql: SQL) -> Bool { sql.hasText(of: skeleton) }

    /// Binds the values of `sql`; `texts` holds the bytes until `end()`.
    func bind(_ sql: SQL, _ texts: BoundTexts) throws(StorageError) {
        var size = 0
        for case .value(.text(let text)) in sql.parts { size += text.utf8.count }
        texts.begin(size: size)
        var index: Int32 = 0
        for case .value(let value) in sql.parts {
            index += 1
            let code =
                switch value {
                case .null: unsafe sqlite3_bind_null(handle, index)
                case .integer(let number): unsafe sqlite3_bind_int64(handle, index, number)
                case .text(let text): try unsafe texts.bind(text, to: handle, index)
                }
            guard code == SQLITE_OK else { throw failure(code) }
        }
        guard unsafe sqlite3_bind_parameter_count(handle) == index else {
            throw .unreadable("a statement with unbound parameters")
        }
    }

    /// Goes to the next row; false when there are no more.
    func step() throws(StorageError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        guard code == SQLITE_DONE else { throw failure(code) }
        return false
    }

    /// Runs to the end: only then are changes with RETURNING counted and committed.
    func run() throws(StorageError) { while try step() {} }

    /// The first column of the first row.
    func answer() throws(StorageError) -> SQLValue? {
        guard try step() else { return nil }
        let answer = value(0)
        try run()
        return answer
    }

    /// All rows.
    func rows() throws(StorageError) -> [Row] {
        guard try step() else { return [] }
        let count = unsafe sqlite3_column_count(handle)
        let columns = names(count)
        var values: [SQLValue] = []
        values.reserveCapacity(Int(count))
        repeat {
            for column in 0..<count { values.append(value(column)) }
        } while try step()
        return Row.all(columns, values)
    }

    /// Ends the run, also after an error, and clears the values.
    func end() {
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }

    /// The schema may have changed since the last run, so the count is read after the first step.
    private func names(_ count: Int32) -> ColumnNames {
        if let columns, columns.count == Int(count) { return columns }
        let names = ColumnNames(
            (0..<count).map { column in
                unsafe sqlite3_column_name(handle, column).map { unsafe String(cString: $0) } ?? ""
            })
        columns = names
        return names
    }

    private func value(_ column: Int32) -> SQLValue {
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return unsafe .integer(sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: return unsafe .text(String(sqlite3_column_double(handle, column)))
        case SQLITE_BLOB:
            let start = unsafe sqlite3_column_blob(handle, column)
            let count = unsafe Int(sqlite3_column_bytes(handle, column))
            return unsafe .text(String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self))
        default:
            guard let start = unsafe sqlite3_column_text(handle, column) else { return .text("") }
            let bytes = unsafe UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
            return unsafe .text(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
        }
    }

    private func failure(_ code: Int32) -> StorageError {
        unsafe StorageError(code, String(cString: sqlite3_errmsg(connection)))
    }
}

/// The memory of a statement's texts while it runs: SQLite reads them in place and does not copy them.
@safe final class BoundTexts {
    /// How many bytes are kept for the next statement; a rare larger text is freed.
    private static let kept = 1 << 16

    private var bytes = UnsafeMutableBufferPointer<CChar>.allocate(capacity: kept)
    private var used = 0

    deinit { unsafe bytes.deallocate() }

    /// Makes room for texts of `size` bytes in all. Invalidates those of the previous statement.
    func begin(size: Int) {
        used = 0
        let capacity = max(size, Self.kept)
        guard unsafe bytes.count < size || bytes.count > capacity else { return }
        unsafe bytes.deallocate()
        unsafe bytes = .allocate(capacity: capacity)
    }

    /// Binds `text`, for which `begin(size:)` has made room, to the parameter `index` of `statement`.
    ///
    /// Throws for U+0000, as PostgreSQL does (docs/portable-sql.md): SQLite's functions would end the text there, and
    /// the stored text would differ from the one that was checked.
    func bind(_ text: String, to statement: OpaquePointer, _ index: Int32) throws(StorageError) -> Int32 {
        guard let start = unsafe bytes.baseAddress else { return SQLITE_NOMEM }
        let place = unsafe start + used
        var text = text
        let count = text.withUTF8 { source in
            if let base = source.baseAddress { unsafe memcpy(place, base, source.count) }
            return source.count
        }
        used += count
        guard unsafe memchr(place, 0, count) == nil else { throw .holdsNUL }
        return unsafe sqlite3_bind_text(statement, index, place, Int32(clamping: count), nil)
    }
}

extension StorageError {
    /// The error for SQLite's `code`, an extended result code. Its text contains no bound values.
    init(_ code: Int32, _ text: String) {
        switch (code & 0xFF, code) {
        case (_, spindle_sqlite_constraint_unique), (_, spindle_sqlite_constraint_primary_key): self = .conflict(text)
        case (_, spindle_sqlite_constraint_foreign_key): self = .constraint(text)
        // A value of another type or size than its column's. SQLite's message for it quotes no value.
        case (SQLITE_CONSTRAINT, _), (SQLITE_MISMATCH, _), (SQLITE_TOOBIG, _): self = .rejected(text)
        // SQLite has no code for this, while a damaged file has one (SQLITE_CORRUPT, SQLITE_NOTADB).
        case (_, SQLITE_ERROR) where text.hasPrefix("no such table: "): self = .noTable(text)
        case (SQLITE_BUSY, _), (SQLITE_LOCKED, _), (SQLITE_FULL, _), (SQLITE_IOERR, _), (SQLITE_CANTOPEN, _),
            (SQLITE_READONLY, _), (SQLITE_MISUSE, _), (SQLITE_INTERRUPT, _):
            self = .unavailable(text)
        default: self = .unreadable(text)
        }
    }

    /// SQLite ended a transaction itself, after a full disk or a failed write: nothing of it is left.
    static let rolledBack = StorageError.unavailable("SQLite rolled back")
}
