public import Cryptography
public import Directory
public import Keys
public import Storage
public import Values

/// What this module offers the modules above it.
public struct OAuthServices: Sendable {
    /// Charges a user for a stored code.
    public let charge: CodeCharge
    public let accessTokens: AccessTokens
    public let codes: AuthorizationCodes
    public let exchangeCodes: ExchangeCodes
    public let sessionExchange: SessionExchange
    public let clientKeys: ClientKeys
    public let replays: ReplayMemory
    public let authenticator: ClientAuthenticator
    public let initialTokens: InitialAccessTokens
    public let interactions: Interactions
    public let consents: Consents
    public let introductions: Introductions
    public let agreements: Agreements
    public let apps: ConnectedApps
    public let sessionClients: SessionClients

    /// - Parameters:
    ///   - published: the keys that clients publish at their `jwks_uri`.
    ///   - terms: the URL of the platform's terms.
    ///   - open: a client of which every secret is right, in development mode only.
    public init(
        database: any Database, clock: any WallClock, random: any RandomSource, clients: Clients, known: KnownClients,
        signSecrets: SignSecrets, seal: Seal, callbacks: Callbacks, events: UserEvents,
        published: ClientKeys.Published, issuer: String, origin: String, tokenEndpoints: [String], terms: String?,
        open: Client.ID? = nil, charge: @escaping CodeCharge
    ) {
        self.charge = charge
        accessTokens = AccessTokens(database: database, clients: clients, clock: clock)
        codes = AuthorizationCodes(database: database, random: random, charge: charge)
        let accounts = SessionCodeAddresses(origin: origin)
        exchangeCodes = ExchangeCodes(
            database: database, clients: clients, accounts: accounts, seal: seal, clock: clock, random: random,
            charge: charge)
        sessionExchange = SessionExchange(database: database, accounts: accounts, clock: clock)
        clientKeys = ClientKeys(published: published)
        replays = ReplayMemory(database: database, random: random)
        authenticator = ClientAuthenticator(
            database: database, known: known, open: open,
            assertions: ClientAssertions(
                keys: clientKeys, secrets: signSecrets, issuer: issuer, origin: origin,
                tokenEndpoints: tokenEndpoints, replays: replays, clock: clock))
        initialTokens = InitialAccessTokens(database: database, clock: clock, random: random)
        interactions = Interactions(database: database, seal: seal, clock: clock, random: random)
        consents = Consents(database: database, callbacks: callbacks)
        introductions = Introductions(database: database)
        agreements = Agreements(database: database, terms: terms)
        sessionClients = SessionClients(database: database, callbacks: callbacks)
        apps = ConnectedApps(database: database, clock: clock, callbacks: callbacks, events: events)
    }
}
