import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("What sites got in the web view of an app ends with the app's tokens")
struct WebViewTokenTests {
    @Test(
        "Signing out of an app ends tokens without offline access in its web views, also in those that have expired",
        arguments: Backend.available, [false, true])
    func idle(backend: Backend, isSwept: Bool) async throws {
        try await World.with(backend) { world in
            let told = try await world.notified(at: try CallbackReceiver())
            let (phone, other) = (try await world.signIn(), try await world.signIn())
            var webview = try await self.webview(of: phone, world)
            let tokens = try await told.site.signIn(in: &webview)
            let kept = try await told.site.signIn(in: &webview, scope: "openid offline_access")
            // A web view that was bought there, in turn.
            var inner = try await self.webview(of: tokens, world)
            let last = try await told.site.signIn(in: &inner)
            var beside = try await self.webview(of: other, world)
            let others = try await told.site.signIn(in: &beside)

            world.server.clock.advance(by: .hours(3))
            if isSwept {
                let retention = Retention(database: world.server.database)
                while await retention.sweep(at: world.server.clock.now).gone > 0 {}
            }
            let fresh = try await world.refresh(try phone.require("refresh_token"))
            let out = try await world.server.get("/logout", bearer: try fresh.require("access_token"))
            #expect(out.status == 200)
            for (answer, survives) in [(tokens, false), (last, false), (kept, true), (others, true)] {
                let refreshed = try await world.refresh(try answer.require("refresh_token"), as: told.site.actor)
                #expect((refreshed.status == 200) == survives)
            }
            #expect(try await world.waiting(.notice) == 0, "nobody is told of a session that has expired")
        }
    }

    @Test(
        "An expired access token signs nothing out, not even the web view that it bought",
        arguments: Backend.available, ["/logout", "/api/2/logout"])
    func expired(backend: Backend, path: String) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn(with: try await world.spidBackend())
            var webview = try await self.webview(of: phone, world)
            world.server.clock.advance(by: .minutes(70))
            let answer = try await world.server.get(path, bearer: try phone.require("access_token"))
            #expect(answer.status == 401, "\(answer)")
            #expect(try await webview.isSignedIn())
        }
    }

    @Test(
        "An access token that was revoked alone can no longer sign out its web view or its device",
        arguments: Backend.available, [false, true])
    func revokedAlone(backend: Backend, byBackend: Bool) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let token = try phone.require("access_token")
            var webview = try await self.webview(of: phone, world)
            let form = [("token", token)] + (byBackend ? [] : [("client_id", world.app.id)])
            let credentials = byBackend ? world.backend.basic : nil
            let revoked = try await world.server.post("/oauth/revoke", form: form, basic: credentials)
            #expect(revoked.status == 200, "\(revoked)")
            #expect(try await !world.isLive(token))
            #expect(try await world.server.get("/logout", bearer: token).status == 401)
            #expect(try await webview.isSignedIn())
            #expect(try await world.refresh(try phone.require("refresh_token")).status == 200)
        }
    }

    @Test("Session codes that are not redeemed leave no rows behind", arguments: Backend.available)
    func unredeemed(backend: Backend) async throws {
        try await World.with(backend) { world in
            var phones: [Answer] = []
            for _ in 1...20 { phones.append(try await world.signIn()) }
            let token = Secret<World>(try phones[0].require("access_token")).fingerprint.text
            let (before, sessions) = (try await world.places(of: token), try await world.count("sessions"))
            #expect(before.contains("access_tokens.fingerprint"))
            for phone in phones { _ = try await world.sessionCode(of: phone) }
            #expect(try await world.count("exchange_codes") == 20)
            world.server.clock.advance(by: .minutes(3))
            let retention = Retention(database: world.server.database)
            while await retention.sweep(at: world.server.clock.now).gone > 0 {}
            #expect(try await world.count("exchange_codes") == 0)
            #expect(try await world.places(of: token) == before)
            #expect(try await world.count("sessions") == sessions)
        }
    }

    @Test(
        "An access token that is revoked before its session code is opened cannot sign the web view out",
        arguments: Backend.available)
    func revokedOnTheWay(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let token = try phone.require("access_token")
            let code = try await world.sessionCode(of: phone)
            let form = [("token", token), ("client_id", world.app.id)]
            #expect(try await world.server.post("/oauth/revoke", form: form).status == 200)
            #expect(try await !world.isLive(token))
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(code)")
            #expect(try await webview.isSignedIn())
            world.server.clock.advance(by: .minutes(70))
            let retention = Retention(database: world.server.database)
            while await retention.sweep(at: world.server.clock.now).gone > 0 {}
            #expect(try await world.server.get("/logout", bearer: token).status == 401)
            #expect(try await webview.isSignedIn())
        }
    }

    @Test(
        "What a site got in a web view before its user signed in there by hand ends with the app",
        arguments: Backend.available)
    func own(backend: Backend) async throws {
        try await World.with(backend) { world in
            let told = try await world.notified(at: try CallbackReceiver())
            let phone = try await world.signIn()
            var webview = try await self.webview(of: phone, world)
            let tokens = try await told.site.signIn(in: &webview)
            let page = try await webview.open(world.authorizeAddress(["prompt": "login"]))
            _ = try await webview.submit(page, ["email": World.email, "password": World.password])
            _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            #expect(try await webview.isSignedIn(), "it rests on the user's own sign-in now")
            #expect(try await !world.isLive(try tokens.require("access_token")))
            #expect(try await world.waiting(.notice) == 0)
        }
    }

    @Test(
        "When a thousand newer sign-ins end an app's sign-in, its web view ends, and sites there lose their tokens",
        arguments: Backend.available)
    func bound(backend: Backend) async throws {
        try await World.with(backend) { world in
            let told = try await world.notified(at: try CallbackReceiver())
            let phone = try await world.signIn()
            var webview = try await self.webview(of: phone, world)
            let tokens = try await told.site.signIn(in: &webview)
            world.server.clock.advance(by: .seconds(1))
            let (now, user) = (world.server.clock.now, try #require(Int64(world.user)))
            try await world.server.database.write { db in
                for number in 0..<1500 {
                    try db.execute(
                        """
                        INSERT INTO token_families (id, path, client_id, user_id, scope, signed_in_at, created_at,
                            expires_at)
                        VALUES (\("made-\(number)"), \("made-\(number)"),
                            \(world.app.id), \(user), 'email', \(now), \(now),
                            \(now + .days(1)))
                        """)
                }
            }
            // One sign-in of 256 looks.
            var tries = 0
            while try await world.isLive(try phone.require("access_token")), tries < 4000 {
                world.server.clock.advance(by: .seconds(1))
                _ = try await world.signIn()
                tries += 1
            }
            #expect(try await world.waiting(.notice) == 1)
            #expect(try await !webview.isSignedIn())
            #expect(try await !world.isLive(try tokens.require("access_token")))
            #expect(try await world.refresh(try tokens.require("refresh_token"), as: told.site.actor).status == 400)
        }
    }

    /// A browser with a session that the token of `answer` bought.
    private func webview(of answer: Answer, _ world: World) async throws -> Browser {
        var browser = Browser(world.server)
        _ = try await browser.open("/auth/session/\(try await world.sessionCode(of: answer))")
        return browser
    }
}
