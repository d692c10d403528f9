public import Cryptography
public import Delivery
public import Keys
public import Logging
public import Mail
public import Outbound
public import Pages
public import Storage
public import Values

/// What a server needs besides its configuration. Tests pass their own clock.
public struct Parts: Sendable {
    let database: any Database
    let masterKey: MasterKey
    let clock: any WallClock
    let random: any RandomSource
    let hashing: HashingPool
    let templates: Templates
    let mailer: any Mailer
    /// Nil where there are no text messages.
    let texts: (any TextSender)?
    let logger: Logger
    /// The longest that a fetch from another server may take.
    let longestFetch: Duration

    public init(
        database: any Database, masterKey: MasterKey, clock: any WallClock = SystemClock(),
        random: any RandomSource = SystemRandom(), hashing: HashingPool, templates: Templates, mailer: any Mailer,
        texts: (any TextSender)? = nil,
        logger: Logger, longestFetch: Duration = OutboundPolicy.longestWait
    ) {
        self.database = database
        self.masterKey = masterKey
        self.clock = clock
        self.random = random
        self.hashing = hashing
        self.templates = templates
        self.mailer = mailer
        self.texts = texts
        self.logger = logger
        self.longestFetch = longestFetch
    }
}

extension MasterKey {
    /// The key for `purpose`, derived from this one.
    func key(for purpose: String) -> [UInt8] { sealing(for: purpose).derivedBytes(for: purpose) }
}

extension Templates {
    /// The pages and mails of this server: ours, or those that the operator replaced. Throws if those cannot be read.
    init(_ configuration: SpindleConfiguration, isDevelopment: Bool = false) throws {
        try self.init(
            overriding: configuration.templates, site: configuration.issuer.host, isDevelopment: isDevelopment)
    }
}
