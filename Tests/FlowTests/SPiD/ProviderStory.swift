import Cryptography
import Foundation
import JSON
import Storage
import TestSupport
import Testing
import Values

/// An app with SPiD's SDK whose users come from Facebook and Google.
struct ProviderStory: Sendable {
    /// How SPiD's SDKs encode a JWT, and how RFC 7515 does.
    enum Writing: CaseIterable { case android, iOS, rfc }

    /// What an assertion is for.
    enum Deed: String {
        case authorization = "/oauth/token"
        case registration = "/api/2/signup_jwt"
        case attach = "/api/2/user/attach_jwt"
    }

    let world: World
    let provider: ProviderStandIn
    let phone: World.Actor
    let signSecret: String

    /// - Parameter settings: over those of the stand-in.
    static func with(
        _ backend: Backend, settings: [String: String] = [:], _ story: (ProviderStory) async throws -> Void
    ) async throws {
        let provider = try ProviderStandIn()
        try await World.with(backend, settings: provider.settings.merging(settings) { $1 }) { world in
            try await story(try await ProviderStory(world, provider, of: world.merchant))
        }
        provider.stop()
    }

    /// The same at another merchant.
    func atRival() async throws -> ProviderStory { try await at(world.rival) }

    func at(_ merchant: String) async throws -> ProviderStory {
        try await ProviderStory(world, provider, of: merchant)
    }

    private init(_ world: World, _ provider: ProviderStandIn, of merchant: String) async throws {
        self.world = world
        self.provider = provider
        let made = try await World.make(
            world.server, world.admin, "clients",
            [
                "merchant_id": .string(merchant), "client_name": "Loom for phones", "spid_compatible": true,
                "grant_types": [
                    "password", "client_credentials", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer",
                ], "scope": "profile email", "redirect_uris": ["loom://signed-in"],
            ])
        phone = World.Actor(
            id: try made.require("client_id"), secret: try made.require("client_secret"),
            redirectURI: "loom://signed-in")
        signSecret = try made.require("sign_secret")
        for (name, json) in Self.issuers {
            let made = try await World.make(
                world.server, world.admin, "issuers",
                .object([JSON.Member("merchant_id", .string(merchant))] + (json.members ?? [])))
            try #require(made.status == 201, "\(name): \(made)")
        }
    }

    static let issuers: KeyValuePairs<String, JSON> = [
        "facebook": [
            "issuer": "https://www.facebook.com", "provider": "facebook",
            "audiences": [.string(ProviderStandIn.facebookApp)],
            "app_secret": .string(ProviderStandIn.facebookSecret),
        ],
        "google": [
            "issuer": "https://accounts.google.com", "provider": "google", "app_names": ["com.example.loom"],
            "audiences": [.string(ProviderStandIn.googleApp)],
        ],
    ]

    // MARK: Assertions

    /// The claims that an SDK makes for a token of `type`, with `changes` over them.
    func claims(
        _ deed: Deed, _ type: String, _ token: String, _ changes: KeyValuePairs<String, JSON> = [:]
    ) -> JSON {
        let expiry = (world.server.clock.now + .hours(1)).iso8601.replacing("T", with: " ").replacing(
            "Z", with: "+0000")
        var claims: [JSON.Member] = [
            .init("iss", type == "facebook" ? .string(ProviderStandIn.facebookApp) : "com.example.loom"),
            .init("sub", .string("\(deed)")), .init("aud", .string("http://spindle.test" + deed.rawValue)),
            .init("exp", .string(expiry)), .init("token_type", .string(type)), .init("token_value", .string(token)),
        ]
        for (name, value) in changes {
            claims.removeAll { $0.name == name }
            if value != .null { claims.append(.init(name, value)) }
        }
        return .object(claims)
    }

    func sign(
        _ claims: JSON, _ writing: Writing = .android, header: JSON = ["alg": "HS256", "typ": "JWT"],
        secret: String? = nil
    ) -> String {
        let key = Array((secret ?? signSecret).utf8)
        let parts = [header, claims].map { json in
            let bytes = Array(json.text.utf8)
            switch writing {
            case .android:
                return Data(bytes).base64EncodedString(options: [.lineLength76Characters, .endLineWithLineFeed]) + "\n"
            case .iOS: return Data(bytes).base64EncodedString()
            case .rfc: return Base64URL.encode(bytes)
            }
        }
        let text = parts.joined(separator: ".")
        let digest = Digest.hmacSHA256(Array(text.utf8), key: key)
        guard writing != .rfc else { return text + "." + Base64URL.encode(digest) }
        return text + "." + digest.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
    }

    // MARK: Requests

    func logIn(_ assertion: String, as client: World.Actor? = nil) async throws -> Answer {
        try await world.server.post(
            "/oauth/token",
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion,
                "client_id": (client ?? phone).id, "client_secret": (client ?? phone).secret,
            ])
    }

    func logIn(_ type: String, _ token: String) async throws -> Answer {
        try await logIn(sign(claims(.authorization, type, token)))
    }

    func register(_ assertion: String) async throws -> Answer {
        try await world.api("signup_jwt", try await world.clientToken(phone), ["jwt": assertion])
    }

    func register(_ type: String, _ token: String) async throws -> Answer {
        try await register(sign(claims(.registration, type, token)))
    }

    func attach(_ assertion: String, to tokens: Answer, at path: String = "user/attach_jwt") async throws -> Answer {
        try await world.api(path, try tokens.require("access_token"), ["jwt": assertion])
    }

    /// The numbers of users and of linked subjects.
    func counts() async throws -> [Int] {
        try await world.server.database.read { db in
            [try db.rows("SELECT id FROM users").count, try db.rows("SELECT subject FROM issuer_subjects").count]
        }
    }

    // MARK: Users of providers

    func facebook(_ token: String, _ subject: String, app: String = ProviderStandIn.facebookApp) {
        provider.give(
            facebook: token,
            .init(
                app: app, subject: subject,
                claims: [
                    "name": "Alice Weaver", "first_name": "Alice", "last_name": "Weaver", "email": "alice@example.com",
                ]
            ))
    }

    func google(
        _ token: String, _ subject: String, email: String = "alice@gmail.com", verified: Bool = true,
        more: KeyValuePairs<String, JSON> = [:]
    ) {
        let claims: [JSON.Member] = [
            .init("name", "Alice Weaver"), .init("email", .string(email)), .init("email_verified", .bool(verified)),
        ]
        provider.give(
            google: token,
            .init(
                app: ProviderStandIn.googleApp, subject: subject,
                claims: .object(claims + more.map { JSON.Member($0.key, $0.value) })))
    }
}
