public import Cryptography
public import Federation
public import Identity
public import Keys
public import OAuth
public import Outbound
public import Storage
public import Values

/// Where everything is kept: what the server and the commands share.
public struct Stores: Sendable {
    public let database: any Database
    public let knownClients: KnownClients
    public let merchants: Merchants
    public let clients: Clients
    public let accounts: Accounts
    public let permissions: Permissions
    public let issuers: TrustedIssuers

    public init(
        database: any Database, seal: Seal, clock: any WallClock, random: any RandomSource, hashing: HashingPool,
        outbound: OutboundPolicy
    ) {
        self.database = database
        knownClients = KnownClients(clock: clock)
        merchants = Merchants(database: database, clock: clock, random: random, known: knownClients)
        clients = Clients(database: database, clock: clock, random: random, seal: seal, known: knownClients)
        permissions = Permissions(database: database)
        accounts = Accounts(
            database: database, hashing: hashing, clock: clock, random: random, endAccess: Permissions.endAll)
        issuers = TrustedIssuers(database: database, clock: clock, random: random, seal: seal, outbound: outbound)
    }
}
