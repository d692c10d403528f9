public import Cryptography
public import Keys
import Logging
import Migrations
import Pages
public import Storage
import System
public import Values

/// An opened database and the master key to its secrets, from which the server and most commands start.
public struct Installation: Sendable {
    public let database: any Database
    public let masterKey: MasterKey
    public let clock: any WallClock
    public let random: any RandomSource

    public init(
        database: any Database, masterKey: MasterKey, clock: any WallClock = SystemClock(),
        random: any RandomSource = SystemRandom()
    ) {
        self.database = database
        self.masterKey = masterKey
        self.clock = clock
        self.random = random
    }

    public var seal: Seal { Seal(masterKey: masterKey, random: random) }

    /// The stores over this database, for a command: hashing one password at a time is enough.
    func stores(_ configuration: SpindleConfiguration, _ logger: Logger) throws -> Stores {
        Stores(
            configuration, database: database, seal: seal, clock: clock, random: random,
            hashing: HashingPool(workers: 1, random: random), templates: try Templates(configuration),
            logger: logger)
    }

    public func close() async { await database.close() }
}

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
        let planted = files.first { Files.isOfUnrelatedUser($0, home: Files.folder(of: path)) }
        if let planted { throw InstallationError.planted(planted) }
    }
}

extension DatabaseLocation {
    /// Whether it is a file that only this server uses.
    var isFile: Bool { if case .sqlite = self { true } else { false } }
}

/// Why there is no usable installation, including what an operator must do.
public enum InstallationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// There is no database at this location, or an empty one.
    case uninitialised(String)
    /// Another user of the machine put a file where the database or its key would be created.
    case planted(String)
    /// The tables at this location are another program's.
    case foreign(String)
    /// The schema lacks these steps.
    case behind([Int])
    /// The schema was made by a newer Spindle.
    case newer(Int)
    /// A schema step is unknown: an unreleased Spindle made the database.
    case altered(Int)
    /// `--dev` on a database with users who were not created by a development sign-in.
    case usersInDevelopment
    /// A database that was served with `--dev` under an https issuer.
    case forDevelopment(since: String)

    public var description: String {
        switch self {
        case .uninitialised(let location):
            "\(location) is not initialised: run `spindle init` first, or call this where the server was started"
        case .planted(let path):
            "\(path) belongs to another user, who may know or change its content: remove it, or use another path"
        case .foreign(let location): "\(location) contains tables of another program: use another database"
        case .behind(let steps):
            "the database lacks schema step \(steps.map(String.init).joined(separator: ", ")): run `spindle migrate`"
        case .newer(let step): "the database has schema step \(step): it was made by a newer Spindle than this one"
        case .altered(let step):
            "the database was made by an unreleased version of Spindle, and cannot be upgraded: its schema step "
                + "\(step) is unknown to this program. Run `spindle init` with a new database, or use the program "
                + "that made "
                + "this one"
        case .usersInDevelopment:
            "this database has users or merchants: give --dev a database of its own, such as `--database dev.db`"
        case .forDevelopment(let since):
            "this database has been served with --dev since \(since): its users signed in without proof. Give an https "
                + "issuer another database"
        }
    }
}
