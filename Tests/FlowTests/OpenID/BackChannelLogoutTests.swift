import JOSE
import JSON
import Storage
import TestSupport
import Testing
import Values

/// With the plan `oidcc-backchannel-rp-initiated-logout-certification-test-plan` of OpenID's conformance suite.
@Suite("Back-channel logout: each site of a session is told of its end by a signed logout token")
struct BackChannelLogoutTests {
    @Test("oidcc-backchannel-logout-discovery-endpoint-verification")
    func discovery() async throws {
        try await TestServer.with(.sqlite) { server in
            let metadata = try await server.get("/.well-known/openid-configuration").json
            #expect(metadata["backchannel_logout_supported"]?.bool == true)
            #expect(metadata["backchannel_logout_session_supported"]?.bool == true)
            #expect(metadata["end_session_endpoint"]?.string == "http://spindle.test/logout")
        }
    }

    @Test("oidcc-backchannel-rp-initiated-logout", arguments: Backend.available)
    func logout(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let told = try await world.notified(at: receiver)
            var browser = Browser(world.server)
            let hint = try await told.site.signIn(in: &browser).require("id_token")
            let out = try await browser.logOut([
                "id_token_hint": hint, "post_logout_redirect_uri": Website.bye, "state": "s",
            ])
            #expect(out.header("location") == Website.bye + "?state=s")
            let notice = try await told.next()
            let claims = try await world.verified(hint).claims
            #expect(notice["sub"] == claims["sub"] && notice["sid"] == claims["sid"])
            #expect(notice["sid"]?.string?.isEmpty == false)
            #expect(try await told.site.silentError(in: &browser) == "login_required")
        }
    }

    @Test(
        "A logout notice to a self-registered client is queued apart from those to its merchant's own clients",
        arguments: Backend.available)
    func apart(backend: Backend) async throws {
        // Answers nothing: so both notices stay.
        let receiver = try LocalListener { _ in nil }
        defer { receiver.stop() }
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let uri: JSON = .string("http://127.0.0.1:\(receiver.port)/bye")
            let own = try await world.website()
            _ = try await world.change("clients", own.actor.id, ["backchannel_logout_uri": uri])
            let stranger = try await world.register(["backchannel_logout_uri": uri])
            var browser = Browser(world.server)
            let code = try await world.consented(in: &browser, ["scope": "openid"], for: stranger.actor)
                .requireRedirected("code")
            _ = try await world.redeemAuthorization(code, as: stranger.actor)
            let hint = try await own.signIn(in: &browser).require("id_token")
            _ = try await browser.logOut(["id_token_hint": hint])
            let shares = try await world.server.database.rows("SELECT share FROM deliveries WHERE kind = 'notice'")
                .map { try $0.get("share", as: String.self) }
            #expect(Set(shares).count == 2, "\(shares)")
        }
    }

    @Test(
        "A logout token uses the client's signing algorithm and the subject by which the client knows the user",
        arguments: Backend.available)
    func kinds(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            for algorithm in ["ES256", "PS256", "EdDSA"] {
                let told = try await world.notified(
                    at: receiver, "/\(algorithm)?of=spindle",
                    [
                        "id_token_signed_response_alg": .string(algorithm), "subject_type": "pairwise",
                        "backchannel_logout_session_required": true,
                    ])
                var browser = Browser(world.server)
                let hint = try await told.site.signIn(in: &browser).require("id_token")
                _ = try await browser.logOut(["id_token_hint": hint])
                let notice = try await told.next()
                #expect(notice["sub"]?.string == (try TakenApart(hint).claims["sub"]?.string))
                #expect(notice["sub"]?.string != world.user)
            }
        }
    }

    @Test(
        "A logout token that the client did not accept is signed anew and sent again, by any node",
        arguments: Backend.available)
    func later(backend: Backend) async throws {
        let receiver = try CallbackReceiver(refusing: 1)
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let told = try await world.notified(at: receiver)
            let refused = try await world.server.beside { node in
                var browser = Browser(node)
                let hint = try await Website(actor: told.site.actor, world: world.at(node)).signIn(in: &browser)
                    .require("id_token")
                _ = try await browser.logOut(["id_token_hint": hint])
                let refused = try await told.read(try await receiver.nextRefused())
                try await world.untilPostponed(.notice)
                return refused
            }
            world.server.clock.advance(by: .minutes(2))
            let taken = try await told.next()
            #expect(taken["sid"] == refused["sid"] && taken["sub"] == refused["sub"])
            #expect(taken["jti"] != refused["jti"], "another token has another name")
        }
    }

    @Test("A logout token about a deleted user has the same sub as the ID token", arguments: Backend.available)
    func gone(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let told = try await world.notified(at: receiver)
            let user = try #require(UserID(world.user))
            try await world.server.database.write { db in
                _ = try db.execute("UPDATE users SET subject = 'auth0|ada' WHERE id = \(user)")
            }
            var browser = Browser(world.server)
            let hint = try await told.site.signIn(in: &browser).require("id_token")
            #expect(try await world.verified(hint).claims["sub"] == "auth0|ada")
            let gone = try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: world.admin)
            #expect(gone.status == 204)
            #expect(try await told.next()["sub"] == "auth0|ada")
        }
    }

    @Test(
        "A logout tells only clients of the ended session, once, and does not wait for the delivery",
        arguments: Backend.available)
    func nobodyElse(backend: Backend) async throws {
        // None may leave: each that was ever left for somebody is still there.
        try await World.with(backend) { world in
            let receiver = try CallbackReceiver()
            var (here, elsewhere) = (Browser(world.server), Browser(world.server))
            let other = try await world.notified(at: receiver, "/elsewhere")
            _ = try await other.site.signIn(in: &elsewhere)
            _ = try await world.website().signIn(in: &here)
            _ = try await here.submit(try await here.open("/logout"))
            #expect(try await !here.isSignedIn())
            #expect(try await world.waiting(.notice) == 0)

            let expiry = try await world.notified(at: receiver)
            _ = try await expiry.site.signIn(in: &here)
            let page = try await here.open("/logout")
            for _ in 1...2 { _ = try await here.submit(page) }
            #expect(try await world.waiting(.notice) == 1, "sent twice it ends nothing")
            let day = world.server.clock.now + .days(1)
            let waiting = try await world.server.database.read { db in
                try db.rows("SELECT id FROM deliveries WHERE kind = 'notice' AND expires_at = \(day)").count
            }
            #expect(waiting == 1)
        }
    }

    @Test(
        "A logout token is sent long after the client's tokens expired, unless the client removed its logout URI",
        arguments: Backend.available)
    func changed(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            // Its tokens live an hour; its own session may be as long as ours.
            let short = try await world.notified(at: receiver, "/short", ["grant_types": ["authorization_code"]])
            var browser = Browser(world.server)
            let page = try await browser.open("/login")
            _ = try await browser.submit(
                page, ["email": World.email, "password": World.password, "remember": "1"])
            let hint = try await short.site.signIn(in: &browser).require("id_token")
            world.server.clock.advance(by: .days(3))
            _ = try await browser.logOut(["id_token_hint": hint])
            #expect(try await short.next()["sid"] == (try TakenApart(hint).claims["sid"]))
        }
        try await World.with(backend) { world in
            let told = try await world.notified(at: receiver, "/changed")
            var browser = Browser(world.server)
            let hint = try await told.site.signIn(in: &browser).require("id_token")
            try await world.change("clients", told.site.actor.id, ["backchannel_logout_uri": .null])
            _ = try await browser.logOut(["id_token_hint": hint])
            #expect(try await world.waiting(.notice) == 0)
        }
    }

    @Test("Tokens for openid without offline_access end with the session", arguments: Backend.available)
    func tokens(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website()
            var browser = Browser(world.server)
            let scopes = [("openid", false), ("openid offline_access", true), ("profile", true)]
            var answers: [(Answer, Bool)] = []
            for (scope, survives) in scopes {
                answers.append((try await site.signIn(in: &browser, scope: scope), survives))
            }
            _ = try await browser.submit(try await browser.open("/logout"))
            for (answer, survives) in answers {
                #expect(try await world.isLive(try answer.require("access_token")) == survives)
                let refreshed = try await world.refresh(try answer.require("refresh_token"), as: site.actor)
                #expect((refreshed.status == 200) == survives)
            }
        }
    }
}
