import AdminAPI
import Authentication
import BrowserPages
import Cryptography
import Directory
import Ditto
import Federation
import HTTPSupport
import Keys
import OAuth
import OpenID
import Outbound
import Pages
import SPiD
import SPiDAPI
import Storage
import TokenAPI
import Values

/// A server, wired and ready to listen.
public struct Spindle: Sendable {
    /// What answers everybody; also administration, unless that has an address of its own.
    let publicRouter: Router
    /// What answers administrators, when they have an address of their own.
    let adminRouter: Router?
    /// Every route of the public address, as `POST /login`: what is tested for all of them is compared with these.
    public let routes: [String]
    let signingKeys: SigningKeys
    let clients: Clients
    let retention: Retention
    let deletion: Deletion
    /// What takes mails and callbacks to where they belong.
    let postman: DeliveryService
}

extension Spindle {
    /// The wiring diagram: configuration and parts in, a server out.
    public static func build(_ configuration: SpindleConfiguration, _ parts: Parts) throws -> Spindle {
        let (database, clock, random) = (parts.database, parts.clock, parts.random)
        let seal = Seal(masterKey: parts.masterKey, random: random)
        let policy = OutboundPolicy(
            allowedPrivateRanges: configuration.outboundAllowPrivate, longestWait: parts.longestFetch)
        let stores = Stores(
            configuration, database: database, seal: seal, clock: clock, random: random, hashing: parts.hashing,
            templates: parts.templates, logger: parts.logger)
        let outbound = Outbound(policy: policy, logger: parts.logger, clock: clock)
        let site = Site(configuration)
        let address = ClientAddress(trustedProxies: configuration.trustedProxies)

        // Tokens
        let signIn = SignIn(database: database, hashing: parts.hashing, clock: clock, random: random)
        let clientKeys = ClientKeys(
            published: ClientKeys.Published(IssuerKeys(outbound: outbound, clock: clock)))
        let replays = ReplayMemory(database: database, random: random)
        let authenticator = ClientAuthenticator(
            database: database, known: stores.knownClients,
            assertions: ClientAssertions(
                keys: clientKeys, secrets: SignSecrets(seal: seal), issuer: site.issuer,
                tokenEndpoint: site.tokenEndpoint,
                replays: replays, clock: clock))
        let initialTokens = InitialAccessTokens(database: database, clock: clock, random: random)
        let accessTokens = AccessTokens(database: database, clock: clock)
        let codes = AuthorizationCodes(database: database, random: random)
        let exchangeCodes = ExchangeCodes(database: database, clients: stores.clients, clock: clock, random: random)
        let signingKeys = SigningKeys(database: database, seal: seal)
        let ring = KeyRing(keys: signingKeys, clock: clock)
        let others = FederationFeature(
            configuration, stores, site: site, outbound: outbound, seal: seal, ring: ring, clock: clock, random: random)
        let providers = ProviderAssertions(
            issuers: stores.issuers, secrets: SignSecrets(seal: seal), tokens: others.providers, origin: site.origin,
            clock: clock)
        let assertions = AssertionSignIn(
            issuers: stores.issuers, verifier: others.verifier, people: others.people,
            audiences: [site.issuer, site.tokenEndpoint], clock: clock, random: random)
        let grants: [any Grant] = [
            PasswordGrant(signingInWith: signIn, clock: clock, random: random),
            ClientCredentialsGrant(),
            AuthorizationCodeGrant(database: database),
            RefreshTokenGrant(tokens: RefreshTokens(database: database), seal: seal, clock: clock, random: random),
            JWTBearerGrant(
                signIn: assertions, subjects: IssuerSubjects(database: database), providers: providers, clock: clock,
                random: random),
            TokenExchangeGrant(signIn: assertions, issuer: site.issuer),
        ]
        let names = SubjectIdentifiers(database: database, random: random)
        let claims = UserClaims(users: stores.users, consents: Consents(database: database))
        let hints = IDTokenHints(issuer: site.issuer, ring: ring, names: names, clients: stores.clients)
        let ids = IDTokens(
            issuer: site.issuer, ring: ring, names: names,
            claims: claims)
        let bearer = BearerTokenMint(
            database: database,
            jwts: JWTAccessTokens(issuer: site.issuer, ring: ring) { try await names.subject($0, for: $1) },
            callbacks: stores.callbacks, clock: clock, random: random)
        let mint = IDTokenMint(bearer: bearer, ids: ids, clock: clock)
        let issuance = TokenIssuance(
            clients: authenticator, grants: grants,
            mint: mint, issuer: site.issuer)

        // People and their pages
        let people = People(
            parts, stores, site: site, address: address, outbound: outbound, terms: configuration.terms,
            logouts: LogoutTokens(
                issuer: site.issuer, ring: ring, names: names, clients: stores.clients, clock: clock, random: random))
        let sessions = people.sessions
        let pages = people.pages

        // What answers
        let crossOrigin = CrossOrigin(
            clients: stores.clients, origins: KnownOrigins(database: database, clock: clock))
        let webhooks = DittoWebhooks(
            database: database, clients: stores.clients, clock: clock, random: random, seal: seal)
        let personGate = UserAuthentication(
            tokens: accessTokens, signIn: signIn, realm: configuration.basicRealm, address: address, random: random)
        let addressRules = AddressRules(site: site.origin) { (try? policy.check($0)) != nil }
        let endpoints: [any Endpoint] = [
            MetadataEndpoint(
                metadata: ProviderMetadata(
                    issuer: site.issuer, origin: site.origin, grants: GrantType.all,
                    languages: Language.allCases.map(\.rawValue)),
                keys: KeySet(ring: ring), site: site),
            TokenEndpoint(issuance: issuance, address: address),
            RegistrationEndpoint(
                registration: ClientRegistration(
                    database: database, clients: stores.clients, initialTokens: initialTokens,
                    sectors: SectorDocument.Source(askedBy: outbound),
                    addresses: addressRules,
                    allowsUnsafeTokens: site.allowsUnsafeTokens, random: random),
                site: site),
            ExchangeEndpoint(tokens: accessTokens, codes: exchangeCodes),
            IntrospectionEndpoint(
                introspection: Introspection(clients: authenticator, tokens: accessTokens), clients: stores.clients,
                names: names, issuer: site.issuer),
            RevocationEndpoint(
                revocation: Revocation(
                    database: database, clients: authenticator, callbacks: stores.callbacks, clock: clock)),
            AuthorizeEndpoint(
                pages: pages,
                answers: AuthorizationAnswers(
                    codes: codes,
                    direct: FrontChannelTokens(database: database, mint: bearer, clock: clock, random: random),
                    ids: ids,
                    issuer: site.issuer, clock: clock),
                requestedSubject: RequestedSubject(names: names, hints: hints),
                requestObjects: RequestObjects(
                    keys: clientKeys, addresses: RequestAddresses(askedBy: outbound), issuer: site.issuer,
                    replays: replays, clock: clock),
                consents: people.consents, introductions: people.introductions, sessions: sessions, clock: clock),
            ConsentEndpoint(
                pages: pages, consents: people.consents, introductions: people.introductions,
                agreements: people.agreements, sessions: sessions, clock: clock),
            SessionCodeEndpoint(
                pages: pages, exchange: SessionExchange(database: database, clock: clock), sessions: sessions,
                users: stores.users, address: address, clock: clock, random: random),
            HasSessionEndpoint(
                site: site, clients: stores.clients, sessions: sessions, users: stores.users,
                names: names, apps: people.apps, introductions: people.introductions, agreements: people.agreements,
                signSecrets: SignSecrets(seal: seal), clock: clock),
            AjaxEndpoint(
                site: site, clients: stores.clients, sessions: sessions, apps: people.apps,
                introductions: people.introductions, agreements: people.agreements, clock: clock),
            FlowEndpoint(pages: pages),
            LogoutEndpoint(
                pages: pages, tokens: accessTokens, families: stores.families, sessions: sessions,
                hints: hints,
                clock: clock),
            UserEndpoint(
                gate: personGate, tokens: accessTokens, clients: stores.clients, names: names,
                users: stores.users, families: stores.families, apps: people.apps),
            UserinfoEndpoint(
                gate: personGate, clients: stores.clients, families: stores.families, names: names,
                claims: claims, ring: ring, issuer: site.issuer),
            DittoEndpoint(
                webhooks: webhooks,
                authentication: DittoAuthentication(
                    seal: seal,
                    tokens: DittoTokens(
                        accessTokens: accessTokens, hints: hints, clients: stores.clients, names: names,
                        users: stores.users, issuer: site.issuer), clock: clock)),
            crossOrigin,
        ]
        let connectedPeople = ConnectedUsers(database: database)
        let connections = Connections(database: database)
        let api = SPiDInterface(
            [
                ExchangeResource(codes: exchangeCodes),
                ProviderResource(
                    users: ProviderUsers(database: database, assertions: providers, clock: clock, random: random),
                    people: connectedPeople, connections: connections, pages: pages, mail: stores.mail, clock: clock),
                StatusResource(
                    version: Spindle.version, grantTypes: grants.map { type(of: $0).type }, clock: clock),
                ClientResource(clients: stores.clients),
                AgreementResource(
                    agreements: people.agreements, clients: stores.clients, people: connectedPeople,
                    connections: connections, clock: clock),
                TokenAuthenticationResource(tokens: accessTokens, clients: stores.clients, clock: clock),
                LogoutResource(families: stores.families, clock: clock),
                UserResource(
                    people: connectedPeople, connections: connections, clients: stores.clients, apps: people.apps,
                    clock: clock),
                UserListResource(people: connectedPeople, clock: clock),
                EmailResource(people: connectedPeople),
                SignUpResource(
                    signUp: people.appSignUp, agreements: people.agreements, pages: pages, mail: stores.mail),
                LoginResource(
                    logins: Logins(database: database), people: connectedPeople, connections: connections),
            ], tokens: accessTokens, clients: stores.clients, signSecrets: SignSecrets(seal: seal),
            allowance: RequestAllowance(limit: configuration.apiLimit), clock: clock)
        let gate = AdministratorGate(tokens: accessTokens)
        let administration: [any Endpoint] = [
            MerchantsEndpoint(gate: gate, merchants: stores.merchants),
            ClientsEndpoint(
                gate: gate, clients: stores.clients, merchants: stores.merchants, addresses: addressRules),
            InitialAccessTokensEndpoint(gate: gate, tokens: initialTokens),
            UsersEndpoint(
                gate: gate, administration: stores.administration, users: stores.users, data: people.data,
                mail: stores.mail),
            IssuersEndpoint(gate: gate, issuers: stores.issuers),
            WebhooksEndpoint(gate: gate, webhooks: webhooks, site: site),
        ]
        let health = HealthEndpoint(database: database)
        let hasAdminAddress = configuration.adminListen != nil
        let routes = Routes(
            endpoints + people.endpoints + others.endpoints(for: people, parts, site: site, seal: seal) + [
                api, health,
            ], administration: hasAdminAddress ? [] : administration)
        func router(_ routes: Routes) -> Router {
            Router(
                routes, pages: pages, dialects: [ProblemBoundary.dialect, SPiDInterface.dialect],
                crossOrigin: crossOrigin, logger: parts.logger, random: random)
        }
        return Spindle(
            publicRouter: router(routes),
            adminRouter: hasAdminAddress ? router(Routes([health], administration: administration)) : nil,
            routes: routes.descriptions, signingKeys: signingKeys, clients: stores.clients,
            retention: Retention(database: database, tables: StoredTable.all),
            deletion: stores.deletion, postman: people.postman)
    }
}

extension Routes {
    fileprivate init(_ endpoints: [any Endpoint], administration: [any Endpoint]) {
        var routes = Routes()
        for endpoint in endpoints { endpoint.add(to: &routes) }
        var admin = Routes(below: ProblemBoundary.prefix, refusal: ProblemBoundary.response)
        for endpoint in administration { endpoint.add(to: &admin) }
        self = routes + admin
    }
}

extension PasswordGrant {
    /// Where the two strangers, OAuth and Authentication, meet.
    fileprivate init(signingInWith signIn: SignIn, clock: any WallClock, random: any RandomSource) {
        self.init { username, password, request, client in
            do {
                let login = Login.Attempt(
                    id: .random(from: random), client: client.id, kind: .api, address: request.address,
                    userAgent: request.userAgent)
                let proof = try await signIn.check(
                    username: username, password: password, address: request.address, login: login)
                guard proof.deletionDueAt == nil else { throw OAuthError.wrongUserCredentials("deletion_pending") }
                let subject = Subject(
                    user: proof.user, signedInAt: clock.now, method: Session.Method.password.rawValue)
                return Proof(subject: subject, isVerified: proof.isVerified, holds: proof.holds)
            } catch let refusal as SignIn.Refusal {
                throw refusal.oauthError
            }
        }
    }
}

extension RequestAddresses {
    fileprivate init(askedBy outbound: Outbound) {
        let outbound = outbound.asking(for: .requestObject)
        self.init { address, client in
            let answer = try await outbound.get(
                address, accept: "application/oauth-authz-req+jwt, application/jwt", limit: Self.longestObject,
                by: client.text)
            guard answer.status == 200 else { throw OutboundError.unreachable }
            return answer.body
        }
    }
}

extension SectorDocument.Source {
    /// Documents are small: what is longer is none.
    fileprivate init(askedBy outbound: Outbound) {
        let outbound = outbound.asking(for: .sector)
        self.init { address, asker in
            let answer = try await outbound.get(address, limit: 65536, by: asker)
            guard answer.status == 200 else { throw OutboundError.unreachable }
            return answer.body
        }
    }
}
