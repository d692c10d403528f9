import JSON
import Storage
import TestSupport
import Testing

@Suite("Signing out of one client, with the browser's session kept")
struct LogoutOfOneClientTests {
    private static let origin = "https://www.loom.example"

    @Test(
        "Signing out of one client asks the user first, and leaves the session and other clients as they are",
        arguments: Backend.available)
    func leaves(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = try await signedIn(world)
            let session = browser.session
            let page = try await browser.open(logout(world), headers: ["Sec-Fetch-Site": "cross-site"])
            #expect(page.body.contains("Sign out?") && page.body.contains("<bdi>Loom for phones</bdi> only") == false)
            #expect(page.words.contains("only, and stay signed in elsewhere"))
            let out = try await browser.submit(page)
            #expect(out.status == 302 && out.header("location") == World.webview + "?state=s")
            #expect(out.header("set-cookie") == nil && browser.session == session)
            #expect(try await browser.isSignedIn())

            // The client sees no session; for another client nothing has changed.
            let silent = try await browser.open(world.authorizeAddress(["prompt": "none"]))
            #expect(silent.redirected("error") == "login_required")
            #expect(try await script(world, in: &browser).contains("No session found!"))
            let other = try await browser.open(world.authorizeAddress(["prompt": "none"], for: world.backend))
            #expect(other.redirected("code") != nil)
        }
    }

    @Test(
        "A user who signed out of one client signs in to it again with one press, without a password",
        arguments: Backend.available)
    func comesBack(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = try await signedIn(world)
            _ = try await browser.submit(try await browser.open(logout(world)))
            let picker = try await browser.open(world.authorizeAddress())
            #expect(picker.isPicker)
            // Until the press the client learns nothing, however often it asks.
            #expect(try await browser.open(world.authorizeAddress(["prompt": "none"])).redirected("code") == nil)
            world.server.clock.advance(by: .milliseconds(1))
            let back = try await browser.pick(try #require(picker.choices.first), on: picker)
            #expect(try await world.redeemAuthorization(try back.requireRedirected("code")).status == 200)
            #expect(try await browser.open(world.authorizeAddress(["prompt": "none"])).redirected("code") != nil)
            #expect(try await script(world, in: &browser).contains("\"result\":true"))
        }
    }

    @Test(
        "A session code signs its user in again to a client that they had signed out of in that browser",
        arguments: Backend.available)
    func sessionCode(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = try await signedIn(world)
            _ = try await browser.submit(try await browser.open(logout(world)))
            world.server.clock.advance(by: .seconds(1))
            let code = try await world.sessionCode(of: try await world.signIn())
            #expect(try await browser.open("/auth/session/\(code)").status == 302)
            #expect(try await browser.open(world.authorizeAddress(["prompt": "none"])).redirected("code") != nil)
        }
    }

    @Test(
        "Signing out of one client works on a server node whose clock is behind that of the sign-in's node",
        arguments: Backend.available)
    func skew(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = try await signedIn(world)
            world.server.clock.advance(by: .seconds(-20))
            _ = try await browser.submit(try await browser.open(logout(world)))
            let silent = try await browser.open(world.authorizeAddress(["prompt": "none"]))
            #expect(silent.redirected("error") == "login_required")
            let data = try await world.server.get("/admin/v1/users/\(world.user)/data", bearer: world.admin)
            #expect(data.json["session_clients"]?.array?.filter { $0["signed_out_at"] != nil }.count == 1, "\(data)")
        }
    }

    @Test(
        "A new sign-in in the browser signs in to all clients, even one that the user had signed out of",
        arguments: Backend.available)
    func anew(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = try await signedIn(world)
            _ = try await browser.submit(try await browser.open(logout(world)))
            world.server.clock.advance(by: .seconds(1))
            _ = try await browser.signIn(on: "/login?confirm=1&continue=/account")
            #expect(try await browser.open(world.authorizeAddress(["prompt": "none"])).redirected("code") != nil)
        }
    }

    @Test(
        "Signing out of one client ends its tokens without offline access and its codes, not other clients'",
        arguments: Backend.available)
    func tokens(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = try await signedIn(world)
            let scope: KeyValuePairs = ["scope": "openid"]
            let code = try await browser.open(world.authorizeAddress(scope)).requireRedirected("code")
            let token = try await world.redeemAuthorization(code).require("access_token")
            let late = try await browser.open(world.authorizeAddress(scope)).requireRedirected("code")
            let others = try await browser.open(world.authorizeAddress(for: world.backend)).requireRedirected("code")
            _ = try await browser.submit(try await browser.open(logout(world)))
            #expect(try await !world.isLive(token))
            #expect(try await world.redeemAuthorization(late).error == "invalid_grant")
            #expect(try await world.redeemAuthorization(others, as: world.backend).status == 200)
        }
    }

    @Test("Signing out of a client never used does nothing, nor does logout.js for one already signed out of")
    func strangers() async throws {
        try await World.with(.sqlite) { world in
            var browser = try await signedIn(world)
            for never in [try await world.stranger(), world.rivalBackend] {
                let path = "/logout?logout_scope=client&client_id=\(never.id)"
                #expect(try await browser.submit(try await browser.open(path)).words.contains("signed out of"))
            }
            _ = try await browser.submit(try await browser.open(logout(world)))
            let rows = try await world.server.database.read { db in
                try db.rows("SELECT client_id FROM session_clients WHERE left_at IS NOT NULL").map {
                    try $0.get("client_id", as: String.self)
                }
            }
            #expect(rows == [world.app.id])
            let script = try await browser.open(
                "/ajax/logout.js?callback=f&client_id=\(world.app.id)", headers: ["Origin": Self.origin])
            #expect(script.body.contains("No session found!"))
            #expect(try await browser.isSignedIn())
        }
    }

    @Test("A user's sign-outs of single clients count toward the limit of revocations", arguments: Backend.available)
    func overAndOver(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = try await signedIn(world)
            try await world.useUpRevocations()
            let refused = try await browser.submit(try await browser.open(logout(world)))
            #expect(refused.status == 429 && refused.isPage && refused.header("retry-after") == "10", "\(refused)")
            world.server.clock.advance(by: .seconds(10))
            let left = try await browser.submit(try await browser.open(logout(world)))
            #expect(left.header("location")?.hasPrefix(World.webview) == true, "\(left)")
        }
    }

    @Test(
        "A user can sign out of an app that has not yet redeemed its authorization code, and voids the code",
        arguments: Backend.available)
    func unredeemed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(for: stranger))
            let allowed = try await world.allow(page, in: &browser, ticking: page.boxes)
            try await expectLeft(stranger, by: &browser, having: try allowed.requireRedirected("code"), world)
        }
    }

    @Test(
        "With skip_introduction too, a user can sign out of an app that has not yet redeemed its code",
        arguments: Backend.available)
    func unintroduced(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("merchants", world.rival, ["skip_introduction": true])
            var browser = Browser(world.server)
            try await browser.signIn()
            let answer = try await browser.open(world.authorizeAddress(for: world.rivalBackend))
            try await expectLeft(world.rivalBackend, by: &browser, having: try answer.requireRedirected("code"), world)
        }
    }

    /// Signs out of `client`, and expects that it sees no session and cannot redeem `code`.
    private func expectLeft(
        _ client: World.Actor, by browser: inout Browser, having code: String, _ world: World
    ) async throws {
        let page = try await browser.open("/logout?logout_scope=client&client_id=\(client.id)")
        let out = try await browser.submit(page)
        #expect(out.words.contains("signed out of"), "\(out)")
        let silent = try await browser.open(world.authorizeAddress(["prompt": "none"], for: client))
        #expect(silent.redirected("error") == "login_required", "\(silent)")
        let redeemed = try await world.redeemAuthorization(code, as: client)
        #expect(redeemed.error == "invalid_grant", "\(redeemed)")
        let isSignedIn = try await browser.isSignedIn()
        #expect(isSignedIn)
    }

    private func logout(_ world: World) -> String {
        "/logout?logout_scope=client&client_id=\(world.app.id)&redirect_uri=\(TestServer.encode(World.webview))&state=s"
    }

    /// A browser in which Ada has used the phone's client.
    private func signedIn(_ world: World) async throws -> Browser {
        try await world.change("clients", world.app.id, ["web_origins": [.string(Self.origin)]])
        var browser = Browser(world.server)
        _ = try await browser.signIn()
        let code = try await browser.open(world.authorizeAddress()).requireRedirected("code")
        #expect(try await world.redeemAuthorization(code).status == 200)
        return browser
    }

    private func script(_ world: World, in browser: inout Browser) async throws -> String {
        try await browser.open(
            "/ajax/hasSession.js?callback=f&client_id=\(world.app.id)", headers: ["Origin": Self.origin]
        ).body
    }

    // MARK: In a web view

    @Test(
        "A session code signs a web view in again to its own client only, not to another signed-out client",
        arguments: Backend.available)
    func another(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (site, phone) = (try await world.website(), try await world.signIn())
            var webview = try await left(site, by: phone, world)
            for _ in 1...2 {
                world.server.clock.advance(by: .seconds(1))
                let code = try await world.sessionCode(of: phone)
                #expect(try await webview.open("/auth/session/\(code)").status == 302)
                #expect(try await webview.open(world.authorizeAddress(["prompt": "none"])).redirected("code") != nil)
                #expect(try await site.silentError(in: &webview) == "login_required")
            }
            let code = try await world.exchange(
                try phone.require("access_token"), for: site.actor, type: "session",
                redirectURI: site.actor.redirectURI
            ).require("code")
            #expect(try await webview.open("/auth/session/\(code)").status == 302)
            #expect(try await site.silentError(in: &webview) == nil, "a code for that site does")
        }
    }

    /// A web view that the tokens of `phone` opened, in which Ada has signed out of `site` alone.
    private func left(_ site: Website, by phone: Answer, _ world: World) async throws -> Browser {
        var webview = Browser(world.server)
        _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phone))")
        _ = try await site.signIn(in: &webview)
        #expect(try await site.silentError(in: &webview) == nil)
        _ = try await webview.submit(
            try await webview.open("/logout?logout_scope=client&client_id=\(site.actor.id)"))
        #expect(try await site.silentError(in: &webview) == "login_required")
        return webview
    }
}

extension Browser {
    /// Signs in at the page that `path` shows.
    fileprivate mutating func signIn(on path: String) async throws -> Answer {
        try await submit(try await open(path), ["email": World.email, "password": World.password])
    }
}
