import CSQLite
import Storage

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
