import Storage
import StoragePostgreSQL
import StorageSQLite

/// What a database holds before anything of ours is made there.
extension DatabaseLocation {
    /// Whether it is a file that has no table of ours. Looking changes nothing, while opening the file to write gives
    /// it another journal mode, and makes a database of an empty one.
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

    /// Throws when it is a server where `database` would make our tables among those of another program.
    func refuseForeignTables(of database: any Database) async throws {
        guard let database = database as? PostgreSQLDatabase else { return }
        try refuseForeign(await database.tables())
    }

    private func refuseForeign(_ tables: Set<String>) throws {
        guard tables.isEmpty || Self.areOurs(tables) else { throw InstallationError.foreign(description) }
    }

    private static func areOurs(_ tables: Set<String>) -> Bool { tables.contains("schema_steps") }
}
