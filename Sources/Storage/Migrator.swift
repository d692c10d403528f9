import Cryptography
import Text

/// One forward-only step of the schema: a file in `migrations/`.
public struct Migration: Sendable {
    /// Its place in the order: 1, 2, 3 …
    public let version: Int
    public let name: String
    public let script: String

    public init(version: Int, name: String, script: String) {
        self.version = version
        self.name = name
        self.script = script
    }

    /// Tells the step from others with the same version.
    public var checksum: String { Base64URL.encode(Digest.sha256(script.utf8)) }

    /// The statements. In our files each ends with a semicolon at the end of a line. `WITHOUT ROWID` is kept only for
    /// an engine with row ids; the other one has another name for the order of bytes.
    func statements(withRowIDs hasRowIDs: Bool) -> [String] {
        let script =
            hasRowIDs
            ? script
            : script.replacing(" WITHOUT ROWID", with: "").replacing("COLLATE BINARY", with: "COLLATE \"C\"")
        let code = script.split(separator: "\n", omittingEmptySubsequences: true)
            .filter { !$0.drop(while: \.isWhitespace).hasPrefix("--") }
            .joined(separator: "\n")
        return code.split(separator: ";\n").map { $0.trimmingSuffix { $0 == ";" || $0.isWhitespace } }
            .map { String($0) }
            .filter { !$0.allSatisfy(\.isWhitespace) }
    }
}

/// Migrates a database to the schema of this binary; each step is one transaction.
public struct Migrator: Sendable {
    public enum State: Sendable, Equatable {
        case current
        /// An empty database.
        case empty
        /// The versions still to be applied.
        case behind([Int])
        /// The database was made by a newer Spindle.
        case newer(Int)
        /// The step of this version is unknown. A released step is never changed, so an unreleased Spindle made the
        /// database.
        case altered(Int)
    }

    private let database: any Database
    private let migrations: [Migration]

    public init(database: any Database, migrations: [Migration]) {
        self.database = database
        self.migrations = migrations
    }

    /// Compares the database with `migrations`.
    public func state() async throws -> State {
        guard let applied = try await appliedChecksums() else { return .empty }
        for migration in migrations {
            if let checksum = applied[migration.version], checksum != migration.checksum {
                return .altered(migration.version)
            }
        }
        if let newest = applied.keys.max(), newest > (migrations.last?.version ?? 0) { return .newer(newest) }
        let missing = migrations.map(\.version).filter { applied[$0] == nil }
        if applied.isEmpty { return .empty }
        return missing.isEmpty ? .current : .behind(missing)
    }

    /// Applies the missing steps and returns their versions. Throws for a newer or altered schema.
    @discardableResult
    public func migrate(at now: Int64) async throws -> [Int] {
        switch try await state() {
        case .current: return []
        case .newer(let version):
            throw StorageError.unreadable("the database has schema \(version), newer than this binary")
        case .altered(let version):
            throw StorageError.unreadable("schema step \(version) of the database differs from this binary's")
        case .empty, .behind: break
        }
        _ = try await database.migrate { db in
            try db.execute(
                """
                CREATE TABLE IF NOT EXISTS schema_steps (
                    version BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)
                """)
        }
        var done: [Int] = []
        for migration in migrations {
            let statements = migration.statements(withRowIDs: database.hasRowIDs)
            let applied = try await database.migrate { db -> Bool in
                // Inserted first: of several servers that start together one runs the step, and the others wait for it.
                let isOurs = try db.execute(
                    """
                    INSERT INTO schema_steps (version, name, checksum, applied_at)
                    VALUES (\(migration.version), \(migration.name), \(migration.checksum), \(now))
                    ON CONFLICT (version) DO NOTHING
                    """)
                guard isOurs == 1 else { return false }
                for statement in statements { try db.execute(SQL(script: statement)) }
                return true
            }
            if applied { done.append(migration.version) }
        }
        return done
    }

    /// Checksums by version; nil when there is no schema at all.
    private func appliedChecksums() async throws -> [Int: String]? {
        // The engines list their tables under different names, so this is a query that may fail.
        do {
            return try await database.read { db in
                var checksums: [Int: String] = [:]
                for row in try db.rows("SELECT version, checksum FROM schema_steps") {
                    checksums[try row.get("version")] = try row.get("checksum", as: String.self)
                }
                return checksums
            }
        } catch StorageError.noTable {
            // Any other error means a damaged database, which must not be filled.
            return nil
        }
    }
}
