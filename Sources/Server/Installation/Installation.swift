public import Cryptography
public import Keys
import Logging
import Pages
public import Storage
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
