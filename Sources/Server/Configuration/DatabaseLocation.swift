import Foundation
public import Storage
import StoragePostgreSQL
import StorageSQLite
public import Values

/// Where the database is: a file of SQLite, or a PostgreSQL server.
public enum DatabaseLocation: Sendable, CustomStringConvertible {
    case sqlite(path: String)
    /// The address may hold a password.
    case postgreSQL(url: Secret<DatabaseLocation>)

    /// A path, or `postgresql://…`; nil for the address of any other engine.
    public init?(_ text: String) {
        if text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") {
            self = .postgreSQL(url: Secret(text))
        } else if !text.isEmpty, !text.contains("://") {
            self = .sqlite(path: text)
        } else {
            return nil
        }
    }

    /// The path, or the address without user and password.
    public var description: String {
        switch self {
        case .sqlite(let path): return path
        case .postgreSQL(let url):
            guard let components = URLComponents(string: url.value) else { return "postgresql://…" }
            let port = components.port.map { ":\($0)" } ?? ""
            return "postgresql://\(components.host ?? "")\(port)\(components.path)"
        }
    }

    /// Whether opening it makes nothing new. A server is asked when it is opened.
    var exists: Bool {
        guard case .sqlite(let path) = self else { return true }
        return FileManager.default.fileExists(atPath: path)
    }

    /// Opens the database; a SQLite file that is not there is made.
    public func open() async throws -> any Database {
        switch self {
        case .sqlite(let path): try await SQLiteDatabase.open(path: path)
        case .postgreSQL(let url): try await PostgreSQLDatabase.open(url: url.value)
        }
    }
}
