import Authentication
import Cryptography
import JSON
import Keys
import OAuth
import Storage
import TestSupport
import Values

@testable import Directory

/// A merchant's phone and backend, a user, and the token endpoint without HTTP.
struct TokenFixture: Sendable {
    let database: any Database
    let clock = ManualClock()
    let seal: Seal
    let clients: Clients
    let merchants: Merchants
    let exchangeCodes: ExchangeCodes
    let authenticator: ClientAuthenticator
    let accessTokens: AccessTokens
    let issuance: TokenIssuance
    let merchant: Merchant.ID
    let phone: ClientCredentials
    let backend: ClientCredentials
    let user: UserID

    /// `lifetimes` are members of both clients' registrations.
    init(_ database: any Database, lifetimes: [JSON.Member] = []) async throws {
        let (random, clock) = (SystemRandom(), clock)
        let seal = Seal(masterKey: .random(from: random), random: random)
        let known = KnownClients(clock: clock)
        let user = UserID.random(from: random)
        self.database = database
        self.user = user
        self.seal = seal
        merchants = Merchants(
            database: database, clock: clock, random: random, known: known,
            erasure: BulkErasure(database: database))
        clients = Clients(
            database: database, clock: clock, random: random, seal: seal, known: known,
            erasure: BulkErasure(database: database),
            sessions: Sessions(database: database, clock: clock, events: .unheard))
        exchangeCodes = ExchangeCodes(
            database: database, clients: clients, accounts: SessionCodeAddresses(origin: "https://spindle.test"),
            seal: seal, clock: clock, random: random
        ) { _, _, _, _ in }
        authenticator = ClientAuthenticator(
            database: database, known: known,
            assertions: .without(database, seal: seal, clock: clock))
        accessTokens = AccessTokens(database: database, clients: clients, clock: clock)
        let password = PasswordGrant { _, _, _, _ in
            PasswordGrant.Proof(
                user: user, signIn: SignIn(at: clock.now, by: .password), isVerified: true
            ) { _ in true }
        }
        issuance = TokenIssuance(
            clients: authenticator,
            grants: [
                password, ClientCredentialsGrant(), AuthorizationCodeGrant(database: database, seal: seal),
                RefreshTokenGrant(
                    tokens: RefreshTokens(database: database), seal: seal, clock: clock, random: random),
            ],
            mint: BearerTokenMint(
                database: database, clients: clients, jwts: .signed(under: seal, in: database, clock: clock),
                number: { user, _ in user.description }, callbacks: .unheard,
                seal: seal, clock: clock, random: random
            ), issuer: "https://id.example/")
        try await database.write { db in
            try Users.insertLinked(user, email: nil, profile: [], at: clock.now, in: db)
        }
        merchant = try await merchants.create(["name": "Loom"], by: commandLine).id
        let common: [JSON.Member] = [.init("redirect_uris", ["https://loom.example/back"])] + lifetimes
        let phone: [JSON.Member] = [
            .init("token_endpoint_auth_method", "none"),
            .init("grant_types", ["password", "authorization_code", "refresh_token"]),
        ]
        let backend: [JSON.Member] = [
            .init("grant_types", ["password", "authorization_code", "refresh_token", "client_credentials"])
        ]
        self.phone = try await Self.register(.object(common + phone), merchant, clients)
        self.backend = try await Self.register(.object(common + backend), merchant, clients)
    }

    private static func register(
        _ json: JSON, _ merchant: Merchant.ID, _ clients: Clients
    ) async throws -> ClientCredentials {
        let made = try await clients.register(try ClientMetadata(json), merchant: merchant, by: commandLine)
        return ClientCredentials(id: made.client.id, secret: made.secret)
    }

    // MARK: - Requests

    func token(_ form: KeyValuePairs<String, String>, as client: ClientCredentials) async throws -> TokenResponse {
        let request = TokenRequest(
            parameters: try Parameters(form.map { (name: $0.key, value: $0.value) }), address: "192.0.2.1")
        return try await issuance.tokens(for: request, from: client)
    }

    @discardableResult
    func signIn(on client: ClientCredentials? = nil) async throws -> TokenResponse {
        try await token(["grant_type": "password", "username": "ada", "password": "x"], as: client ?? phone)
    }

    /// Refreshes with the refresh token of `answer`.
    func refresh(_ answer: TokenResponse, as client: ClientCredentials? = nil) async throws -> TokenResponse {
        try await token(
            ["grant_type": "refresh_token", "refresh_token": answer.refreshToken?.value ?? ""], as: client ?? phone)
    }

    func isLive(_ answer: TokenResponse) async -> Bool {
        (try? await accessTokens.present(answer.accessToken)) != nil
    }

    func count(_ query: SQL) async throws -> Int { try await database.read { try $0.rows(query).count } }
}

extension ClientAssertions {
    struct NoKeys: Error {}

    /// Client assertions for tests in which no client publishes keys.
    static func without(_ database: any Database, seal: Seal, clock: any WallClock) -> ClientAssertions {
        ClientAssertions(
            keys: ClientKeys(published: .init(known: { _, _ in throw NoKeys() }, anew: { _, _ in throw NoKeys() })),
            secrets: SignSecrets(seal: seal), issuer: "https://login.example", origin: "https://login.example",
            tokenEndpoints: ["https://login.example/oauth/token"],
            replays: ReplayMemory(database: database, random: SystemRandom()), clock: clock)
    }
}

extension JWTAccessTokens {
    /// With the public subject identifiers, which all clients share.
    static func signed(under seal: Seal, in database: any Database, clock: any WallClock) -> JWTAccessTokens {
        let ring = KeyRing(keys: StoredSigningKeys(database: database, seal: seal), clock: clock)
        return JWTAccessTokens(
            issuer: "https://id.example/", ring: ring, name: { user, _ in user.description }, claims: { _, _ in [] })
    }
}

extension Session {
    /// The session `id` of a user who signed in with a password.
    static func signedIn(_ user: UserID, _ id: Session.ID, at now: Timestamp) -> Session {
        Session(
            id: id, user: user, email: nil, emailVerified: false, signIn: SignIn(at: now, by: .password),
            origin: .signIn, buyer: nil, isRemembered: false, showsAccount: false, renewals: 0, seenAt: now,
            createdAt: now)
    }
}
