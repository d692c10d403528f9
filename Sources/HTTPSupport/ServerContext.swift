public import Audit
public import Authentication
public import Cryptography
public import Directory
public import Federation
public import Keys
public import OAuth
public import Outbound
public import Pages
public import Storage
public import Values

/// What the features of every surface need.
public struct ServerContext: Sendable {
    public let database: any Database
    public let clock: any WallClock
    public let random: any RandomSource
    public let seal: Seal
    public let outbound: Outbound
    public let site: Site
    public let address: ClientAddress
    public let clients: Clients
    public let merchants: Merchants
    public let users: Users
    public let issuers: TrustedIssuers
    public let families: TokenFamilies
    public let audit: AuditLog
    public let callbacks: Callbacks
    public let events: UserEvents
    public let deletion: UserDeletion
    public let mail: MailComposer
    /// Nil where there are no text messages.
    public let texts: TextComposer?
    public let templates: Templates

    public init(
        database: any Database, clock: any WallClock, random: any RandomSource, seal: Seal, outbound: Outbound,
        site: Site, address: ClientAddress, clients: Clients, merchants: Merchants, users: Users,
        issuers: TrustedIssuers, families: TokenFamilies, audit: AuditLog, callbacks: Callbacks,
        events: UserEvents,
        deletion: UserDeletion,
        mail: MailComposer, texts: TextComposer?, templates: Templates
    ) {
        self.database = database
        self.clock = clock
        self.random = random
        self.seal = seal
        self.outbound = outbound
        self.site = site
        self.address = address
        self.clients = clients
        self.merchants = merchants
        self.users = users
        self.issuers = issuers
        self.families = families
        self.audit = audit
        self.callbacks = callbacks
        self.events = events
        self.deletion = deletion
        self.mail = mail
        self.texts = texts
        self.templates = templates
    }

    package var signSecrets: SignSecrets { SignSecrets(seal: seal) }
}
