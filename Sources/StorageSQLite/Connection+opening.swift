import CSQLite
import Storage

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
