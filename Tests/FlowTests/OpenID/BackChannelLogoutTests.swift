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
        "Logout notices to self-registered clients have a queue apart from the merchant's own clients'",
        arguments: Backend.available)
    func apart(backend: Backend) async throws {
        // It answers nothing, so both notices stay stored.
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
        "A logout token uses the client's ID token algorithm and the same sub as the client's ID token",
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
        "A logout stores one notice for each client of that session with a logout URI, and for no other",
        arguments: Backend.available)
    func nobodyElse(backend: Backend) async throws {
        // No notice may leave this machine, so each one is still stored.
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
        "A logout token is sent days after the client's tokens expired, but not if its logout URI was removed",
        arguments: Backend.available)
    func changed(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            // The site's tokens live an hour, but its session may last as long as ours.
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

    @Test("Tokens for openid without offline_access end when their browser session ends", arguments: Backend.available)
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

    // MARK: Clients that are disabled

    @Test(
        "A client disabled at a user's logout is told of it once the client or its merchant is enabled again",
        arguments: Backend.available, ["clients", "merchants"])
    func disabledSite(backend: Backend, kind: String) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let told = try await world.notified(at: receiver)
            let id = kind == "clients" ? told.site.actor.id : world.merchant
            var browser = Browser(world.server)
            let hint = try await told.site.signIn(in: &browser).require("id_token")
            try await world.change(kind, id, ["disabled": true])
            _ = try await browser.submit(try await browser.open("/logout"))
            #expect(try await !browser.isSignedIn())
            try await world.untilPostponed(.notice)

            try await world.change(kind, id, ["disabled": false])
            world.server.clock.advance(by: .minutes(2))
            #expect(try await told.next()["sid"] == (try TakenApart(hint).claims["sid"]))
        }
    }

    @Test(
        "A logout notice that waits for a disabled client is dropped when the client is deleted",
        arguments: Backend.available)
    func deletedSite(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let told = try await world.notified(at: receiver)
            let id = told.site.actor.id
            var browser = Browser(world.server)
            _ = try await told.site.signIn(in: &browser)
            try await world.change("clients", id, ["disabled": true])
            _ = try await browser.submit(try await browser.open("/logout"))
            try await world.untilPostponed(.notice)

            #expect(
                try await world.server.send("DELETE", "/admin/v1/clients/\(id)", bearer: world.admin).status == 204)
            world.server.clock.advance(by: .minutes(2))
            let deadline = ContinuousClock.now + .seconds(30)
            while try await world.waiting(.notice) > 0, ContinuousClock.now < deadline { await Task.yield() }
            #expect(try await world.waiting(.notice) == 0)
        }
    }

    // MARK: However the session ends

    /// A site that Ada is signed in to in two browsers. Notices do not leave this machine and are counted.
    private struct Story {
        let told: NotifiedSite
        var here: BrowserUser
        var elsewhere: BrowserUser
        var world: World { told.site.world }

        /// How many notices were stored since the last call.
        mutating func news() async throws -> Int {
            let count = try await world.waiting(.notice)
            defer { known = count }
            return count - known
        }
        private var known = 0

        init(_ world: World) async throws {
            told = try await world.notified(at: try CallbackReceiver())
            here = try await world.signedIn()
            elsewhere = try await world.signedIn()
            _ = try await told.site.signIn(in: &here.browser)
            _ = try await told.site.signIn(in: &elsewhere.browser, scope: "openid offline_access")
        }
    }

    private func story(_ backend: Backend, _ tell: (inout Story) async throws -> Void) async throws {
        try await World.with(backend) { world in
            var story = try await Story(world)
            try await tell(&story)
        }
    }

    @Test(
        "Ending sessions on the account page sends logout notices to the sites of each ended session",
        arguments: Backend.available)
    func elsewhere(backend: Backend) async throws {
        try await story(backend) { story in
            let other = try #require(try await story.here.otherSessions().first)
            _ = try await story.here.change("sessions/end", ["session": other])
            #expect(try await story.news() == 1)
            _ = try await story.here.change("sessions/end", ["session": other])
            #expect(try await story.news() == 0)
            var third = try await story.world.signedIn()
            _ = try await story.told.site.signIn(in: &third.browser)
            _ = try await story.here.change("sessions/end-others")
            #expect(try await story.news() == 1, "what had ended was told")
            #expect(try await story.here.isSignedIn())
            #expect(try await story.told.site.silentError(in: &story.here.browser) == nil)
        }
    }

    @Test(
        "A password change sends logout notices to the sites of all sessions but the current one",
        arguments: Backend.available)
    func password(backend: Backend) async throws {
        try await story(backend) { story in
            _ = try await story.here.change(
                "password", ["current_password": World.password, "new_password": "a quite different loom"])
            #expect(try await story.news() == 1)
            #expect(try await story.here.isSignedIn())
        }
    }

    @Test("A password reset sends logout notices to the sites of all the user's sessions", arguments: Backend.available)
    func reset(backend: Backend) async throws {
        try await story(backend) { story in
            var visitor = BrowserUser(story.world)
            _ = try await visitor.fill("/password", ["email": World.email])
            let link = try #require(
                try await story.world.server.mail.letter(to: World.email).link(containing: "/password/reset/"))
            let page = try await visitor.browser.open(link.replacing("http://spindle.test", with: ""))
            _ = try await visitor.browser.submit(page, ["password": "a loom for tomorrow"])
            #expect(try await story.news() == 2)
        }
    }

    @Test(
        "Disabling, a new password or deletion by administration sends logout notices to the user's sites",
        arguments: Backend.available,
        [["disabled": true], ["password": "an entirely new one"], nil] as [JSON?])
    func administration(backend: Backend, change: JSON?) async throws {
        try await story(backend) { story in
            let world = story.world
            if let change {
                try await world.change("users", world.user, ["nickname": "Ada"])
                #expect(try await story.news() == 0)
                try await world.change("users", world.user, change)
            } else {
                _ = try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: world.admin)
            }
            #expect(try await story.news() == 2)
        }
    }

    @Test(
        "A user's own deletion of the account sends logout notices to the sites of the user's sessions",
        arguments: Backend.available)
    func deletion(backend: Backend) async throws {
        try await story(backend) { story in
            let form = try await story.here.browser.open("/account/delete")
            _ = try await story.here.browser.submit(form, ["current_password": World.password])
            #expect(try await story.news() == 2)
        }
    }

    @Test(
        "Logout notices are sent when another user signs in over a session, not when the same user does",
        arguments: Backend.available)
    func another(backend: Backend) async throws {
        try await story(backend) { story in
            _ = try await story.world.person("grace@example.com")
            for (email, expected) in [(World.email, 0), ("grace@example.com", 1)] {
                let page = try await story.here.browser.open(story.world.authorizeAddress(["prompt": "login"]))
                _ = try await story.here.browser.submit(page, ["email": email, "password": World.password])
                #expect(try await story.news() == expected)
            }
        }
    }

    @Test(
        "A site gets a logout notice at the session's end even if its tokens ended earlier",
        arguments: Backend.available)
    func endedBefore(backend: Backend) async throws {
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
        "A site whose access the user revoked gets no logout notice when the session ends later",
        arguments: Backend.available)
    func revokedSite(backend: Backend) async throws {
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
}

extension World {
    fileprivate func notices() async throws -> Int {
        try await server.database.rows("SELECT id FROM deliveries WHERE kind = 'notice' AND failed_at IS NULL").count
    }
}
