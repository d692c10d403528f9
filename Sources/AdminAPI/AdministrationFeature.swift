public import Administration
public import Authentication
public import Delivery
public import Ditto
public import Federation
public import HTTPSupport
public import OAuth

/// `/admin/v1/…`, for the platform's administrators and those of merchants.
public struct AdministrationFeature: Feature {
    public let endpoints: [any Endpoint]

    public init(
        _ context: ServerContext, _ oauth: OAuthServices, _ authentication: AuthenticationServices,
        _ federation: FederationServices, users: UserAdministration, finding: Finding, keys: KeyAdministration,
        outbox: Outbox, webhooks: DittoWebhooks, addresses: AddressRules, requestKey: [UInt8]
    ) {
        let gate = AdministratorGate(
            tokens: oauth.accessTokens, addresses: addresses, database: context.database, audit: context.audit,
            answers: IdempotentAnswers(
                database: context.database, seal: context.seal, clock: context.clock, random: context.random,
                requestKey: requestKey))
        let reach = UserReach(administration: users)
        let holdings = UserHoldings(
            database: context.database, clock: context.clock, random: context.random,
            sessions: authentication.sessionList,
            families: context.families, apps: oauth.apps, links: federation.subjects, outbox: outbox)
        endpoints = [
            MerchantsEndpoint(
                gate: gate, merchants: context.merchants, issuers: context.issuers, addresses: addresses),
            ClientsEndpoint(
                gate: gate, clients: context.clients, merchants: context.merchants, addresses: addresses),
            InitialAccessTokensEndpoint(gate: gate, tokens: oauth.initialTokens),
            UsersEndpoint(
                gate: gate, administration: users, finding: finding, users: context.users,
                data: authentication.personalData, mail: context.mail),
            IssuersEndpoint(gate: gate, issuers: context.issuers),
            WebhooksEndpoint(gate: gate, webhooks: webhooks, site: context.site),
            EventsEndpoint(gate: gate, log: context.audit, users: users),
            FindEndpoint(gate: gate, finding: finding),
            UserHoldingsEndpoint(gate: gate, reach: reach, holdings: holdings),
            UserActionsEndpoint(
                gate: gate, reach: reach, users: context.users, clients: context.clients, merchants: context.merchants,
                verifications: authentication.verifications, deletion: context.deletion, mail: context.mail,
                clock: context.clock, random: context.random),
            KeysEndpoint(gate: gate, keys: keys),
            DeliveriesEndpoint(
                gate: gate, outbox: outbox, counts: Counts(database: context.database, clock: context.clock),
                clock: context.clock, random: context.random),
        ]
    }
}
