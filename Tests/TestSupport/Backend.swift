import Foundation
import Migrations
public import Storage
import StoragePostgreSQL
import StorageSQLite

/// The database engines that a test runs on: `@Test("…", arguments: Backend.available)`.
public enum Backend: String, CaseIterable, Sendable, CustomStringConvertible {
    case sqlite = "SQLite"
    case postgresql = "PostgreSQL"

    public var description: String { rawValue }

    /// Both, or only SQLite without a PostgreSQL server. With CI=true always both, so that a missing server fails.
    public static let available: [Backend] = {
        guard !PostgreSQLCluster.isAvailable else { return allCases }
        FileHandle.standardError.write(Data("PostgreSQL is not installed: its half of the tests is left out\n".utf8))
        return [.sqlite]
    }()

    /// A new database with the whole schema.
    public func open() async throws -> any Database {
        let address = try await freshAddress()
        if case .sqlite = self { try FileManager.default.copyItem(atPath: await Self.migrated.value, toPath: address) }
        let database = try await Self.open(address)
        if case .postgresql = self { try await Self.migrate(database) }
        return database
    }

    /// A file with the whole schema, to copy: the steps take longer than most tests.
    private static let migrated = Task {
        let address = try await Backend.sqlite.freshAddress()
        let database = try await open(address)
        try await migrate(database)
        await database.close()
        return address
    }

    private static func migrate(_ database: any Database) async throws {
        try await Migrator(database: database, migrations: Migration.all).migrate(at: 0)
    }

    /// A new database without a schema.
    public func openEmpty() async throws -> any Database { try await Self.open(try await freshAddress()) }

    /// The path or URL of a new, empty database, as SPINDLE_DATABASE takes it.
    public func freshAddress() async throws -> String {
        switch self {
        case .sqlite: return Self.folder + "/\(UUID().uuidString).db"
        case .postgresql:
            guard let cluster = try await PostgreSQLCluster.shared() else {
                throw PostgreSQLCluster.Failure(description: "there is no PostgreSQL server here")
            }
            return try await cluster.freshDatabaseURL()
        }
    }

    /// Opens a database that `freshAddress` returned.
    public static func open(_ address: String) async throws -> any Database {
        guard address.hasPrefix("postgresql://") else { return try await SQLiteDatabase.open(path: address) }
        // Fewer connections than a server opens: many tests share one cluster.
        return try await PostgreSQLDatabase.open(url: address, connections: 8)
    }

    /// The folder for the files of this process; removed when it ends.
    private static let folder: String = {
        let folder = NSTemporaryDirectory() + "/spindle-tests-\(getpid())"
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: NSTemporaryDirectory() + "/spindle-tests-\(getpid())") }
        return folder
    }()
}
