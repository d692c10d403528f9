import CommandLineTool
import JSON
import Keys
import Migrations
import Storage
import StorageSQLite
import System

/// `spindle restore FILE`: replaces the database with a backup.
struct RestoreCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Replace the database with the backup FILE. Stop the server first.")

    @Argument(help: "A file that `spindle backup` made.") var file: String
    @Flag(help: "Replace an existing database; changes since the backup are lost.") var force = false
    @OptionGroup var output: OutputOptions
    @OptionGroup(topic: "settings") var options: ConfigurationOptions

    func run() async throws {
        let configuration = try options.read()
        guard case .sqlite(let name) = configuration.database else {
            throw CommandFailure("a PostgreSQL database is restored by its own tools: use pg_restore or psql", .usage)
        }
        // SQLite follows a link, and keeps its log beside the target.
        let path = Files.resolved(name)
        guard !Files.isDanglingLink(name) else {
            throw CommandFailure(
                "\(name) is a symbolic link to a missing file: name that file instead", .cannotCreate)
        }
        guard force || !configuration.database.exists else {
            throw CommandFailure("\(path) exists already: --force replaces it", .cannotCreate)
        }
        // A file would replace the device.
        guard !Files.isSpecial(path) else {
            throw CommandFailure("\(path) is not a file, but a folder, a device or a pipe", .cannotCreate)
        }
        try SQLiteFile.refuseCutOff(file, for: path)
        try SQLiteFile.refuseWhileOpen(configuration.database)
        do {
            try configuration.database.refuseForeignFile()
        } catch let foreign as InstallationError {
            throw foreign
        } catch {
            // An unreadable file may be our damaged database, which a restore is for.
        }
        try await SQLiteFile.withTemporary("restoring", beside: path) { candidate in
            try await replace(path, through: candidate, configuration)
        }
    }

    private func replace(
        _ path: String, through candidate: String, _ configuration: SpindleConfiguration
    ) async throws {
        try SQLiteFile.copy(file, to: candidate)
        let keys: [String]
        do {
            keys = try await check(candidate, configuration.masterKey)
        } catch StorageError.unreadable(let reason) {
            throw CommandFailure("\(file) is not readable: \(reason)", .data)
        }
        // The check may have taken minutes, and a server may have been started meanwhile.
        try SQLiteFile.refuseWhileOpen(configuration.database)
        let present = await settle(path)
        try SQLiteFile.refuseWhileOpen(configuration.database)
        try SQLiteFile.replace(path, with: candidate)
        if output.json {
            Terminal.print(json: .members(["database": .string(path)]))
        } else {
            Terminal.print("restored \(path) from \(file)")
        }
        for key in keys where present?.contains(key) == false {
            Terminal.tell(
                "the signing key \(key) is back, which the database no longer had: if it was withdrawn, withdraw it "
                    + "again")
        }
    }

    private static func signingKeys(_ database: any Database) async throws -> [String] {
        try await database.read { db in
            try db.rows("SELECT id FROM signing_keys ORDER BY id").map { try $0.get("id") }
        }
    }

    /// Checks that the candidate is an intact database, of a schema this Spindle knows, under the key that will be used
    /// with it. Returns the names of its signing keys.
    private func check(_ candidate: String, _ location: MasterKeyLocation) async throws -> [String] {
        // The integrity check reads the whole database, however large it is.
        let database = try await SQLiteDatabase.open(path: candidate, longestRead: .seconds(86_400))
        do {
            let verdict = try await database.read { db in
                try db.rows("PRAGMA integrity_check").map { try $0.get("integrity_check", as: String.self) }
            }
            guard verdict == ["ok"] else { throw CommandFailure("\(file) is damaged", .data) }
            switch try await Migrator(database: database, migrations: Migration.all).state() {
            case .current, .behind: break
            case .empty: throw CommandFailure("\(file) is no backup of Spindle", .data)
            case .newer(let step): throw InstallationError.newer(step)
            case .altered(let step): throw InstallationError.altered(step)
            }
            try await checkKey(location, database)
            let keys = try await Self.signingKeys(database)
            await database.close()
            return keys
        } catch {
            await database.close()
            throw error
        }
    }

    /// The key may be missing for now, but it must not be another database's key.
    private func checkKey(_ location: MasterKeyLocation, _ database: any Database) async throws {
        let key: MasterKey? =
            switch location {
            case .inline(let key): key
            case .file(let file): try file.read()
            }
        guard let key else {
            return Terminal.tell("the master key is missing: put it at \(location.path ?? "master_key_file")")
        }
        guard try await MasterKeyCheck(key).verify(database, StoredTable.all) != .wrong else {
            throw MasterKeyError.wrong
        }
    }

    /// Folds the log that a killed server left into the old file, so that the file is whole if the restore fails now.
    /// Returns the names of its signing keys; nil if it cannot be read.
    private func settle(_ path: String) async -> [String]? {
        // A restore may be needed because the database is too damaged to open. Its log is deleted with it.
        guard Files.exists(path), let old = try? await SQLiteDatabase.open(path: path) else { return nil }
        let keys = try? await Self.signingKeys(old)
        await old.close()
        return keys
    }
}
