import Storage
import StoragePostgreSQL
import StorageSQLite

/// Checks what a database contains before any table of ours is made there.
extension DatabaseLocation {
    /// Whether it is a file without a table of ours. Looking changes nothing, while opening the file for writing would
    /// change its journal mode, and make a database of an empty file.
    var isFileWithoutSchema: Bool {
        get throws {
            guard case .sqlite(let path) = self else { return false }
            return try !Self.areOurs(SQLiteDatabase.tables(in: path))
        }
    }

    /// Throws when it is a file with tables of another program.
    func refuseForeignFile() throws {
        guard case .sqlite(let path) = self, exists else { return }
        try refuseForeign(SQLiteDatabase.tables(in: path))
    }

    /// Throws when `database` is a server where our tables would be created among those of another program.
    func refuseForeignTables(of database: any Database) async throws {
        guard let database = database as? PostgreSQLDatabase else { return }
        try refuseForeign(await database.tables())
    }

    private func refuseForeign(_ tables: Set<String>) throws {
        guard tables.isEmpty || Self.areOurs(tables) else { throw InstallationError.foreign(description) }
    }

    private static func areOurs(_ tables: Set<String>) -> Bool { tables.contains("schema_steps") }
}
