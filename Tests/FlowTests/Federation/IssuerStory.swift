import Cryptography
import JSON
import Storage
import TestSupport
import Testing
import Values

/// Loom's phone app, whose users sign in with the SDK of another issuer.
struct IssuerStory: Sendable {
    /// The app's id at every issuer.
    static let audience = "loom-at-the-issuer"

    let world: World
    /// Public, as an app on a phone is.
    let app: World.Actor

    static func with(_ backend: Backend, _ story: (IssuerStory) async throws -> Void) async throws {
        try await World.with(backend, settings: ["outbound_allow_private": "127.0.0.0/8"]) { world in
            try await story(try await IssuerStory(world))
        }
    }

    init(_ world: World) async throws {
        self.world = world
        app = try await Self.client(world, of: world.merchant)
    }

    static func client(_ world: World, of merchant: String) async throws -> World.Actor {
        try await World.client(
            world.server, world.admin,
            [
                "merchant_id": .string(merchant), "client_name": "Loom for phones", "redirect_uris": ["loom://in"],
                "grant_types": [
                    "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer",
                    "urn:ietf:params:oauth:grant-type:token-exchange",
                ], "scope": "openid profile email", "token_endpoint_auth_method": "none",
                "resources": ["https://api.loom.example"],
            ])
    }

    // MARK: What administration registers

    /// Registers `host` with Loom by its discovery document, with `changes` over the usual members.
    @discardableResult
    func trust(
        _ host: IssuerHost, _ changes: KeyValuePairs<String, JSON> = [:], provider: String? = nil
    ) async throws -> String {
        var members: [JSON.Member] = [
            .init("merchant_id", .string(world.merchant)), .init("audiences", [.string(Self.audience)]),
            .init("discovery_url", .string(host.discovery)), .init("create_users", true),
        ]
        members.append(provider.map { .init("provider", .string($0)) } ?? .init("issuer", .string(host.issuer)))
        for (name, value) in changes {
            members.removeAll { $0.name == name }
            if value != .null { members.append(.init(name, value)) }
        }
        let made = try await World.make(world.server, world.admin, "issuers", .object(members))
        try #require(made.status == 201, "\(made)")
        return try made.require("id")
    }

    // MARK: What the app sends

    /// The claims of an ID token of `host`, with `changes` over them; one changed to null is left out.
    func claims(_ host: IssuerHost, _ changes: KeyValuePairs<String, JSON> = [:]) -> JSON {
        let now = world.server.clock.now.seconds
        var claims: [JSON.Member] = [
            .init("iss", .string(host.issuer)), .init("sub", "kari"), .init("aud", .string(Self.audience)),
            .init("iat", .integer(now)), .init("exp", .integer(now + 3600)),
            .init("jti", .string(Base64URL.encode(SystemRandom().bytes(8)))),
        ]
        for (name, value) in changes {
            claims.removeAll { $0.name == name }
            if value != .null { claims.append(.init(name, value)) }
        }
        return .object(claims)
    }

    /// Signs in with an ID token of `host`, with `changes` over its claims.
    func signIn(
        at host: IssuerHost, _ changes: KeyValuePairs<String, JSON> = [:], nonce: String? = nil
    ) async throws -> Answer {
        try await present(host.sign(claims(host, changes)), nonce: nonce)
    }

    func present(_ assertion: String, nonce: String? = nil, as client: World.Actor? = nil) async throws -> Answer {
        try await ask(
            [
                ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion),
                ("nonce", nonce ?? ""),
            ], as: client)
    }

    /// Exchanges `token` as in RFC 8693, with `more` parameters.
    func exchange(
        _ token: String, _ more: KeyValuePairs<String, String> = [:], as client: World.Actor? = nil
    ) async throws -> Answer {
        let changed = Set(more.map(\.key))
        let good = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"), ("subject_token", token),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
        ]
        return try await ask(good.filter { !changed.contains($0.0) } + more.map { ($0.key, $0.value) }, as: client)
    }

    private func ask(_ form: [(String, String)], as client: World.Actor?) async throws -> Answer {
        let client = client ?? app
        guard client.secret.isEmpty else {
            return try await world.server.post("/oauth/token", form: form, basic: client.basic)
        }
        return try await world.server.post("/oauth/token", form: form + [("client_id", client.id)])
    }

    // MARK: Outcomes

    /// Expects that `answer` is a refusal for `reason`, which only the log shows.
    func expect(
        _ reason: String, _ answer: Answer, _ error: String = "invalid_grant",
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(answer.status == 400 && answer.error == error, "\(answer)", sourceLocation: sourceLocation)
        let line = world.server.log.lines.last { $0.contains("reason=") && !$0.contains(" delivery=") }
        let words = line?.split(separator: " ") ?? []
        #expect(words.contains("reason=\(reason)"), "\(line ?? "")", sourceLocation: sourceLocation)
    }

    func users() async throws -> Int {
        try await world.server.database.read { db in try db.rows("SELECT id FROM users").count }
    }

    func links() async throws -> Int {
        try await world.server.database.read { db in try db.rows("SELECT subject FROM issuer_subjects").count }
    }
}
