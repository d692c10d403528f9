public import Cryptography
import Keys
import Migrations
import Storage
import System
public import Values

extension Installation {
    /// What an installation is opened for, which decides what may be created.
    public enum Purpose: Sendable {
        /// Creates everything that is missing. The schema of a complete PostgreSQL database, which other nodes may be
        /// using, stays as it is.
        case initialising
        /// Updates the schema on SQLite. On PostgreSQL, which other nodes may be using, only on request.
        case serving(migrating: Bool)
        /// Nothing is created.
        case administering
    }

    /// Opens the database, checks the schema and proves the master key, in the order that changes least on failure.
    public static func open(
        _ configuration: SpindleConfiguration, for purpose: Purpose, clock: any WallClock = SystemClock(),
        random: any RandomSource = SystemRandom()
    ) async throws -> Installation {
        try await open(configuration, for: purpose, steps: Migration.all, clock: clock, random: random)
    }

    /// `steps` are the schema steps that the program knows.
    static func open(
        _ configuration: SpindleConfiguration, for purpose: Purpose, steps: [Migration],
        clock: any WallClock = SystemClock(), random: any RandomSource = SystemRandom()
    ) async throws -> Installation {
        guard configuration.database.exists || purpose.makesDatabase else {
            throw InstallationError.uninitialised(configuration.database.description)
        }
        if purpose.makesDatabase { try configuration.refusePlanted() }
        // Opening it would already change another program's file.
        try configuration.database.refuseForeignFile()
        guard try purpose.makesDatabase || !configuration.database.isFileWithoutSchema else {
            throw InstallationError.uninitialised(configuration.database.description)
        }
        let database = try await configuration.database.open(forRequests: purpose.isServing)
        do {
            let migrator = Migrator(database: database, migrations: steps)
            let key = try await prepare(database, migrator, configuration, purpose, clock, random)
            return Installation(database: database, masterKey: key, clock: clock, random: random)
        } catch {
            await database.close()
            throw error
        }
    }

    private static func prepare(
        _ database: any Database, _ migrator: Migrator, _ configuration: SpindleConfiguration, _ purpose: Purpose,
        _ clock: any WallClock, _ random: any RandomSource
    ) async throws -> MasterKey {
        let location = configuration.database
        let source = configuration.masterKey.source(mayCreate: purpose.makesDatabase && location.isFile)
        var key: MasterKey?
        switch try await migrator.state() {
        case .newer(let step): throw InstallationError.newer(step)
        case .altered(let step): throw InstallationError.altered(step)
        case .current: break
        case .empty:
            guard purpose.fillsEmpty(location) else { throw InstallationError.uninitialised(location.description) }
            try await location.refuseForeignTables(of: database)
            try await migrator.migrate(at: clock.now.milliseconds)
        case .behind(let steps):
            // A database whose creation was interrupted has no key yet, and may lack tables that are searched for
            // sealed values.
            let isComplete = try await MasterKeyCheck.isKnown(in: database)
            guard purpose.migrates(location) || (purpose.makesDatabase && !isComplete) else {
                throw InstallationError.behind(steps)
            }
            // The key is checked before the schema is changed: a wrong key may mean the wrong database.
            if isComplete {
                key = try await source.masterKey(for: database, StoredTable.all, random: random)
            }
            try await migrator.migrate(at: clock.now.milliseconds)
        }
        if let key { return key }
        // A database that was only migrated gets its key from `init` or `serve`, and from no other command.
        if case .administering = purpose, try await MasterKeyCheck.isWithoutKey(database, StoredTable.all) {
            throw InstallationError.uninitialised(location.description)
        }
        do {
            return try await source.masterKey(for: database, StoredTable.all, random: random)
        } catch MasterKeyError.notGiven where location.isFile {
            throw InstallationError.uninitialised(location.description)
        }
    }
}

extension Installation.Purpose {
    fileprivate var isServing: Bool { if case .serving = self { true } else { false } }

    fileprivate var makesDatabase: Bool { if case .initialising = self { true } else { false } }

    fileprivate func migrates(_ location: DatabaseLocation) -> Bool {
        switch self {
        case .initialising: location.isFile
        case .serving(let migrating): migrating || location.isFile
        case .administering: false
        }
    }

    /// An empty SQLite file is more likely a wrong path than a new installation. The database of a new PostgreSQL
    /// server is normally empty.
    fileprivate func fillsEmpty(_ location: DatabaseLocation) -> Bool {
        makesDatabase || (!location.isFile && migrates(location))
    }
}

extension SpindleConfiguration {
    /// Throws when another user of the machine has put a file where the database or its key will be.
    fileprivate func refusePlanted() throws {
        guard case .sqlite(let path) = database else { return }
        let files = [path, masterKey.path].compactMap(\.self) + SQLiteFile.companions(of: path)
        let planted = files.first { Files.isStrangers($0, home: Files.folder(of: path)) }
        if let planted { throw InstallationError.planted(planted) }
    }
}

extension DatabaseLocation {
    /// Whether it is a file that only this server uses.
    var isFile: Bool { if case .sqlite = self { true } else { false } }
}
