import JSON
import TestSupport
import Testing
import Values

@Suite("Auth0's SDKs: their paths, their JSON bodies, and logout by returnTo")
struct Auth0Tests {
    @Test(
        "Auth0's SDKs can get, refresh and revoke tokens with JSON bodies that name an audience",
        arguments: Backend.available)
    func tokens(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode([
                "scope": "openid profile email offline_access", "audience": "http://spindle.test/userinfo",
                "auth0Client": "eyJuYW1lIjoiYXV0aDAtc3BhLWpzIn0=",
            ])
            let answer = try await world.server.send(
                "POST", "/oauth/token",
                json: [
                    "grant_type": "authorization_code", "client_id": .string(world.app.id), "code": .string(code),
                    "code_verifier": .string(verifier), "redirect_uri": .string(world.app.redirectURI),
                ])
            #expect(answer.status == 200)
            let token = try answer.require("access_token")
            #expect(try await world.idToken(in: answer)["sub"]?.string == world.user)
            #expect(try await world.server.get("/userinfo", bearer: token).json["sub"]?.string == world.user)
            let refreshed = try await world.server.send(
                "POST", "/oauth/token",
                json: [
                    "grant_type": "refresh_token", "client_id": .string(world.app.id),
                    "refresh_token": .string(try answer.require("refresh_token")),
                    "redirect_uri": .string(world.app.redirectURI), "audience": "http://spindle.test/userinfo",
                ])
            #expect(refreshed.json["id_token"] != nil)
            let refresh = try refreshed.require("refresh_token")

            for body: JSON in [["token": 7, "client_id": .string(world.app.id)], ["token": .string(refresh)], []] {
                let refused = try await world.server.send("POST", "/oauth/revoke", json: body)
                #expect(refused.status == 400 || refused.status == 401)
            }
            let revoked = try await world.server.send(
                "POST", "/oauth/revoke", json: ["token": .string(refresh), "client_id": .string(world.app.id)])
            #expect(revoked.status == 200)
            #expect(try await world.refresh(refresh).error == "invalid_grant")
        }
    }

    @Test(
        "Auth0's /v2/logout leads to a registered returnTo, and the keys are at /.well-known/jwks.json too",
        arguments: Backend.available)
    func logout(backend: Backend) async throws {
        try await World.with(backend) { world in
            let bye = "https://loom.example/bye"
            try await world.change("clients", world.app.id, ["post_logout_redirect_uris": [.string(bye)]])
            func path(_ target: String) -> String {
                "/v2/logout?client_id=\(world.app.id)&returnTo=\(TestServer.encode(target))&auth0Client=e30&federated"
            }
            #expect(try await world.server.get(path(bye)).header("location") == bye)
            #expect(try await world.server.get(path("https://evil.example/")).header("location") == nil)
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(path(bye))
            let out = page.status == 302 ? page : try await browser.submit(page)
            #expect(out.header("location") == bye)
            #expect(browser.session == nil)

            let keys = try await world.server.get("/.well-known/jwks.json")
            #expect(keys.body == (try await world.server.get("/oauth/jwks").body))
            for key in keys.json["keys"]?.array ?? [] {
                for member in ["kid", "alg", "use", "kty"] { #expect(key[member]?.string != nil) }
            }
        }
    }

    // MARK: Logout by returnTo

    private static let bye = "https://loom.example/bye"
    /// The headers when an app opens the address.
    private static let noPage = ["Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "document"]

    private func link(_ world: World, _ path: String = "/v2/logout", _ more: String = "") -> String {
        "\(path)?client_id=\(world.app.id)&returnTo=\(TestServer.encode(Self.bye))\(more)"
    }

    /// A browser whose user has signed in, and at the app too if `isUsed`.
    private func browser(_ world: World, isUsed: Bool = true) async throws -> Browser {
        _ = try await world.change("clients", world.app.id, ["post_logout_redirect_uris": [.string(Self.bye)]])
        var browser = Browser(world.server)
        guard isUsed else {
            try await browser.signIn()
            return browser
        }
        let code = try await world.authorize(in: &browser).requireRedirected("code")
        try #require(try await world.redeemAuthorization(code).status == 200)
        return browser
    }

    @Test(
        "A /v2/logout link from the client's page or from no page signs out at once if the client has tokens",
        arguments: Backend.available)
    func plain(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ways: [[String: String]] = [
                Self.noPage, ["Referer": "https://loom.example/"],
                ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document", "Referer": "https://loom.example/"],
                ["Sec-Fetch-Site": "same-site", "Referer": "https://loom.example/profile?a=b"],
            ]
            for headers in ways {
                var browser = try await browser(world)
                let out = try await browser.open(link(world), headers: headers)
                #expect(out.status == 302 && out.header("location") == Self.bye, "\(headers): \(out)")
                #expect(browser.session == nil)
            }
            // It does not matter how long ago the client's tokens expired.
            var late = try await browser(world)
            world.server.clock.advance(by: .hours(2))
            #expect(try await late.open(link(world), headers: Self.noPage).header("location") == Self.bye)
        }
    }

    @Test(
        "/v2/logout asks first if linked from another page, to another address or for a client without tokens",
        arguments: Backend.available)
    func asked(backend: Backend) async throws {
        try await World.with(backend) { world in
            let document = ["Sec-Fetch-Dest": "document"]
            let strange: [[String: String]] = [
                [:], ["Referer": "https://evil.example/"],
                ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
                ["Sec-Fetch-Site": "cross-site", "Referer": "https://evil.example/"],
                ["Sec-Fetch-Site": "cross-site", "Referer": "https://loom.example.evil.example/"],
                ["Sec-Fetch-Site": "cross-site", "Referer": "https://evil.example/https://loom.example/"],
                ["Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "iframe"],
                ["Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "image"],
            ]
            for headers in strange {
                var browser = try await browser(world)
                let page = try await browser.open(link(world), headers: document.merging(headers) { $1 })
                #expect(page.body.contains("Sign out?"), "\(headers)")
                #expect(try await browser.isSignedIn())
            }
            for address in [
                link(world, "/logout"), link(world, "/flow/logout"),
                link(world, "/v2/logout", "&id_token_hint=x"),
                link(world, "/v2/logout", "&redirect_uri=\(TestServer.encode(World.webview))"),
                "/v2/logout?client_id=\(world.app.id)", "/v2/logout?returnTo=\(TestServer.encode(Self.bye))",
                "/v2/logout?client_id=\(world.app.id)&returnTo=https%3A%2F%2Fevil.example%2F",
                "/v2/logout?client_id=\(world.backend.id)&returnTo=\(TestServer.encode(world.backend.redirectURI))",
            ] {
                var browser = try await browser(world)
                #expect(try await browser.open(address, headers: Self.noPage).body.contains("Sign out?"), "\(address)")
                #expect(try await browser.isSignedIn())
            }
            // Sessions in which the client has no live tokens.
            var unused = try await browser(world, isUsed: false)
            #expect(try await unused.open(link(world), headers: Self.noPage).body.contains("Sign out?"))
            var revoked = Browser(world.server)
            let code = try await world.authorize(in: &revoked).requireRedirected("code")
            let token = try await world.redeemAuthorization(code).require("access_token")
            _ = try await world.server.post("/logout", ["oauth_token": token])
            #expect(try await revoked.open(link(world), headers: Self.noPage).body.contains("Sign out?"))
        }
    }
}
