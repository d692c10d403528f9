public import Cryptography
import Endpoints
import Federation
import Hummingbird
import Identity
public import Keys
public import Logging
import OAuth
import Outbound
import Pages
public import Storage
public import Values

/// A server, wired and ready to listen.
public struct Spindle: Sendable {
    /// What answers everybody; also administration, unless that has an address of its own.
    let publicResponder: RouterResponder<SpindleContext>
    /// What answers administrators, when they have an address of their own.
    let adminResponder: RouterResponder<SpindleContext>?
    let retention: Retention
}

/// What a server is made of besides its configuration. Tests bring their own clock.
public struct Parts: Sendable {
    let database: any Database
    let masterKey: MasterKey
    let clock: any WallClock
    let random: any RandomSource
    let hashing: HashingPool
    let logger: Logger

    public init(
        database: any Database, masterKey: MasterKey, clock: any WallClock = SystemClock(),
        random: any RandomSource = SystemRandom(), hashing: HashingPool, logger: Logger
    ) {
        self.database = database
        self.masterKey = masterKey
        self.clock = clock
        self.random = random
        self.hashing = hashing
        self.logger = logger
    }
}

extension Spindle {
    /// The wiring diagram: configuration and parts in, a server out.
    public static func build(_ configuration: SpindleConfiguration, _ parts: Parts) throws -> Spindle {
        let (database, clock, random) = (parts.database, parts.clock, parts.random)
        let seal = Seal(masterKey: parts.masterKey, random: random)
        let policy = OutboundPolicy(allowedPrivateRanges: configuration.outboundAllowPrivate)
        let stores = Stores(
            database: database, seal: seal, clock: clock, random: random, hashing: parts.hashing, outbound: policy)
        let site = Site(configuration)
        let address = ClientAddress(trustedProxies: configuration.trustedProxies)

        // People
        let signIn = SignIn(database: database, hashing: parts.hashing, clock: clock, random: random)
        let sessions = Sessions(database: database, clock: clock)

        // Tokens
        let authenticator = ClientAuthenticator(database: database, known: stores.knownClients)
        let accessTokens = AccessTokens(database: database, clock: clock)
        let codes = AuthorizationCodes(database: database, random: random)
        let exchangeCodes = ExchangeCodes(database: database, clients: stores.clients, clock: clock, random: random)
        let issuerKeys = IssuerKeys(outbound: Outbound(policy: policy, logger: parts.logger), clock: clock)
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

        // Pages
        let formKey = parts.masterKey.sealing(for: "form_tokens").derivedBytes(for: "form_tokens")
        let pages = PageRenderer(
            templates: try Templates(), site: site, forms: FormGuard(site: site, key: formKey, random: random))

        // What answers
        let endpoints: [any Endpoint] = [
            TokenEndpoint(issuance: issuance, address: address),
            ExchangeEndpoint(tokens: accessTokens, codes: exchangeCodes),
            IntrospectionEndpoint(
                introspection: Introspection(clients: authenticator, tokens: accessTokens), issuer: site.issuer),
            RevocationEndpoint(revocation: Revocation(database: database, clients: authenticator, clock: clock)),
            AuthorizeEndpoint(
                pages: pages, clients: stores.clients, merchants: stores.merchants, codes: codes, sessions: sessions,
                clock: clock),
            SessionCodeEndpoint(
                pages: pages, exchange: SessionExchange(database: database, clock: clock), sessions: sessions,
                accounts: stores.accounts, address: address, clock: clock, random: random),
            LoginEndpoint(pages: pages, signIn: signIn, sessions: sessions, address: address, random: random),
            LogoutEndpoint(
                pages: pages, tokens: accessTokens, permissions: stores.permissions, sessions: sessions, clock: clock),
            UserEndpoint(tokens: accessTokens, accounts: stores.accounts, permissions: stores.permissions),
            AssetEndpoint(),
        ]
        let gate = AdministratorGate(tokens: accessTokens)
        let administration: [any Endpoint] = [
            MerchantsEndpoint(gate: gate, merchants: stores.merchants),
            ClientsEndpoint(gate: gate, clients: stores.clients, merchants: stores.merchants),
            UsersEndpoint(
                gate: gate, accounts: stores.accounts, permissions: stores.permissions, clock: clock),
            IssuersEndpoint(gate: gate, issuers: stores.issuers),
        ]
        let health = HealthEndpoint(database: database)
        let hasAdminAddress = configuration.adminListen != nil
        return Spindle(
            publicResponder: .init(endpoints + [health], administration: hasAdminAddress ? [] : administration),
            adminResponder: hasAdminAddress ? .init([health], administration: administration) : nil,
            retention: Retention(database: database))
    }
}

extension RouterResponder<SpindleContext> {
    fileprivate init(_ endpoints: [any Endpoint], administration: [any Endpoint]) {
        let router = Router(context: SpindleContext.self)
        router.add(middleware: ErrorBoundary())
        let root = router.group()
        for endpoint in endpoints { endpoint.add(to: root) }
        let admin = router.group("/admin/v1").add(middleware: ProblemBoundary())
        for endpoint in administration { endpoint.add(to: admin) }
        router.refuseOtherMethods()
        self = router.buildResponder()
    }
}

extension Site {
    fileprivate init(_ configuration: SpindleConfiguration) {
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
                let subject = Subject(account: proof.account, signedInAt: clock.now)
                return Proof(subject: subject, holds: proof.holds)
            } catch let refusal as SignIn.Refusal {
                throw refusal.oauthError
            }
        }
    }
}
