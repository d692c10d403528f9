public import Audit
import Authentication
public import Cryptography
public import Delivery
import Directory
import Federation
import HTTP
import HTTPSupport
public import Keys
public import Logging
public import Mail
public import Outbound
public import Pages
public import Storage
public import Values

/// A server, ready to listen.
public struct Spindle: Sendable {
    /// Answers all requests, including administration's unless that has its own address.
    let publicRouter: any RequestHandler
    /// Answers administration, when it has its own address.
    let adminRouter: (any RequestHandler)?
    /// Every route of the public address, such as `POST /login`. Tests compare what they cover with these.
    public let routes: [String]
    let database: any Database
    let signingKeys: StoredSigningKeys
    let clients: Clients
    let merchants: Merchants
    let issuers: TrustedIssuers
    let retention: Retention
    public let audit: AuditLog
    let deletion: UserDeletion
    /// Delivers mails and callbacks.
    let delivery: DeliveryService
}

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
    /// Prints mails in development mode.
    let console: @Sendable (String) -> Void

    public init(
        database: any Database, masterKey: MasterKey, clock: any WallClock = SystemClock(),
        random: any RandomSource = SystemRandom(), hashing: HashingPool, templates: Templates, mailer: any Mailer,
        texts: (any TextSender)? = nil,
        logger: Logger, longestFetch: Duration = OutboundPolicy.longestWait,
        console: @escaping @Sendable (String) -> Void = { _ in }
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
        self.console = console
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

extension Spindle {
    /// The answer of `spindle --version` and of SPiD's `version` endpoint.
    public static let version = "0.1.0"
}
