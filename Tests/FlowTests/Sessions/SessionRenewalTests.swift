import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("A session that is renewed, because its user signs in again in its browser")
struct SessionRenewalTests {
    @Test(
        "An authorization code got in a web view is void once the user signs in there by hand",
        arguments: Backend.available)
    func webView(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (site, phone) = (try await world.website().actor, try await world.signIn())
            var webView = Browser(world.server)
            _ = try await webView.open("/auth/session/\(try await world.sessionCode(of: phone))")
            let asks = world.authorizeAddress(["scope": "openid offline_access"], for: site)
            let code = try await webView.open(asks).requireRedirected("code")
            try await signIn(in: &webView, world)
            #expect(try await world.redeemAuthorization(code, as: site).error == "invalid_grant")
            let next = try await webView.open(asks).requireRedirected("code")
            let tokens = try await world.redeemAuthorization(next, as: site)
            _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            #expect(try await world.isLive(try tokens.require("access_token")), "it rests on the sign-in by hand")
        }
    }

    @Test(
        "An authorization code got after a sign-in by mailed code is void once the user signs in by password",
        arguments: Backend.available)
    func method(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["email_verified": true])
            var here = BrowserUser(world)
            try await here.signInByMail(as: World.email)
            let code = try await here.browser.open(world.authorizeAddress()).requireRedirected("code")
            try await signIn(in: &here.browser, world)
            #expect(try await world.redeemAuthorization(code).error == "invalid_grant")
        }
    }

    @Test("A session renewed by a new sign-in keeps its sid and the tokens got in it", arguments: Backend.available)
    func goesOn(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website()
            var browser = Browser(world.server)
            let first = try await site.signIn(in: &browser)
            let code = try await browser.open(world.authorizeAddress()).requireRedirected("code")
            let tokens = try await world.redeemAuthorization(code)
            try await signIn(in: &browser, world)
            let second = try await site.signIn(in: &browser)
            #expect(
                try TakenApart(try first.require("id_token")).claims["sid"]
                    == TakenApart(try second.require("id_token")).claims["sid"])
            #expect(try await browser.isSignedIn())
            #expect(try await world.isLive(try tokens.require("access_token")), "what was got before lives")
        }
    }

    @Test(
        "A new client with a deleted client's id gets no logout notice of a session of the deleted client",
        arguments: Backend.available)
    func nextOwner(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website(["backchannel_logout_uri": ModelWorld.unheard])
            let id = site.actor.id
            var browser = Browser(world.server)
            _ = try await browser.submit(
                try await browser.open("/login"),
                ["email": World.email, "password": World.password, "remember": "1"])
            _ = try await site.signIn(in: &browser)
            world.server.clock.advance(by: .days(60))
            let retention = Retention(database: world.server.database)
            while await retention.sweep(at: world.server.clock.now).gone > 0 {}
            // Its tokens are forgotten, and no longer say in which sessions they were got.
            let admin = try await world.server.post(
                "/oauth/token", ["grant_type": "client_credentials", "scope": "admin"],
                basic: (world.server.adminID, world.server.adminSecret)
            ).require("access_token")
            #expect(try await world.server.send("DELETE", "/admin/v1/clients/\(id)", bearer: admin).status == 204)
            let next = try await World.client(
                world.server, admin,
                [
                    "merchant_id": .string(world.rival), "client_name": "Next", "grant_types": ["authorization_code"],
                    "redirect_uris": ["https://next.example/back"], "token_endpoint_auth_method": "none",
                    "backchannel_logout_uri": ModelWorld.unheard,
                ])
            try await world.server.database.write { db in
                _ = try db.execute("DELETE FROM client_redirect_uris WHERE client_id = \(next.id)")
                _ = try db.execute("UPDATE clients SET id = \(id) WHERE id = \(next.id)")
            }
            try await signIn(in: &browser, world)
            #expect(try await world.count("session_clients WHERE client_id = '\(id)'") == 1)
            _ = try await browser.submit(try await browser.open("/logout"))
            #expect(try await world.waiting(.notice) == 0)
        }
    }

    /// Signs in by password in a browser in which the user is signed in.
    private func signIn(in browser: inout Browser, _ world: World) async throws {
        world.server.clock.advance(by: .seconds(1))
        let page = try await browser.open("/login?confirm=1&continue=/account")
        let done = try await browser.submit(page, ["email": World.email, "password": World.password])
        try #require(done.status == 303, "\(done)")
    }
}
