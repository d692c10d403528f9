import Endpoints
import Federation
import Hummingbird
import Identity
import Keys
import OAuth
import Outbound
import Values

/// A server, wired and ready to listen.
public struct Spindle: Sendable {
    /// What answers everybody; also administration, unless that has an address of its own.
    let publicResponder: RouterResponder<SpindleContext>
    /// What answers administrators, when they have an address of their own.
    let adminResponder: RouterResponder<SpindleContext>?
    let retention: Retention
    let deletion: Deletion
    /// What takes mails and callbacks to where they belong.
    let postman: Postman
}

extension Spindle {
    /// The wiring diagram: configuration and parts in, a server out.
    public static func build(_ configuration: SpindleConfiguration, _ parts: Parts) throws -> Spindle {
        let (database, clock, random) = (parts.database, parts.clock, parts.random)
        let seal = Seal(masterKey: parts.masterKey, random: random)
        let policy = OutboundPolicy(allowedPrivateRanges: configuration.outboundAllowPrivate)
        let stores = Stores(
            configuration, database: database, seal: seal, clock: clock, random: random, hashing: parts.hashing,
            templates: parts.templates, logger: parts.logger)
        let outbound = Outbound(policy: policy, logger: parts.logger)
        let site = Site(configuration)
        let address = ClientAddress(trustedProxies: configuration.trustedProxies)

        // Tokens
        let signIn = SignIn(database: database, hashing: parts.hashing, clock: clock, random: random)
        let authenticator = ClientAuthenticator(database: database, known: stores.knownClients)
        let accessTokens = AccessTokens(database: database, clock: clock)
        let codes = AuthorizationCodes(database: database, random: random)
        let exchangeCodes = ExchangeCodes(database: database, clients: stores.clients, clock: clock, random: random)
        let issuerKeys = IssuerKeys(outbound: outbound, clock: clock)
        let grants: [any Grant] = [
            PasswordGrant(signingInWith: signIn, clock: clock),
            ClientCredentialsGrant(),
            AuthorizationCodeGrant(database: database),
            RefreshTokenGrant(tokens: RefreshTokens(database: database), seal: seal, clock: clock, random: random),
            JWTBearerGrant(
                issuers: stores.issuers, subjects: IssuerSubjects(database: database),
                verifier: AssertionVerifier(published: issuerKeys, seal: seal),
                audiences: [site.issuer, site.tokenEndpoint], clock: clock, random: random),
        ]
        let issuance = TokenIssuance(
            clients: authenticator, grants: grants,
            mint: BearerTokenMint(database: database, clock: clock, random: random))

        // People and their pages
        let people = People(parts, stores, site: site, address: address, outbound: outbound)
        let sessions = people.sessions
        let pages = people.pages

        // What answers
        let endpoints: [any Endpoint] = [
            TokenEndpoint(issuance: issuance, address: address),
            ExchangeEndpoint(tokens: accessTokens, codes: exchangeCodes),
            IntrospectionEndpoint(
                introspection: Introspection(clients: authenticator, tokens: accessTokens), issuer: site.issuer),
            RevocationEndpoint(revocation: Revocation(database: database, clients: authenticator, clock: clock)),
            AuthorizeEndpoint(
                pages: pages, codes: codes, consents: people.consents, sessions: sessions, clock: clock),
            ConsentEndpoint(pages: pages, consents: people.consents, sessions: sessions, clock: clock),
            SessionCodeEndpoint(
                pages: pages, exchange: SessionExchange(database: database, clock: clock), sessions: sessions,
                accounts: stores.accounts, address: address, clock: clock, random: random),
            HasSessionEndpoint(
                site: site, clients: stores.clients, sessions: sessions, accounts: stores.accounts,
                apps: people.apps, clock: clock),
            LogoutEndpoint(
                pages: pages, tokens: accessTokens, permissions: stores.permissions, sessions: sessions, clock: clock),
            UserEndpoint(tokens: accessTokens, accounts: stores.accounts, permissions: stores.permissions),
        ]
        let api = SPiDInterface(
            [
                ExchangeResource(codes: exchangeCodes),
            ], tokens: accessTokens, clients: stores.clients, signSecrets: SignSecrets(seal: seal),
            allowance: RequestAllowance(limit: configuration.apiLimit), clock: clock)
        let gate = AdministratorGate(tokens: accessTokens)
        let administration: [any Endpoint] = [
            MerchantsEndpoint(gate: gate, merchants: stores.merchants),
            ClientsEndpoint(gate: gate, clients: stores.clients, merchants: stores.merchants),
            UsersEndpoint(
                gate: gate, accounts: stores.accounts, permissions: stores.permissions, deletion: stores.deletion,
                data: people.data, mail: stores.mail, clock: clock),
            IssuersEndpoint(gate: gate, issuers: stores.issuers),
        ]
        let health = HealthEndpoint(database: database)
        let hasAdminAddress = configuration.adminListen != nil
        return Spindle(
            publicResponder: .init(
                endpoints + people.endpoints + [api, health], administration: hasAdminAddress ? [] : administration,
                pages: pages),
            adminResponder: hasAdminAddress ? .init([health], administration: administration, pages: pages) : nil,
            retention: Retention(database: database), deletion: stores.deletion, postman: people.postman)
    }
}

extension RouterResponder<SpindleContext> {
    fileprivate init(
        _ endpoints: [any Endpoint], administration: [any Endpoint], pages: PageRenderer
    ) {
        let router = Router(context: SpindleContext.self)
        router.add(middleware: ErrorBoundary(pages: pages))
        let root = router.group()
        for endpoint in endpoints { endpoint.add(to: root) }
        let admin = router.group("/admin/v1").add(middleware: ProblemBoundary())
        for endpoint in administration { endpoint.add(to: admin) }
        router.refuseOtherMethods()
        self = router.buildResponder()
    }
}

extension Site {
    init(_ configuration: SpindleConfiguration) {
        self.init(
            issuer: configuration.issuer.text, origin: configuration.issuer.origin,
            sameSite: configuration.sessionSameSite == .none ? .none : .lax)
    }
}

extension PasswordGrant {
    /// Where the two strangers, OAuth and Identity, meet.
    fileprivate init(signingInWith signIn: SignIn, clock: any WallClock) {
        self.init { username, password, address in
            do {
                let proof = try await signIn.check(username: username, password: password, address: address)
                guard proof.deletionDueAt == nil else { throw OAuthError.wrongUserCredentials("deletion_pending") }
                let subject = Subject(account: proof.account, signedInAt: clock.now)
                return Proof(subject: subject, isVerified: proof.isVerified, holds: proof.holds)
            } catch let refusal as SignIn.Refusal {
                throw refusal.oauthError
            }
        }
    }
}
