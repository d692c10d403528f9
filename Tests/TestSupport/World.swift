public import Cryptography
import Directory
public import JSON
import Storage
import OAuth
import Values

/// Two merchants with their clients and users: what most tests need.
public struct World: Sendable {
    /// A client with its credentials.
    public struct Actor: Sendable {
        public let id: String
        public let secret: String
        public let redirectURI: String
        public var basic: (id: String, secret: String) { (id, secret) }

        public init(id: String, secret: String, redirectURI: String) {
            self.id = id
            self.secret = secret
            self.redirectURI = redirectURI
        }

        /// The same client with another secret, or with none.
        public func with(secret: String) -> Actor { Actor(id: id, secret: secret, redirectURI: redirectURI) }
    }

    public let server: TestServer
    public let admin: String
    public let merchant: String
    /// The phone app: public, with password, code and refresh.
    public let app: Actor
    /// Its confidential backend.
    public let backend: Actor
    public let rival: String
    public let rivalBackend: Actor
    public let user: String
    public static let email = "ada@example.com"
    public static let password = "correct horse battery"
    public static let webview = "https://loom.example/webview"
    /// The phone's redirect URI in a private-use scheme, which any app on it could claim.
    public static let scheme = "loom://signed-in"

    /// Starts a server on `backend` with the world in it, and runs `story` there.
    public static func with(
        _ backend: Backend, settings: [String: String] = [:], hashing: HashingPool? = nil, isDevelopment: Bool = false,
        _ story: (World) async throws -> Void
    ) async throws {
        try await TestServer.with(
            backend, settings: settings, hashing: hashing, isDevelopment: isDevelopment, hasWorld: true
        ) { server, world in
            if let world { try await story(world) } else { try await story(try await World(server)) }
        }
    }

    /// Creates it through the admin endpoints of `server`.
    public init(_ server: TestServer) async throws {
        self.server = server
        let token = try await server.post(
            "/oauth/token", ["grant_type": "client_credentials", "scope": "admin"],
            basic: (server.adminID, server.adminSecret))
        let admin = try token.require("access_token")
        self.admin = admin
        merchant = try await Self.make(server, admin, "merchants", ["name": "Loom"]).require("id")
        rival = try await Self.make(server, admin, "merchants", ["name": "Rival"]).require("id")
        app = try await Self.client(
            server, admin,
            [
                "merchant_id": .string(merchant), "client_name": "Loom for phones",
                "redirect_uris": [
                    "https://loom.example/in", "https://loom.example/webview", .string(Self.scheme),
                ],
                "grant_types": ["password", "authorization_code", "refresh_token"],
                "scope": "openid profile email offline_access", "token_endpoint_auth_method": "none",
            ])
        backend = try await Self.client(server, admin, Self.confidential(of: merchant, "Loom's backend"))
        rivalBackend = try await Self.client(server, admin, Self.confidential(of: rival, "Rival's backend"))
        user = try await Self.make(
            server, admin, "users",
            ["email": .string(Self.email), "password": .string(Self.password), "name": "Ada Lovelace"]
        ).require("user_id")
        try await introduce(user)
    }

    private init(_ world: World, at server: TestServer) {
        self.server = server
        (admin, merchant, rival, user) = (world.admin, world.merchant, world.rival, world.user)
        (app, backend, rivalBackend) = (world.app, world.backend, world.rivalBackend)
    }

    /// The same world, used through another node.
    public func at(_ server: TestServer) -> World { World(self, at: server) }

    private static func confidential(of merchant: String, _ name: String) -> JSON {
        [
            "merchant_id": .string(merchant), "client_name": .string(name),
            "redirect_uris": ["https://backend.example/callback"],
            "grant_types": [
                "authorization_code", "refresh_token", "client_credentials", "password",
                "urn:ietf:params:oauth:grant-type:jwt-bearer",
            ],
            "scope": "profile email", "token_endpoint_auth_method": "client_secret_basic",
        ]
    }

    /// Creates one thing through administration. A client for which `json` names neither grants nor redirect URIs has a
    /// redirect URI, which one with the usual grant needs.
    public static func make(
        _ server: TestServer, _ admin: String, _ kind: String, _ json: JSON
    ) async throws -> Answer {
        var json = json
        if kind == "clients", json["redirect_uris"] == nil, json["grant_types"] == nil, let members = json.members {
            json = .object(members + [JSON.Member("redirect_uris", ["https://made.example/in"])])
        }
        return try await server.send("POST", "/admin/v1/\(kind)", json: json, bearer: admin)
    }

    /// Registers a client. A confidential one need not use PKCE unless `json` says so: few tests are about PKCE.
    public static func client(_ server: TestServer, _ admin: String, _ json: JSON) async throws -> Actor {
        var members = json.members ?? []
        if json["require_pkce"] == nil, json["token_endpoint_auth_method"] != "none" {
            members.append(JSON.Member("require_pkce", false))
        }
        let made = try await make(server, admin, "clients", .object(members))
        return Actor(
            id: try made.require("client_id"), secret: made.json["client_secret"]?.string ?? "",
            redirectURI: made.json["redirect_uris"]?.strings?.first ?? "")
    }

    /// A confidential client of Loom like its backend, with `changes` over the members of its registration.
    public func confidential(_ changes: KeyValuePairs<String, JSON>, of merchant: String? = nil) async throws -> Actor {
        let changed = Set(changes.map(\.key))
        let base = Self.confidential(of: merchant ?? self.merchant, "Another of Loom's").members ?? []
        return try await Self.client(
            server, admin,
            .object(base.filter { !changed.contains($0.name) } + changes.map { JSON.Member($0.key, $0.value) }))
    }

    /// Creates another user with the same password, already introduced to Loom.
    public func person(_ email: String) async throws -> String {
        let person = try await newcomer(email)
        try await introduce(person)
        return person
    }

    /// Creates another user, who has never met Loom.
    public func newcomer(_ email: String) async throws -> String {
        try await Self.make(
            server, admin, "users", ["email": .string(email), "password": .string(Self.password)]
        ).require("user_id")
    }

    /// Introduces a user to a merchant, by default Loom, as a page of its app does, or of the rival's backend. Few
    /// tests are about the first time.
    public func introduce(_ person: String, to merchant: String? = nil) async throws {
        let (user, merchant, now) = (UserID(person), Merchant.ID(merchant ?? self.merchant), server.clock.now)
        guard let user else { return }
        let met = [self.merchant: app, rival: rivalBackend][merchant.text].map { Client.ID($0.id) }
        try await server.database.write { db in
            try Introductions.introduce(user, to: merchant, at: now, in: db)
            if let met { try Connections.connect(user, to: met, at: now, in: db) }
        }
    }

    /// Changes something through administration.
    @discardableResult
    public func change(_ kind: String, _ id: String, _ json: JSON) async throws -> Answer {
        try await server.send("PATCH", "/admin/v1/\(kind)/\(id)", json: json, bearer: admin)
    }
}

extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
}
