import Storage

extension SQLiteDatabase {
    /// The names of the tables in the file at `path`, which stays as it is.
    public static func tables(in path: String) throws -> Set<String> {
        let reader = try Reader(path, OpenFiles(path), longestRead: .seconds(30))
        defer { reader.close() }
        return try reader.read { db in
            let rows = try db.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
            return Set(try rows.map { try $0.get("name", as: String.self) })
        }
    }
}
