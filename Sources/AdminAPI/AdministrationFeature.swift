public import Administration
public import Authentication
public import Ditto
public import HTTPSupport
public import OAuth

/// `/admin/v1/…`, for the platform's administrators and those of merchants.
public struct AdministrationFeature: Feature {
    public let endpoints: [any Endpoint]

    public init(
        _ context: ServerContext, _ oauth: OAuthServices, _ authentication: AuthenticationServices,
        users: UserAdministration, finding: Finding, webhooks: DittoWebhooks, addresses: AddressRules
    ) {
        let gate = AdministratorGate(
            tokens: oauth.accessTokens, addresses: addresses, database: context.database, audit: context.audit)
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
        ]
    }
}
