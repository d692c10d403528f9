import Cryptography
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("What an end ends") struct EndingTests {
    @Test(
        "A site is told of a session's end also if its tokens ended before, by a new password or a revocation",
        arguments: Backend.available)
    func told(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let told = try await world.notified(at: receiver)
            var browser = Browser(world.server)
            _ = try await told.site.signIn(in: &browser, scope: "openid")
            let changed = try await browser.submit(
                try await browser.open("/account"),
                ["current_password": World.password, "new_password": "another good loom"], to: "/account/password")
            #expect(changed.header("location") == "/account?done=password")
            _ = try await browser.submit(try await browser.open("/logout"))
            _ = try await told.next()

            var second = Browser(world.server)
            try await second.signIn(password: "another good loom")
            let tokens = try await told.site.signIn(in: &second, scope: "openid offline_access")
            _ = try await world.server.post(
                "/oauth/revoke", ["token": try tokens.require("refresh_token")], basic: told.site.actor.basic)
            _ = try await second.submit(try await second.open("/logout"))
            _ = try await told.next()
        }
    }

    @Test(
        "A site whose access the user revoked hears nothing of a later end of the session",
        arguments: Backend.available)
    func revoked(backend: Backend) async throws {
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let site = try await world.website()
            _ = try await world.change(
                "clients", site.actor.id, ["backchannel_logout_uri": "http://127.0.0.1:9/never"])
            var browser = Browser(world.server)
            _ = try await site.signIn(in: &browser)
            _ = try await browser.submit(
                try await browser.open("/account"), ["client": site.actor.id], to: "/account/apps/revoke")
            let before = try await world.notices()
            _ = try await browser.submit(try await browser.open("/logout"))
            #expect(try await world.notices() == before)
        }
    }

    @Test(
        "An administrator's token cannot make a secret after the secret it was got with has ended",
        arguments: Backend.available)
    func secret(backend: Backend) async throws {
        try await World.with(backend) { world in
            let administrator = try await world.confidential(
                ["scope": "admin:merchant profile", "grant_types": ["client_credentials"]])
            let path = "/admin/v1/clients/\(administrator.id)/secrets"
            let stolen = try await world.clientToken(administrator, scope: "admin:merchant")
            let plain = try await world.clientToken(administrator, scope: "profile")
            world.server.clock.advance(by: .seconds(1))
            let list = try await world.server.get(path, bearer: world.admin)
            let old = try #require(list.json["items"]?.array?.first?["id"]?.string, "\(list)")
            let made = try await world.server.send("POST", path, bearer: world.admin)
            #expect(made.status == 201)
            #expect(try await world.server.send("DELETE", "\(path)/\(old)", bearer: world.admin).status == 204)
            #expect(try await world.server.send("POST", path, bearer: stolen).status == 401)
            #expect(world.server.log.says("secret_ended"))
            let seen = try await world.introspect(plain, as: world.backend)
            #expect(seen.json["active"] == true, "what it does otherwise goes on")
            // As at a node that knew the old secret for a second more.
            world.server.clock.advance(by: .seconds(1))
            let late = World.Actor(
                id: administrator.id, secret: try made.require("client_secret"), redirectURI: administrator.redirectURI)
            let lateToken = try await world.clientToken(late, scope: "admin:merchant")
            #expect(try await world.server.get("/admin/v1/clients", bearer: lateToken).status == 401)
            world.server.clock.advance(by: .milliseconds(1))
            let fresh = World.Actor(
                id: administrator.id, secret: try made.require("client_secret"), redirectURI: administrator.redirectURI)
            let token = try await world.clientToken(fresh, scope: "admin:merchant")
            #expect(try await world.server.get("/admin/v1/clients", bearer: token).status == 200)
        }
    }

    @Test("A node that cached an ended secret refuses it for admin scopes", arguments: Backend.available)
    func secretElsewhere(backend: Backend) async throws {
        try await World.with(backend) { here in
            try await here.server.beside { node in
                let there = here.at(node)
                let administrator = try await here.confidential(
                    ["scope": "admin:merchant profile", "grant_types": ["client_credentials"]])
                // After its first token a client is read once more.
                for _ in 1...2 { _ = try await there.clientToken(administrator, scope: "admin:merchant") }
                let path = "/admin/v1/clients/\(administrator.id)/secrets"
                let list = try await here.server.get(path, bearer: here.admin)
                let old = try #require(list.json["items"]?.array?.first?["id"]?.string, "\(list)")
                #expect(try await here.server.send("DELETE", "\(path)/\(old)", bearer: here.admin).status == 204)
                let late = try await there.token(
                    ["grant_type": "client_credentials", "scope": "admin:merchant"], as: administrator)
                #expect(late.status == 503 && late.header("retry-after") == "1", "\(late)")
                here.server.clock.advance(by: .seconds(1))
                let later = try await there.token(
                    ["grant_type": "client_credentials", "scope": "admin:merchant"], as: administrator)
                #expect(later.status == 401, "\(later)")
            }
        }
    }

    @Test("An administrator's token is refused once its client's keys are replaced", arguments: Backend.available)
    func key(backend: Backend) async throws {
        try await World.with(backend) { world in
            let administrator = try await world.signingClient(.generate(.es256), ["scope": "admin:merchant"])
            let stolen = try await administrator.ask(
                nil, ["grant_type": "client_credentials", "scope": "admin:merchant"]
            ).require("access_token")
            let path = "/admin/v1/clients/\(administrator.id)"
            #expect(try await world.server.get(path, bearer: stolen).status == 200)
            let renamed = try await world.server.send("PATCH", path, json: ["client_name": "X"], bearer: world.admin)
            #expect(renamed.status == 200)
            #expect(try await world.server.get(path, bearer: stolen).status == 200, "nothing that it proves itself by")
            let changed = try await world.server.send(
                "PATCH", path, json: ["jwks": SigningClient.keySet(.generate(.es256))], bearer: world.admin)
            #expect(changed.status == 200, "\(changed)")
            #expect(try await world.server.get(path, bearer: stolen).status == 401)
        }
    }

    @Test("Narrowing a consent ends an app's older tokens that have the removed scope", arguments: Backend.available)
    func scope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            func allow(_ scope: String, ticking ticked: [String], _ more: String = "") async throws -> Answer {
                let address = world.authorizeAddress(["scope": scope], for: client) + more
                let page = try await browser.open(address)
                let answer = page.status == 200 ? try await world.allow(page, in: &browser, ticking: ticked) : page
                return try await world.redeemAuthorization(try answer.requireRedirected("code"), as: client)
            }
            let wide = try await allow("profile email", ticking: ["profile", "email"])
            let narrow = try await allow("profile", ticking: ["profile"])
            world.server.clock.advance(by: .seconds(1))
            let again = try await allow("profile email", ticking: ["profile"], "&prompt=consent")
            #expect(again.json["scope"]?.string == "profile")
            #expect(try await !world.isLive(try wide.require("access_token")))
            #expect(try await world.isLive(try narrow.require("access_token")))
            #expect(try await world.isLive(try again.require("access_token")))
        }
    }

    @Test(
        "Revoking a merchant's site signs its user out of it in web views of the merchant's app too",
        arguments: Backend.available)
    func webview(backend: Backend) async throws {
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
        "A second phone's session code takes over a web view; the first phone's logout ends its own tokens there",
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
}

extension World {
    fileprivate func notices() async throws -> Int {
        try await server.database.rows("SELECT id FROM deliveries WHERE kind = 'notice'").count
    }
}
