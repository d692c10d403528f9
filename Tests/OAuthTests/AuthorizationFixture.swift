import Cryptography
import Directory
import JSON
import Keys
import OAuth
import Storage
import TestSupport
import Values

/// Clients of one merchant, and their authorization requests, without HTTP.
struct AuthorizationFixture {
    /// The clients that requests come from.
    enum Asking: String, CaseIterable {
        case own, stranger, strict
        /// The merchant's own public app.
        case app
        /// A third-party client that may use every response type.
        case direct
    }

    let database: any Database
    let clock = ManualClock()
    let merchant: Merchant.ID
    let clients: Clients
    private let ids: [Asking: Client.ID]

    static let redirectURI = "https://app.example/back"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    static let issuer = "https://id.example/"

    init(_ backend: Backend = .sqlite) async throws {
        database = try await backend.open()
        let random = SystemRandom()
        let known = KnownClients(clock: clock)
        let seal = Seal(masterKey: .random(from: random), random: random)
        clients = Clients(
            database: database, clock: clock, random: random, seal: seal, known: known,
            erasure: BulkErasure(database: database),
            sessions: Sessions(database: database, clock: clock, events: .unheard))
        merchant = try await Merchants(
            database: database, clock: clock, random: random, known: known,
            erasure: BulkErasure(database: database)
        )
        .create(["name": "Loom"], by: commandLine).id
        var ids: [Asking: Client.ID] = [:]
        for asking in Asking.allCases {
            let json: JSON = [
                "client_name": .string(asking.rawValue), "scope": "openid profile email",
                "redirect_uris": [.string(Self.redirectURI), "https://app.example/cancelled", "app://back"],
                "post_logout_redirect_uris": ["https://app.example/bye?from=here"],
                "response_types": .array(
                    asking == .direct ? ResponseType.all.map { .string($0.description) } : ["code"]),
                "first_party": .bool(asking != .stranger && asking != .direct),
                "require_verified_email": .bool(asking == .strict), "require_pkce": .bool(asking == .app),
                "token_endpoint_auth_method": asking == .app ? "none" : "client_secret_basic",
            ]
            let made = try await clients.register(try ClientMetadata(json), merchant: merchant, by: commandLine)
            ids[asking] = made.client.id
        }
        self.ids = ids
    }

    func client(_ asking: Asking) async throws -> Client? {
        guard let id = ids[asking] else { return nil }
        return try await clients.findLive(id)
    }

    /// The parameters of a valid request, with `changes` over them.
    func parameters(_ asking: Asking, _ changes: KeyValuePairs<String, String>) throws -> Parameters {
        var good = [
            ("response_type", "code"), ("client_id", ids[asking]?.text ?? ""), ("redirect_uri", Self.redirectURI),
            ("scope", "openid profile"),
        ]
        if asking == .app { good += [("code_challenge", Self.challenge), ("code_challenge_method", "S256")] }
        let changed = Set(changes.map(\.key))
        return try Parameters(
            good.filter { !changed.contains($0.0) }.map { (name: $0.0, value: $0.1) }
                + changes.map { (name: $0.key, value: $0.value) })
    }

    func address(_ asking: Asking, _ changes: KeyValuePairs<String, String>) async throws -> ReturnAddress {
        try await ReturnAddress(try parameters(asking, changes), clients: clients, besides: Self.issuer)
    }

    func request(
        _ asking: Asking, _ changes: KeyValuePairs<String, String> = [:]
    ) async throws -> AuthorizationRequest {
        try AuthorizationRequest(
            try parameters(asking, changes), returnAddress: try await address(asking, changes), issuer: Self.issuer,
            allowsUnsafeTokens: false)
    }
}
