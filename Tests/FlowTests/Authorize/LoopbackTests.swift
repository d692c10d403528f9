import JSON
import TestSupport
import Testing

@Suite("A public app may choose its port on the loopback interface (RFC 8252 §7.3)")
struct LoopbackTests {
    private static let registered = [
        "http://127.0.0.1/back", "http://[::1]:7000/back?from=spindle", "http://localhost:9000/back",
        "http://127.0.0.2/back",
    ]

    private func app(_ world: World, isPublic: Bool = true) async throws -> World.Actor {
        try await World.client(
            world.server, world.admin,
            [
                "merchant_id": .string(world.merchant), "client_name": "Loom for desks",
                "redirect_uris": .array(Self.registered.map { .string($0) }),
                "grant_types": ["authorization_code", "refresh_token"], "scope": "openid profile",
                "token_endpoint_auth_method": isPublic ? "none" : "client_secret_basic",
            ])
    }

    @Test(
        "A public client's loopback redirect URI may differ from the registered one in its port only",
        arguments: Backend.available)
    func anyPort(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await app(world)
            let good = [
                "http://127.0.0.1:51004/back", "http://127.0.0.1/back", "http://127.0.0.1:1/back",
                "http://127.0.0.1:65535/back", "http://[::1]:50000/back?from=spindle", "http://[::1]/back?from=spindle",
                "http://localhost:9000/back",
            ]
            for uri in good {
                var browser = Browser(world.server)
                let answer = try await world.authorize(in: &browser, ["redirect_uri": uri], for: app)
                #expect(answer.header("location")?.hasPrefix(uri + (uri.contains("?") ? "&" : "?")) == true, "\(uri)")
                let code = try answer.requireRedirected("code")
                #expect(try await world.redeemAuthorization(code, as: app, ["redirect_uri": uri]).status == 200)
            }
        }
    }

    @Test(
        "Only the port of a redirect URI may differ, and only at the hosts 127.0.0.1 and [::1]",
        arguments: Backend.available)
    func other(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await app(world)
            let bad = [
                "http://localhost:9001/back", "http://localhost/back", "http://127.0.0.1:51004/",
                "https://127.0.0.1/back",
                "http://127.0.0.1:51004/back?x=1", "http://127.0.0.1:51004/back/", "http://127.0.0.1:51004/Back",
                "http://127.0.0.1:0/back", "http://127.0.0.1:65536/back", "http://127.0.0.1:080/back",
                "http://127.0.0.1:/back", "http://127.0.0.1:80@evil.example/back", "http://127.0.0.1.evil.example/back",
                "http://127.0.0.1@evil.example/back", "http://127.0.0.1:51004/back#x", "http://127.0.0.2:51004/back",
                "http://[::1]:50000/back", "http://[::2]/back?from=spindle", "HTTP://127.0.0.1:51004/back",
                "http://127.1:51004/back", "http://127.0.0.1:+80/back", "http://127.0.0.1:٨٠/back",
            ]
            for uri in bad {
                let page = try await world.server.get(world.authorizeAddress(["redirect_uri": uri], for: app))
                #expect(page.status == 400 && page.header("location") == nil, "\(uri)")
            }
        }
    }

    @Test(
        "A confidential client's loopback redirect URI must have the port that is registered",
        arguments: Backend.available)
    func confidential(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await app(world, isPublic: false)
            let elsewhere = try await world.server.get(
                world.authorizeAddress(["redirect_uri": "http://127.0.0.1:51004/back"], for: client))
            #expect(elsewhere.status == 400 && elsewhere.header("location") == nil)
            #expect(elsewhere.body.contains("port"))
        }
    }

    @Test("A loopback redirect URI or cancel URI with this server's own port is refused", arguments: Backend.available)
    func ownPages(backend: Backend) async throws {
        try await World.with(backend, settings: ["issuer": "http://127.0.0.1:8080"]) { world in
            let app = try await World.client(
                world.server, world.admin,
                [
                    "merchant_id": .string(world.merchant), "client_name": "Loom for desks",
                    "redirect_uris": ["http://127.0.0.1/logout"], "grant_types": ["authorization_code"],
                    "scope": "openid profile", "token_endpoint_auth_method": "none",
                ])
            let (own, other) = ("http://127.0.0.1:8080/logout", "http://127.0.0.1:8081/logout")
            let wrong = [
                ("redirect_uri", "The address to return to is not registered"),
                ("cancel_redirect_uri", "The address to cancel to is not registered"),
            ]
            for (name, words) in wrong {
                let page = try await world.server.get(world.authorizeAddress([name: own], for: app))
                #expect(page.status == 400 && page.isPage && page.header("location") == nil, "\(name): \(page)")
                #expect(page.body.contains(words), "\(name): \(page)")
                let elsewhere = try await world.server.get(world.authorizeAddress([name: other], for: app))
                #expect(elsewhere.status == 200, "\(name): \(elsewhere)")
            }
            var browser = Browser(world.server)
            let answer = try await world.authorize(in: &browser, ["redirect_uri": other], for: app)
            #expect(answer.header("location")?.hasPrefix("\(other)?code=") == true, "\(answer)")
        }
    }

    @Test(
        "At redemption, a loopback redirect URI must have the port that the authorization request named",
        arguments: Backend.available)
    func swapped(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await app(world)
            let uri = "http://127.0.0.1:51004/back"
            let code = try await world.authorizationCode(["redirect_uri": uri], for: app)
            for other in ["http://127.0.0.1:51005/back", "http://127.0.0.1/back"] {
                let refused = try await world.redeemAuthorization(code, as: app, ["redirect_uri": other])
                #expect(refused.error == "invalid_grant")
            }
            #expect(try await world.redeemAuthorization(code, as: app, ["redirect_uri": uri]).status == 200)
        }
    }
}
