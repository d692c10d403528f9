import CSQLite
import Glibc
import Storage

extension SQLiteDatabase {
    /// The names of the tables in the file at `path`. The file is not changed, except that SQLite rolls back what a
    /// killed process left unfinished, which a reader may not do.
    public static func tables(in path: String) throws -> Set<String> {
        do {
            return try readTables(in: path)
        } catch let error as StorageError {
            guard case .unavailable = error, unsafe access(path + "-journal", F_OK) == 0 else { throw error }
            let connection = try Connection(path, SQLITE_OPEN_READWRITE, patience: LockPatience(.milliseconds(500)))
            defer { connection.close() }
            try connection.answer("PRAGMA schema_version")
            return try readTables(in: path)
        }
    }

    private static func readTables(in path: String) throws -> Set<String> {
        let reader = try Reader(path, OpenFiles(path), longestRead: .seconds(30))
        defer { reader.close() }
        return try reader.read { db in
            let rows = try db.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
            return Set(try rows.map { try $0.get("name", as: String.self) })
        }
    }
}
