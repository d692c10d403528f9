import Administration
import Audit
public import Authentication
import BrowserPages
public import Cryptography
import Delivery
public import Directory
import Ditto
public import Federation
import HTTPSupport
public import Keys
public import Logging
public import OAuth
import OpenID
import Outbound
public import Pages
import SPiD
public import Storage
public import Values

/// What the server and the commands share: the stores, and what a change in them triggers.
public struct Stores: Sendable {
    public let database: any Database
    public let knownClients: KnownClients
    public let merchants: Merchants
    public let clients: Clients
    public let users: Users
    public let families: TokenFamilies
    public let issuers: TrustedIssuers
    let addresses: AddressRules
    let templates: Templates
    let outbox: Outbox
    /// The callbacks that tell clients about their users.
    let callbacks: Callbacks
    let events: UserEvents
    let audit: AuditLog
    let mail: MailComposer
    let deletion: UserDeletion
    let administration: UserAdministration

    public init(
        _ configuration: SpindleConfiguration, database: any Database, seal: Seal, clock: any WallClock,
        random: any RandomSource, hashing: HashingPool, templates: Templates, logger: Logger
    ) {
        self.database = database
        let policy = OutboundPolicy(allowedPrivateRanges: configuration.outboundAllowPrivate)
        knownClients = KnownClients(clock: clock)
        let erasure = BulkErasure(database: database, tables: StoredTable.all)
        merchants = Merchants(
            database: database, clock: clock, random: random, known: knownClients, erasure: erasure)
        audit = AuditLog(database: database, clock: clock, random: random)
        outbox = Outbox(
            database: database, seal: seal, clock: clock, random: random, logger: logger, audit: audit)
        callbacks = Callbacks(seal: seal, random: random, post: Callbacks.Post(outbox))
        self.templates = templates
        mail = MailComposer(templates: templates, outbox: outbox, site: Site(configuration))
        events = UserEvents(UserEvents.subscribers(callbacks, mail), random: random)
        let sessions = Sessions(database: database, clock: clock, events: events)
        clients = Clients(
            database: database, clock: clock, random: random, seal: seal, known: knownClients, erasure: erasure,
            sessions: sessions)
        families = TokenFamilies(database: database, callbacks: callbacks, events: events)
        users = Users(
            database: database, hashing: hashing, clock: clock, random: random, events: events)
        issuers = TrustedIssuers(
            database: database, clock: clock, random: random, seal: seal,
            outbound: policy, sessions: sessions, families: families)
        addresses = AddressRules(site: Site(configuration).origin) { (try? policy.check($0)) != nil }
        deletion = UserDeletion(
            database: database, grace: configuration.deletionGrace,
            erasure: erasure, clock: clock, events: events)
        administration = UserAdministration(users: users, families: families, deletion: deletion, clock: clock)
    }
}

extension Callbacks.Post {
    /// Queues messages in `outbox` as callbacks, and notices as they are.
    fileprivate init(_ outbox: Outbox) {
        self.init(
            leave: { message, db in
                let callback = Callback(
                    url: message.uri, body: message.body, contentType: "text/plain; charset=utf-8",
                    client: message.client.text)
                try outbox.delivery(
                    callback, share: Delivery.Share(message.merchant),
                    topic: Delivery.Topic(
                        subject: message.subject, content: message.content, isUrgent: message.isUrgent),
                    id: Delivery.ID(message.id.text)
                ).store(in: db)
            },
            leaveNotice: { notice, client, db in
                try outbox.delivery(
                    notice: notice.text, usefulFor: LogoutNotice.use, share: Delivery.Share(client.outboundShare),
                    topic: Delivery.Topic(noticesAbout: "\(notice.client) \(notice.user)"),
                    id: Delivery.ID(notice.id.text)
                ).store(in: db)
            }, send: { outbox.nudge() })
    }
}

extension Delivery.Share {
    /// The share of `merchant` for what its clients receive; clients without a merchant have one together.
    init(_ merchant: Merchant.ID?) { self.init(merchant?.text ?? "") }
}

extension StoredTable {
    /// Every table, children before their parents: the order in which rows are swept and deleted.
    public static let all =
        ofOAuth + ofAuthentication + ofFederation + ofSPiD + [Outbox.table, DittoWebhooks.table] + ofAdministration
        + ofDirectory + ofKeys + ofAudit + [Facts.table]
}
