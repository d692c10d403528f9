public import JOSE

/// Two merchants and who belongs to them: what most stories need.
public struct World: Sendable {
    /// A client with its credentials.
    public struct Actor: Sendable {
        public let id: String
        public let secret: String
        public let redirectURI: String
        public var basic: (id: String, secret: String) { (id, secret) }
    }

    public let server: TestServer
    public let admin: String
    public let merchant: String
    /// The phone: public, with password, code and refresh.
    public let app: Actor
    /// Its backend: confidential.
    public let backend: Actor
    public let rival: String
    public let rivalBackend: Actor
    public let user: String
    public static let email = "ada@example.com"
    public static let password = "correct horse battery"

    /// Makes it through the admin endpoints of `server`.
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
                "redirect_uris": ["loom://signed-in", "https://loom.example/webview"],
                "grant_types": ["password", "authorization_code", "refresh_token"],
                "scope": "openid profile email offline_access", "token_endpoint_auth_method": "none",
            ])
        backend = try await Self.client(server, admin, Self.confidential(of: merchant, "Loom's backend"))
        rivalBackend = try await Self.client(server, admin, Self.confidential(of: rival, "Rival's backend"))
        user = try await Self.make(
            server, admin, "users",
            ["email": .string(Self.email), "password": .string(Self.password), "name": "Ada Lovelace"]
        ).require("user_id")
    }

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

    /// Makes one thing through administration.
    public static func make(
        _ server: TestServer, _ admin: String, _ kind: String, _ json: JSON
    ) async throws -> Answer {
        try await server.send("POST", "/admin/v1/\(kind)", json: json, bearer: admin)
    }

    public static func client(_ server: TestServer, _ admin: String, _ json: JSON) async throws -> Actor {
        let made = try await make(server, admin, "clients", json)
        return Actor(
            id: try made.require("client_id"), secret: made.json["client_secret"]?.string ?? "",
            redirectURI: made.json["redirect_uris"]?.strings?.first ?? "")
    }

    // MARK: - What they do

    /// The phone signs in with name and password.
    public func signIn(scope: String? = nil) async throws -> Answer {
        try await server.post(
            "/oauth/token",
            [
                "grant_type": "password", "client_id": app.id, "username": Self.email, "password": Self.password,
                "scope": scope ?? "",
            ])
    }

    public func exchange(
        _ accessToken: String, for receiver: Actor, type: String = "code", redirectURI: String = ""
    ) async throws -> Answer {
        try await server.post(
            "/oauth/exchange", ["clientId": receiver.id, "type": type, "redirectUri": redirectURI],
            bearer: accessToken)
    }

    public func redeem(_ code: String, as receiver: Actor, redirectURI: String? = nil) async throws -> Answer {
        try await server.post(
            "/oauth/token",
            ["grant_type": "authorization_code", "code": code, "redirect_uri": redirectURI ?? receiver.redirectURI],
            basic: receiver.basic)
    }

    public func refresh(_ token: String, as client: Actor) async throws -> Answer {
        if client.secret.isEmpty {
            return try await server.post(
                "/oauth/token", ["grant_type": "refresh_token", "refresh_token": token, "client_id": client.id])
        }
        return try await server.post(
            "/oauth/token", ["grant_type": "refresh_token", "refresh_token": token], basic: client.basic)
    }

    public func isLive(_ accessToken: String) async throws -> Bool {
        try await server.get("/me", bearer: accessToken).status == 200
    }
}

extension Answer {
    public struct Missing: Error { let member: String, answer: String }

    /// A string member of the body, or an error that shows the whole answer.
    public func require(_ member: String) throws -> String {
        guard let value = json[member]?.string else { throw Missing(member: member, answer: description) }
        return value
    }
}

extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
}
