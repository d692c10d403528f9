import Administration
import AdminAPI
import Administration
import Authentication
import BrowserPages
import Cryptography
import Directory
import Ditto
import Federation
import HTTP
import HTTPSupport
import Keys
import Logging
import Migrations
import OAuth
import OpenID
import Outbound
import Pages
import SPiD
import SPiDAPI
import Storage
import TokenAPI
import Values

extension Spindle {
    /// Builds the whole server from its configuration and its parts: first the services of the modules, then the
    /// features. Each feature's own file says what it needs and offers.
    public static func build(_ configuration: SpindleConfiguration, _ parts: Parts) throws -> Spindle {
        let (database, clock, random) = (parts.database, parts.clock, parts.random)
        let stores = Stores(
            configuration, database: database, seal: Seal(masterKey: parts.masterKey, random: random), clock: clock,
            random: random, hashing: parts.hashing, templates: parts.templates, logger: parts.logger)
        let policy = OutboundPolicy(
            allowedPrivateRanges: configuration.outboundAllowPrivate, longestWait: parts.longestFetch)
        let context = ServerContext(configuration, parts, stores, policy)
        let (site, outbound) = (context.site, context.outbound)
        let signingKeys = StoredSigningKeys(database: database, seal: context.seal)
        let ring = KeyRing(keys: signingKeys, clock: clock)

        // What modules offer
        let oauth = OAuthServices(
            database: database, clock: clock, random: random, clients: stores.clients, known: stores.knownClients,
            signSecrets: context.signSecrets, seal: context.seal, callbacks: stores.callbacks,
            events: stores.events, published: ClientKeys.Published(IssuerKeys(outbound: outbound, clock: clock)),
            issuer: site.issuer, origin: site.origin, tokenEndpoints: site.tokenEndpoints,
            terms: configuration.terms,
            open: parts.templates.isDevelopment ? SyncGatewayClient.id : nil,
            charge: { user, share, now, db in
                if let wait = try CodeThrottle.charge(user, by: share, at: now, in: db) {
                    throw OAuthError.tooManyIssuedCodes(wait)
                }
            })
        let openID = OpenIDServices(
            database: database, clock: clock, random: random, seal: context.seal, ring: ring,
            signSecrets: context.signSecrets, clients: stores.clients, merchants: stores.merchants, users: stores.users,
            consents: oauth.consents, callbacks: stores.callbacks, issuer: site.issuer)
        let authentication = AuthenticationServices(
            database: database, clock: clock, random: random, hashing: parts.hashing, events: stores.events,
            audit: stores.audit, codeKey: parts.masterKey.key(for: "mail_codes"), tables: StoredTable.all.reversed())
        let federation = FederationServices(
            database: database, clock: clock, random: random, seal: context.seal, ring: ring, outbound: outbound,
            operators: Outbound(
                policy: .toOperators(longestWait: parts.longestFetch), logger: parts.logger, clock: clock),
            issuers: stores.issuers, signSecrets: context.signSecrets,
            addresses: .init(facebook: configuration.facebookAPI, google: configuration.googleAPI),
            issuer: site.issuer, origin: site.origin, tokenEndpoints: site.tokenEndpoints, events: stores.events)
        let webhooks = DittoWebhooks(
            database: database, clients: stores.clients, clock: clock, random: random, seal: context.seal)

        // What they share
        let development = DevelopmentParts(parts)
        let pages = PageRenderer(
            templates: stores.templates, site: site,
            forms: FormGuard(site: site, key: parts.masterKey.key(for: "form_tokens"), random: random),
            clients: stores.clients, merchants: stores.merchants, issuers: stores.issuers,
            interactions: oauth.interactions, address: context.address,
            log: RequestLog(development?.logger ?? parts.logger, address: context.address, random: random))
        let sessions = NewSessions(
            sessions: authentication.sessions, interactions: oauth.interactions, site: site, address: context.address,
            random: random)
        let access = UserAccess(
            pages: pages, newSessions: sessions, signIn: authentication.signIn, users: stores.users,
            clock: clock)
        let addresses = stores.addresses
        let crossOrigin = CrossOrigin(
            clients: stores.clients, origins: KnownOrigins(database: database, clock: clock))
        let hosts = SessionHosts(
            site: site, known: KnownSessionHosts(database: database, clients: stores.knownClients, clock: clock))

        // The features
        let tokens = TokenFeature(
            context, oauth, openID, authentication, federation, addresses: addresses,
            introspectionCache: configuration.introspectionCache)
        let features: [any Feature] = [
            OpenIDFeature(context, oauth, openID, authentication, ring: ring, realm: configuration.basicRealm),
            tokens,
            AuthorizationFeature(context, oauth, openID, authentication, pages: pages),
            SignInFeature(context, oauth, authentication, pages: pages, sessions: sessions),
            AccountFeature(
                context, oauth, authentication, federation, pages: pages, sessions: sessions, access: access),
            IdentityProviderFeature(
                context, authentication, federation, pages: pages, sessions: sessions, access: access),
            DittoFeature(context, oauth, openID, webhooks: webhooks),
            SPiDFeature(
                context, oauth, authentication, federation, pages: pages, version: Spindle.version,
                grants: tokens.grants, limit: configuration.apiLimit, privacy: configuration.privacy),
        ]
        let administration = AdministrationFeature(
            context, oauth, authentication, federation, users: stores.administration,
            finding: Administration.Finding(database: database, names: openID.names),
            keys: KeyAdministration(keys: signingKeys, clients: stores.clients, clock: clock, random: random),
            outbox: stores.outbox, webhooks: webhooks, addresses: addresses,
            requestKey: parts.masterKey.key(for: "idempotent_requests"))
        let health: any Endpoint = HealthEndpoint(database: database, seal: context.seal, steps: Migration.all)

        // Administration has its own address if the configuration says so.
        let isApart = configuration.adminListen != nil
        func handler(_ routes: Routes) -> any RequestHandler {
            let router = Router(
                routes, pages: pages, dialects: [ProblemBoundary.dialect, SPiDInterface.dialect],
                crossOrigin: crossOrigin, hosts: hosts, audit: stores.audit)
            return development?.handler(over: router) ?? router
        }
        var endpoints = [health] + features.flatMap(\.endpoints)
        if let development {
            let server = handler(Routes(endpoints, administration: nil, at: site.origin))
            endpoints +=
                DevelopmentFeature(
                    context, authentication, pages: pages, sessions: sessions, memory: development.memory,
                    secrets: development.secrets, server: server,
                    administration: configuration.adminListen.map { "http://\($0)" } ?? site.origin,
                    register: { try await DevelopmentSetup.register($1, at: $0, in: stores.clients, by: addresses) }
                ).endpoints
        }
        let routes = Routes(
            endpoints, administration: isApart ? nil : administration, at: site.origin)
        return Spindle(
            publicRouter: handler(routes),
            adminRouter: isApart ? handler(Routes([health], administration: administration, at: site.origin)) : nil,
            routes: routes.descriptions, database: database, signingKeys: signingKeys, clients: stores.clients,
            merchants: stores.merchants, issuers: stores.issuers,
            retention: Retention(database: database, tables: StoredTable.all), audit: stores.audit,
            deletion: stores.deletion,
            delivery: DeliveryService(
                outbox: stores.outbox, mailer: development?.mailer ?? parts.mailer, texts: parts.texts,
                outbound: outbound, logouts: openID.logouts, events: openID.securityEvents, clients: stores.clients))
    }
}

extension ServerContext {
    fileprivate init(
        _ configuration: SpindleConfiguration, _ parts: Parts, _ stores: Stores, _ policy: OutboundPolicy
    ) {
        self.init(
            database: parts.database, clock: parts.clock, random: parts.random,
            seal: Seal(masterKey: parts.masterKey, random: parts.random),
            outbound: Outbound(policy: policy, logger: parts.logger, clock: parts.clock), site: Site(configuration),
            address: ClientAddress(trustedProxies: configuration.trustedProxies), clients: stores.clients,
            merchants: stores.merchants, users: stores.users, issuers: stores.issuers, families: stores.families,
            audit: stores.audit, callbacks: stores.callbacks, events: stores.events, deletion: stores.deletion,
            mail: stores.mail,
            texts: parts.texts.map { _ in TextComposer(templates: stores.templates, outbox: stores.outbox) },
            templates: stores.templates)
    }
}

extension Routes {
    fileprivate init(_ endpoints: [any Endpoint], administration: AdministrationFeature?, at origin: String) {
        var routes = Routes()
        for endpoint in endpoints { endpoint.add(to: &routes) }
        var admin = Routes(below: ProblemBoundary.prefix, refusal: ProblemBoundary.response)
        for endpoint in administration?.endpoints ?? [] { endpoint.add(to: &admin) }
        self = routes + admin
        describe(at: origin, version: Spindle.version)
    }
}

extension UserEvents {
    /// All subscribers to user events, in the order in which they act.
    static func subscribers(_ callbacks: Callbacks, _ mail: MailComposer) -> [Subscriber] {
        [
            TokenFamilies.subscriber(telling: callbacks) { AppReturn.Address($0)?.client },
            callbacks.subscriber,
            Verifications.subscriber,
            KnownDevices.subscriber,
            IssuerSubjects.subscriber,
            PhoneVerification.subscriber,
            Agreements.subscriber,
            DataObjects.subscriber,
            UserMails(mail: mail).subscriber,
            audit,
        ]
    }
}
