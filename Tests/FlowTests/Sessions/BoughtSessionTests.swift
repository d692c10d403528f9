import JSON
import Storage
import TestSupport
import Testing

@Suite("Bought sessions: where they hold, and what ends them and what was got in them")
struct BoughtSessionTests {
    @Test(
        "A session bought with one merchant's token does not sign in at another merchant's client",
        arguments: Backend.available)
    func crossesMerchants(backend: Backend) async throws {
        try await World.with(backend) { world in
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: try await world.signIn()))")
            let theirs = try await webview.open(
                world.authorizeAddress(["code_challenge": challenge, "prompt": "none"], for: world.rivalBackend))
            #expect(theirs.redirected("error") == "login_required")
            #expect(theirs.redirected("code") == nil)
            let own = try await webview.open(world.authorizeAddress(["prompt": "none"]))
            #expect(own.redirected("code") != nil)
        }
    }

    @Test(
        "The 101st session that an app buys ends the app's oldest, not a session in which the user signed in",
        arguments: Backend.available)
    func many(backend: Backend) async throws {
        try await World.with(backend) { world in
            var own = Browser(world.server)
            _ = try await world.authorize(in: &own)
            let phone = try await world.signIn()
            var webviews: [Browser] = []
            for _ in 0...100 {
                var webview = Browser(world.server)
                _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phone))")
                webviews.append(webview)
                world.server.clock.advance(by: .seconds(1))
            }
            #expect(try await own.isSignedIn())
            #expect(try await !webviews[0].isSignedIn(), "the app's own oldest")
            #expect(try await webviews[1].isSignedIn())
        }
    }

    @Test(
        "A bought session stops working when the client whose token bought it is disabled",
        arguments: Backend.available)
    func outlivesItsClient(backend: Backend) async throws {
        try await World.with(backend) { world in
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: try await world.signIn()))")
            #expect(try await webview.isSignedIn())
            _ = try await world.server.send(
                "PATCH", "/admin/v1/clients/\(world.app.id)", json: ["disabled": true], bearer: world.admin)
            #expect(try await !webview.isSignedIn())
        }
    }

    @Test("A new password voids the authorization codes of older sign-ins", arguments: Backend.available)
    func codeOutlivesSession(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode()
            _ = try await world.server.send(
                "PATCH", "/admin/v1/users/\(world.user)", json: ["password": "a new one entirely"],
                bearer: world.admin)
            #expect(try await world.redeemAuthorization(code).error == "invalid_grant")
        }
    }

    @Test(
        "A logout link with another user's access token asks before it signs the browser out",
        arguments: Backend.available)
    func foreignTokenSignsOut(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await World.make(
                world.server, world.admin, "users",
                ["email": "mallory@example.com", "password": "mallory's own password"])
            let mallory = try await world.signIn(as: "mallory@example.com", password: "mallory's own password")
            var browser = Browser(world.server)
            _ = try await world.authorize(in: &browser)
            let page = try await browser.open(
                "/logout?oauth_token=\(try mallory.require("access_token"))", headers: ["Sec-Fetch-Site": "cross-site"])
            #expect(page.body.contains("Sign out?"))
            #expect(try await browser.isSignedIn())
        }
    }

    @Test(
        "With logout_reaches_backends, a device's logout also ends tokens that a backend bought with its own",
        arguments: Backend.available)
    func logoutStopsHalfWay(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.server.send(
                "PATCH", "/admin/v1/merchants/\(world.merchant)", json: ["logout_reaches_backends": true],
                bearer: world.admin)
            let phone = try await world.signIn()
            let first = try await world.redeem(try await world.code(of: phone), as: world.backend)
            let second = try await world.redeem(try await world.code(of: first), as: world.backend)
            let last = try second.require("access_token")
            #expect(try await world.isLive(last))
            _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            #expect(try await !world.isLive(last))
        }
    }

    @Test(
        "A session that an app bought for another client is void only while the app is disabled",
        arguments: Backend.available)
    func buyerIsDisabled(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let code = try await world.exchange(
                try phone.require("access_token"), for: world.backend, type: "session",
                redirectURI: world.backend.redirectURI
            ).require("code")
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(code)")
            #expect(try await webview.isSignedIn())
            try await world.change("clients", world.app.id, ["disabled": true])
            #expect(try await !webview.isSignedIn())
            try await world.change("clients", world.app.id, ["disabled": false])
            #expect(try await webview.isSignedIn())
        }
    }

    @Test(
        "A phone's logout ends refresh tokens that a public client got in a web view that the phone bought",
        arguments: Backend.available, ["openid offline_access", "profile"])
    func lastingToken(backend: Backend, scope: String) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phone))")
            var answer = try await webview.open(world.authorizeAddress(["scope": scope]))
            // "Continue?": any app on the device could have the address.
            if answer.status == 200 { answer = try await webview.submit(answer) }
            if let onward = answer.header("location"), onward.hasPrefix("/") { answer = try await webview.open(onward) }
            let tokens = try await world.redeemAuthorization(try answer.requireRedirected("code"))
            let refreshed = try await world.refresh(try tokens.require("refresh_token"))
            #expect(refreshed.status == 200)
            _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            let late = try await world.refresh(try refreshed.require("refresh_token"))
            #expect(late.error == "invalid_grant", "\(late)")
        }
    }

    @Test(
        "Deleting an app ends offline tokens that public clients got in its web views, but not a backend's",
        arguments: Backend.available, [false, true])
    func deletedApp(backend: Backend, isForgotten: Bool) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let (first, second) = (try await publicSite(world), try await publicSite(world))
            let server = try await world.website().actor
            let got = try await lasting(at: first, boughtBy: phone, world)
            let next = try await lasting(at: second, boughtBy: got, world)
            let kept = try await lasting(at: server, boughtBy: phone, world)
            if isForgotten {
                try await world.server.database.write { db in
                    _ = try db.execute("DELETE FROM sessions WHERE path IS NOT NULL")
                }
            }
            let bye: JSON = ["backchannel_logout_uri": "https://site.example/bye"]
            try await world.change("clients", second.id, bye)
            try await delete(world.app, world)
            let notices = try await world.server.database.rows("SELECT id FROM deliveries WHERE kind = 'notice'")
            #expect(notices.count == (isForgotten ? 0 : 1), "who is signed in at the web view's web view is told")
            for (answer, client) in [(got, first), (next, second)] {
                #expect(try await !world.isLive(try answer.require("access_token")))
                let refreshed = try await world.refresh(try answer.require("refresh_token"), as: client)
                #expect(refreshed.error == "invalid_grant", "\(refreshed)")
            }
            let refreshed = try await world.refresh(try kept.require("refresh_token"), as: server)
            #expect(refreshed.status == 200, "\(refreshed)")
        }
    }

    @Test(
        "A phone's logout ends tokens got through a chain of web views even if a client in between is deleted",
        arguments: Backend.available)
    func deletedInTheMiddle(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let (first, second) = (try await publicSite(world), try await publicSite(world))
            let got = try await lasting(at: first, boughtBy: phone, world)
            let next = try await lasting(at: second, boughtBy: got, world)
            try await delete(first, world)
            _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            #expect(try await !world.isLive(try next.require("access_token")))
            let refreshed = try await world.refresh(try next.require("refresh_token"), as: second)
            #expect(refreshed.error == "invalid_grant", "\(refreshed)")
        }
    }

    @Test(
        "Revoking a merchant's site signs its user out of it in web views of the merchant's app too",
        arguments: Backend.available)
    func revokedSite(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website()
            var own = Browser(world.server)
            _ = try await site.signIn(in: &own)
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: try await world.signIn()))")
            #expect(try await site.silentError(in: &webview) == nil)
            _ = try await own.submit(
                try await own.open("/account"), ["client": site.actor.id], to: "/account/apps/revoke")
            #expect(try await site.silentError(in: &webview) == "login_required")
        }
    }

    @Test("A web view and its tokens end when the client it was opened for is deleted", arguments: Backend.available)
    func receiver(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.exchange(
                try await world.signIn().require("access_token"), for: world.backend, type: "session",
                redirectURI: world.backend.redirectURI
            ).require("code")
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(code)")
            let tokens = try await world.redeemAuthorization(
                try await webview.open(world.authorizeAddress(["scope": "openid"])).requireRedirected("code"))
            #expect(try await world.isLive(try tokens.require("access_token")))
            let path = "/admin/v1/clients/\(world.backend.id)"
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            #expect(try await !webview.isSignedIn())
            #expect(try await !world.isLive(try tokens.require("access_token")))
        }
    }

    @Test(
        "When a second phone takes over a web view, the first phone's logout ends only tokens got before",
        arguments: Backend.available)
    func phones(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phones = [try await world.signIn(), try await world.signIn()]
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phones[0]))")
            let tokens = try await world.redeemAuthorization(
                try await webview.open(world.authorizeAddress(["scope": "openid"])).requireRedirected("code"))
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phones[1]))")
            _ = try await world.server.get("/logout", bearer: try phones[0].require("access_token"))
            #expect(try await !world.isLive(try tokens.require("access_token")))
            #expect(try await webview.isSignedIn(), "by the second phone's token")
            // The same phone's next code keeps the session.
            let later = try await world.redeemAuthorization(
                try await webview.open(world.authorizeAddress(["scope": "openid"])).requireRedirected("code"))
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phones[1]))")
            #expect(try await world.isLive(try later.require("access_token")))
        }
    }

    private func publicSite(_ world: World) async throws -> World.Actor {
        try await world.website(["token_endpoint_auth_method": "none"]).actor
    }

    private func delete(_ client: World.Actor, _ world: World) async throws {
        let gone = try await world.server.send("DELETE", "/admin/v1/clients/\(client.id)", bearer: world.admin)
        #expect(gone.status == 204, "\(gone)")
    }

    /// The lasting tokens of `client`, got in a web view that the token of `answer` bought.
    private func lasting(at client: World.Actor, boughtBy answer: Answer, _ world: World) async throws -> Answer {
        let code = try await world.exchange(
            try answer.require("access_token"), for: client, type: "session", redirectURI: client.redirectURI
        ).require("code")
        var webview = Browser(world.server)
        _ = try await webview.open("/auth/session/\(code)")
        let address = world.authorizeAddress(["scope": "openid offline_access"], for: client)
        var page = try await webview.open(address)
        if page.status == 200 { page = try await webview.submit(page) }
        if let onward = page.header("location"), onward.hasPrefix("/") { page = try await webview.open(onward) }
        let tokens = try await world.redeemAuthorization(try page.requireRedirected("code"), as: client)
        #expect(try await world.isLive(try tokens.require("access_token")))
        return tokens
    }
}
