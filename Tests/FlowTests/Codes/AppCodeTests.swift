import JSON
import TestSupport
import Testing

@Suite("Codes for an app with a secret, which each copy of the app holds")
struct AppCodeTests {
    private static let address = "com.loom.news:/login"

    /// The app, and another client of Loom that its users sign in to.
    private func clients(_ world: World) async throws -> (app: World.Actor, other: World.Actor) {
        let app = try await world.spidBackend(["scope": "openid profile", "redirect_uris": [.string(Self.address)]])
        return (app, try await world.spidBackend(["scope": "openid profile email"]))
    }

    private func name(_ clients: [World.Actor], at receiver: World.Actor, _ world: World) async throws -> Answer {
        try await world.change(
            "clients", receiver.id, ["public_exchange_codes_from": .array(clients.map { .string($0.id) })])
    }

    @Test(
        "Only tokens of the clients that an app names can buy exchange codes for the app",
        arguments: Backend.available)
    func unnamed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (app, other) = try await clients(world)
            let tokens = try await world.signIn(scope: "openid profile email", with: other)
            let token = try tokens.require("access_token")
            let phones = try await world.signIn().require("access_token")
            for bearer in [token, phones] {
                #expect(try await world.exchange(bearer, for: world.backend).status == 200)
                try await expect(400, "invalid_request", try await world.exchange(bearer, for: app))
            }
            #expect(world.server.log.says("public_receiver"))

            #expect(try await name([other], at: app, world).status == 200)
            try await expect(400, "invalid_request", try await world.exchange(phones, for: app))
            let code = try await world.exchange(token, for: app).require("code")
            let redeemed = try await world.redeem(code, as: app, redirectURI: Self.address)
            #expect(redeemed.status == 200 && redeemed.json["scope"] == "openid profile", "\(redeemed)")
            #expect(redeemed.json["refresh_token"] != nil, "\(redeemed)")
            #expect(try await world.isLive(try redeemed.require("access_token")))
        }
    }

    @Test(
        "Only an app, not a backend, may name clients whose tokens buy exchange codes for it",
        arguments: Backend.available)
    func setting(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (app, other) = try await clients(world)
            expectProblem(try await name([app], at: other, world), 400, member: "public_exchange_codes_from")
            #expect(try await name([other], at: app, world).status == 200)
            let moved: JSON = ["redirect_uris": [.string(other.redirectURI)]]
            expectProblem(
                try await world.change("clients", app.id, moved), 400, member: "public_exchange_codes_from")
            #expect(try await name([], at: app, world).status == 200)
            #expect(try await world.change("clients", app.id, moved).status == 200)
        }
    }

    @Test(
        "A backend that becomes an app cannot redeem codes that other clients' tokens bought for it before",
        arguments: Backend.available)
    func changed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (_, other) = try await clients(world)
            let server = try await world.spidBackend(["scope": "openid profile"])
            let token = try await world.signIn(with: other).require("access_token")
            var codes: [String] = []
            for _ in 1...3 { codes.append(try await world.exchange(token, for: server).require("code")) }
            func add(_ address: String) async throws {
                let addresses: JSON = ["redirect_uris": [.string(server.redirectURI), .string(address)]]
                try #require(try await world.change("clients", server.id, addresses).status == 200)
            }
            try await add("https://backend.example/another")
            #expect(try await world.redeem(codes[0], as: server).status == 200)
            try await add(Self.address)
            let refused = try await world.redeem(codes[1], as: server)
            #expect(refused.status == 400 && refused.error == "invalid_grant", "\(refused)")
            #expect(world.server.log.says("code_expired_or_source_ended"))
            // Nor after it has named another client than the one whose token bought the code.
            let stranger = try await world.spidBackend()
            #expect(try await name([stranger], at: server, world).status == 200)
            #expect(try await world.redeem(codes[2], as: server).error == "invalid_grant")
        }
    }

    /// The app with its own server, which has the same id and secret.
    private func appWithServer(_ world: World) async throws -> World.Actor {
        try await world.spidBackend([
            "scope": "openid profile",
            "redirect_uris": [.string(Self.address), .string(Self.server)],
        ])
    }

    private static let server = "https://news.loom.example/spid"

    @Test(
        "An app's token can buy a code for the same app if an https redirect URI shows that it has a server",
        arguments: Backend.available)
    func own(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await appWithServer(world)
            let token = try await world.signIn(scope: "openid profile", with: app).require("access_token")
            for redirectURI in ["", Self.server] {
                let code = try await world.exchange(token, for: app, redirectURI: redirectURI).require("code")
                let redeemed = try await world.redeem(code, as: app, redirectURI: Self.server)
                #expect(redeemed.status == 200 && redeemed.json["scope"] == "openid profile", "\(redeemed)")
                #expect(try await world.isLive(try redeemed.require("access_token")))
                // Once.
                #expect(try await world.redeem(code, as: app, redirectURI: Self.server).error == "invalid_grant")
            }
            let bound = try await world.exchange(token, for: app, redirectURI: Self.server).require("code")
            #expect(try await world.redeem(bound, as: app, redirectURI: Self.address).error == "invalid_grant")
            let unproven = try await world.redeem(
                bound, as: app.with(secret: "wrong"), redirectURI: Self.server)
            #expect(unproven.error == "invalid_client_credentials", "\(unproven)")
            #expect(try await world.redeem(bound, as: app, redirectURI: Self.server).status == 200)
        }
    }

    @Test(
        "Only an app with https redirect URI, secret and SPiD compatibility can buy codes for itself",
        arguments: Backend.available)
    func ownRefused(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await appWithServer(world)
            let token = try await world.signIn(with: app).require("access_token")
            // Another app's token buys none for it.
            let other = try await world.signIn().require("access_token")
            try await expect(400, "invalid_request", try await world.exchange(other, for: app))

            var codes: [String] = []
            for _ in 1...2 { codes.append(try await world.exchange(token, for: app).require("code")) }
            for (code, change) in zip(
                codes, [["redirect_uris": [.string(Self.address)]], ["spid_compatible": false]] as [JSON])
            {
                try #require(try await world.change("clients", app.id, change).status == 200)
                try await expect(400, "invalid_request", try await world.exchange(token, for: app))
                #expect(try await world.redeem(code, as: app, redirectURI: Self.address).error == "invalid_grant")
                let addresses: JSON = ["redirect_uris": [.string(Self.address), .string(Self.server)]]
                try #require(try await world.change("clients", app.id, addresses).status == 200)
            }

            let open = try await World.client(
                world.server, world.admin,
                [
                    "merchant_id": .string(world.merchant), "redirect_uris": [.string(Self.server)],
                    "grant_types": ["password", "authorization_code"], "token_endpoint_auth_method": "none",
                    "scope": "openid profile", "spid_compatible": true,
                ])
            let opens = try await world.signIn(with: open).require("access_token")
            try await expect(400, "invalid_request", try await world.exchange(opens, for: open))
            #expect(world.server.log.says("public_receiver"))
        }
    }

    @Test("An app's front-channel token buys no code for the app itself", arguments: Backend.available)
    func ownFrontChannel(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await appWithServer(world)
            try #require(
                try await world.change(
                    "clients", app.id,
                    [
                        "redirect_uris": [.string(Self.server), .string(Self.address)], "response_types": ["token"],
                        "grant_types": ["implicit", "authorization_code"], "exchange_front_channel_tokens": true,
                    ]
                ).status == 200)
            var browser = Browser(world.server)
            let web = World.Actor(id: app.id, secret: app.secret, redirectURI: Self.server)
            let back = try await world.authorize(in: &browser, ["response_type": "token"], for: web)
            let fragment = try #require(back.header("location")?.split(separator: "#").last)
            let pair = try #require(fragment.split(separator: "&").first { $0.hasPrefix("access_token=") })
            let shown = String(pair.dropFirst("access_token=".count))
            #expect(try await world.exchange(shown, for: world.backend).status == 200)
            try await expect(400, "invalid_request", try await world.exchange(shown, for: app))
        }
    }
}
