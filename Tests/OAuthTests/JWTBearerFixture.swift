import Authentication
import Cryptography
import Directory
import Federation
import JOSE
import JSON
import Keys
import Logging
import OAuth
import Outbound
import Storage
import TestSupport
import Values

/// An issuer that signs anything, with a key that it can change.
struct Signer: Sendable {
    let key: PrivateKey
    let name: String
    var keyID: String { JSONWebKey(key).keyID }
    var keySet: JSON { .members(["keys": .array([JSONWebKey(key).json])]) }

    init(_ name: String = "https://issuer.example", key: PrivateKey = .generate(.es256)) {
        self.name = name
        self.key = key
    }

    func sign(_ claims: JSON) -> String { CompactJWS.sign(claims, type: "JWT", key: key, keyID: keyID) }
}

/// A merchant, its client and the token endpoint, over its own database.
struct JWTBearerFixture: Sendable {
    static let tokenURL = "https://login.example/oauth/token"
    static let ourselves = "https://login.example"

    let database: any Database
    let clock = ManualClock()
    let random = SystemRandom()
    let seal: Seal
    let issuers: TrustedIssuers
    let clients: Clients
    let merchants: Merchants
    let users: IssuerUsers
    let issuance: TokenIssuance
    let merchant: Merchant.ID
    let client: ClientCredentials

    init(_ backend: Backend) async throws {
        database = try await backend.open()
        seal = Seal(masterKey: .random(from: random), random: random)
        let policy = OutboundPolicy(allowedPrivateRanges: ["127.0.0.1"].compactMap { CIDR($0) })
        issuers = TrustedIssuers(
            database: database, clock: clock, random: random, seal: seal, outbound: policy,
            sessions: Sessions(database: database, clock: clock, events: .unheard),
            families: TokenFamilies(database: database, callbacks: .unheard, events: .unheard))
        let known = KnownClients(clock: clock)
        clients = Clients(
            database: database, clock: clock, random: random, seal: seal, known: known,
            erasure: BulkErasure(database: database),
            sessions: Sessions(database: database, clock: clock, events: .unheard))
        merchants = Merchants(
            database: database, clock: clock, random: random, known: known,
            erasure: BulkErasure(database: database))
        let outbound = Outbound(policy: policy, logger: Logger.silent)
        let directory = IssuerDirectory(outbound: outbound, facebook: "", site: Self.ourselves, clock: clock)
        let mail = UserEvents.Subscriber(
            "Mail",
            [
                .on(.linked, "leaves a trace of the mail that would be sent") { event, user, _, db in
                    guard case .linked(let issuer) = event, let owner = try User.find(user, in: db) else { return }
                    let mark = "\(issuer) leads to \(owner.email ?? "nobody")"
                    try db.execute("UPDATE users SET profile = \(JSON.string(mark).text) WHERE id = \(owner.id)")
                }
            ])
        users = IssuerUsers(database: database, events: UserEvents([mail], random: random))
        let signIn = AssertionSignIn(
            issuers: issuers,
            verifier: AssertionVerifier(
                published: IssuerKeys(outbound: outbound, clock: clock), directory: directory, seal: seal),
            users: users, audiences: [Self.ourselves, Self.tokenURL], clock: clock, random: random)
        let grants: [any Grant] = [
            JWTBearerGrant(
                signIn: signIn, subjects: IssuerSubjects(database: database, events: .unheard),
                providers: ProviderAssertions(
                    issuers: issuers, secrets: SignSecrets(seal: seal),
                    tokens: ProviderTokens(
                        outbound: outbound, addresses: ProviderAddresses(facebook: "", google: ""), seal: seal,
                        clock: clock), origin: Self.ourselves, tokenEndpoints: [Self.tokenURL], clock: clock),
                clock: clock, random: random),
            TokenExchangeGrant(signIn: signIn, issuer: Self.ourselves),
        ]
        issuance = TokenIssuance(
            clients: ClientAuthenticator(
                database: database, known: known, assertions: .without(database, seal: seal, clock: clock)),
            grants: grants,
            mint: BearerTokenMint(
                database: database, clients: clients, jwts: .signed(under: seal, in: database, clock: clock),
                number: { user, _ in user.description }, callbacks: .unheard,
                seal: seal, clock: clock, random: random
            ), issuer: "https://id.example/")
        merchant = try await merchants.create(.members(["name": "Aftenbladet"]), by: commandLine).id
        client = try await Self.client(of: merchant, clients)
    }

    static func client(
        of merchant: Merchant.ID?, _ clients: Clients, requiringVerifiedEmail isStrict: Bool = false
    ) async throws -> ClientCredentials {
        let metadata = try ClientMetadata(
            .members([
                "client_name": "Backend", "scope": "openid profile email admin:merchant",
                "grant_types": .array(
                    [GrantType.jwtBearer, .tokenExchange, .refreshToken].map { .string($0.name) }),
                "require_verified_email": .bool(isStrict),
            ]))
        let registered = try await clients.register(metadata, merchant: merchant, by: commandLine)
        return ClientCredentials(id: registered.client.id, secret: registered.secret)
    }

    /// Registers `signer` with its key set. The members of `more` come first.
    @discardableResult
    func trust(_ signer: Signer, _ more: KeyValuePairs<String, JSON?> = ["create_users": true]) async throws
        -> TrustedIssuer
    {
        let json = JSON.object(
            (JSON.members(more).members ?? []) + [
                JSON.Member("issuer", .string(signer.name)), JSON.Member("jwks", signer.keySet),
            ])
        return try await issuers.register(json, merchant: merchant, by: commandLine)
    }

    /// Valid claims with `changes` over them; a claim changed to null is left out.
    func claims(_ changes: KeyValuePairs<String, JSON> = [:], issuer: String = "https://issuer.example") -> JSON {
        var claims: [JSON.Member] = [
            .init("iss", .string(issuer)), .init("sub", "kari"), .init("aud", .string(Self.tokenURL)),
            .init("exp", .integer(clock.now.seconds + 300)), .init("iat", .integer(clock.now.seconds)),
            .init("jti", .string(Base64URL.encode(random.bytes(8)))),
        ]
        for (name, value) in changes {
            claims.removeAll { $0.name == name }
            if value != .null { claims.append(.init(name, value)) }
        }
        return .object(claims)
    }

    @discardableResult
    func present(
        _ assertion: String, from credentials: ClientCredentials? = nil, scope: String? = nil
    ) async throws -> TokenResponse {
        var pairs = [(name: "grant_type", value: GrantType.jwtBearer.name), (name: "assertion", value: assertion)]
        if let scope { pairs.append((name: "scope", value: scope)) }
        let request = TokenRequest(parameters: try Parameters(pairs), address: "192.0.2.1")
        return try await issuance.tokens(for: request, from: credentials ?? client)
    }

    /// The reason for which `assertion` is refused; nil when it is accepted.
    func refusal(of assertion: String, from credentials: ClientCredentials? = nil) async throws -> String? {
        do {
            try await present(assertion, from: credentials)
            return nil
        } catch let error as OAuthError {
            return error.reason
        }
    }

    func count(_ query: SQL) async throws -> Int { try await database.read { try $0.rows(query).count } }
}
