import Foundation
import Storage

/// The content of a database when a test gets it.
enum Content: Sendable {
    case nothing
    /// A file of SQLite.
    case file(String)
    /// The rows of each table of PostgreSQL that has any, as JSON.
    case rows([(table: String, json: String)])

    /// The content of `database`. If it is a file, its last user has closed it: the file at `path`.
    static func of(_ database: LentDatabase) async throws -> Content {
        guard database.backend == .postgresql else {
            await database.close()
            let copy = Backend.freshQuickPath()
            try FileManager.default.copyItem(atPath: database.address, toPath: copy)
            return .file(copy)
        }
        return .rows(
            try await database.read { db in
                try tables(db).compactMap { table in
                    let row = try db.rows(SQL(script: "SELECT json_agg(t)::text AS json FROM \(table.name) AS t")).first
                    return try row?.get("json", as: String?.self).map { (table.name, $0) }
                }
            })
    }

    /// Makes this the only content of a database of PostgreSQL with the whole schema.
    func fill(_ database: any Database) async throws {
        try await database.write { db in
            let tables = try Self.tables(db)
            // Without checking foreign keys, in any order.
            try db.enqueue("SET LOCAL session_replication_role = replica")
            // TRUNCATE makes a new file for each table and index, which takes as long as a test: it pays for many rows
            // only.
            if tables.contains(where: { $0.size >= 1 << 19 }) {
                try db.enqueue(SQL(script: "TRUNCATE \(tables.map(\.name).joined(separator: ", "))"))
            } else {
                for table in tables where table.size > 0 { try db.enqueue(SQL(script: "DELETE FROM \(table.name)")) }
            }
            guard case .rows(let rows) = self else { return }
            for (table, json) in rows {
                let table = SQL(script: table)
                try db.enqueue(
                    "INSERT INTO \(table) SELECT * FROM json_populate_recordset(NULL::\(table), \(json)::json)")
            }
        }
    }

    private static func tables(_ db: any Transaction) throws -> [(name: String, size: Int64)] {
        try db.rows(
            """
            SELECT tablename, pg_relation_size(quote_ident(tablename)::regclass) AS size
            FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_steps'
            """
        ).map { (try $0.get("tablename"), try $0.get("size")) }
    }
}
