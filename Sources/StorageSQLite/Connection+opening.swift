import CSQLite
import Storage

extension Connection {
    /// The one connection that writes; makes the file when there is none.
    static func forWriting(_ path: String, _ files: OpenFiles? = nil) throws(StorageError) -> Connection {
        // Another process (a command, a backup) may hold the write lock for a moment.
        let connection = try Connection(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, patience: 10_000)
        try connection.prepareCommon()
        guard try connection.answer("PRAGMA journal_mode = WAL") == .text("wal") else {
            throw .unreadable("could not activate WAL Mode at path: \(path)")
        }
        // With NORMAL a power cut could take back a token that was already answered.
        try connection.answer("PRAGMA synchronous = FULL")
        // Checkpoints sync the whole file: fewer of them, and still a WAL of some 32 MiB at most.
        try connection.answer("PRAGMA wal_autocheckpoint = 8000")
        // Where the savepoints of a group keep the pages as they were: on disk that was half of all writes.
        try connection.answer("PRAGMA temp_store = MEMORY")
        guard try connection.answer("PRAGMA synchronous") == .integer(2) else {
            throw .unavailable("SQLite refused synchronous=FULL")
        }
        guard try connection.answer("PRAGMA foreign_keys") == .integer(1) else {
            throw .unavailable("SQLite refused foreign_keys=ON")
        }
        // What a process that was killed left in the log may be a commit whose sync had failed: it reads like any other, and
        // may never come to the disk. Brought into the file, it is durable before anything is built on it. A full disk does
        // not keep a server from starting.
        _ = try? connection.answer("PRAGMA wal_checkpoint(PASSIVE)")
        // Opens the log, if nothing has yet.
        try connection.answer("PRAGMA schema_version")
        try files?.note()
        connection.files = files
        return connection
    }

    /// A connection that only reads a file in WAL, where only another process's recovery makes it wait.
    static func forReading(_ path: String, _ files: OpenFiles? = nil) throws(StorageError) -> Connection {
        let connection = try Connection(path, SQLITE_OPEN_READONLY, patience: 500)
        try connection.prepareCommon()
        unsafe spindle_sqlite_leave_log_on_close(connection.handle)
        // A file that cannot be read is told at once.
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
        // A mapped file is read beside SQLite's own locks.
        try answer("PRAGMA mmap_size = 0")
    }

    /// Brings what the log holds into the database file, so that an operator who copies only that file has it all. What
    /// wrote nothing leaves that to who did, perhaps a server beside it.
    func foldLog() {
        guard unsafe sqlite3_total_changes64(handle) > 0 else { return }
        _ = try? answer("PRAGMA wal_checkpoint(PASSIVE)")
    }
}
