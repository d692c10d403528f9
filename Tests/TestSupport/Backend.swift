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

    /// A database with the whole schema and no rows, for tests that need not survive a crash of the machine.
    public func open() async throws -> any Database { try await LentDatabase.take(self, with: .nothing) }

    /// A new database without a schema.
    public func openEmpty() async throws -> any Database { try await Self.open(try await freshAddress()) }

    /// The path or URL of a new, empty database, as SPINDLE_DATABASE takes it, stored on a disk.
    public func freshAddress() async throws -> String {
        switch self {
        case .sqlite: Scratch.onDisk + "/\(UUID().uuidString).db"
        case .postgresql: try await Self.cluster(isDurable: true).freshDatabaseURL()
        }
    }

    /// Opens a database that `freshAddress` returned.
    public static func open(_ address: String) async throws -> any Database {
        guard address.hasPrefix("postgresql://") else { return try await SQLiteDatabase.open(path: address) }
        // Fewer connections than a server opens: many tests share one cluster.
        return try await PostgreSQLDatabase.open(url: address, connections: 4)
    }

    /// The address of a new database with the whole schema: a copy, because its steps take longer than most tests.
    func copyOfSchema() async throws -> String {
        switch self {
        case .sqlite:
            let path = Self.freshQuickPath()
            try FileManager.default.copyItem(atPath: await Self.migratedFile.value, toPath: path)
            return path
        case .postgresql:
            let template = URLComponents(string: try await Self.migratedDatabase.value)?.path.dropFirst() ?? ""
            return try await Self.cluster(isDurable: false).freshDatabaseURL(copying: String(template))
        }
    }

    static func freshQuickPath() -> String { Scratch.quick + "/\(UUID().uuidString).db" }

    private static let migratedFile = Task { try await migrate(freshQuickPath()) }
    private static let migratedDatabase = Task {
        try await migrate(try await cluster(isDurable: false).freshDatabaseURL())
    }

    private static func migrate(_ address: String) async throws -> String {
        let database = try await open(address)
        try await Migrator(database: database, migrations: Migration.all).migrate(at: 0)
        await database.close()
        return address
    }

    private static func cluster(isDurable: Bool) async throws -> PostgreSQLCluster {
        guard let cluster = try await PostgreSQLCluster.shared(isDurable: isDurable) else {
            throw PostgreSQLCluster.Failure(description: "there is no PostgreSQL server here")
        }
        return cluster
    }
}
