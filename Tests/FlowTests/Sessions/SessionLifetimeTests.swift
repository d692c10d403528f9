import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("How long sessions live")
struct SessionLifetimeTests {
    @Test("A bought session ends with the logout of the device that bought it", arguments: Backend.available)
    func deviceLogout(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            var webview = try await webview(of: phone, world)
            #expect(try await webview.isSignedIn())
            #expect(try await world.server.get("/logout", bearer: try phone.require("access_token")).status == 200)
            #expect(try await !webview.isSignedIn())
            let asked = try await webview.open(world.authorizeAddress(["prompt": "none"]))
            #expect(asked.redirected("error") == "login_required")
        }
    }

    @Test("A bought session ends with the revocation of the phone's refresh token", arguments: Backend.available)
    func revocation(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            var webview = try await webview(of: phone, world)
            _ = try await world.server.post(
                "/oauth/revoke", ["token": try phone.require("refresh_token"), "client_id": world.app.id])
            #expect(try await !webview.isSignedIn())
        }
    }

    @Test("A bought session ends with a new password and when the user is disabled", arguments: Backend.available)
    func newPassword(backend: Backend) async throws {
        try await World.with(backend) { world in
            var first = try await webview(of: try await world.signIn(), world)
            #expect(try await first.isSignedIn())
            try await world.change("users", world.user, ["password": .string("\(World.password) again")])
            #expect(try await !first.isSignedIn())

            let phone = try await world.signIn(password: "\(World.password) again")
            var second = try await webview(of: phone, world)
            try await world.change("users", world.user, ["disabled": true])
            #expect(try await !second.isSignedIn())
        }
    }

    @Test("A bought session never satisfies prompt=login", arguments: Backend.available)
    func promptLogin(backend: Backend) async throws {
        try await World.with(backend) { world in
            var webview = try await webview(of: try await world.signIn(), world)
            for prompt in ["login", "login select_account", "login consent"] {
                let page = try await webview.open(world.authorizeAddress(["prompt": prompt]))
                #expect(page.status == 200, "\(prompt)")
                #expect(page.body.contains("Password"))
                #expect(page.header("location") == nil)
            }
        }
    }

    @Test("A bought session keeps the phone's sign-in time, so that max_age is right", arguments: Backend.available)
    func signInTime(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            world.server.clock.advance(by: .seconds(600))
            var webview = try await webview(of: phone, world)
            let stale = try await webview.open(world.authorizeAddress(["max_age": "599", "prompt": "none"]))
            #expect(stale.redirected("error") == "login_required")
            let fresh = try await webview.open(world.authorizeAddress(["max_age": "600", "prompt": "none"]))
            #expect(fresh.redirected("code") != nil)
        }
    }

    @Test(
        "Refreshing a token does not make the sign-in time of a session that it buys more recent",
        arguments: Backend.available)
    func refreshed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            world.server.clock.advance(by: .seconds(1000))
            let later = try await world.refresh(try phone.require("refresh_token"))
            var webview = try await webview(of: later, world)
            let asked = try await webview.open(world.authorizeAddress(["max_age": "300", "prompt": "none"]))
            #expect(asked.redirected("error") == "login_required")
        }
    }

    @Test("A session ends after two hours without use", arguments: Backend.available)
    func idle(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            for _ in 1...3 {
                world.server.clock.advance(by: .seconds(7200) - .milliseconds(1))
                #expect(try await browser.isSignedIn())
            }
            world.server.clock.advance(by: .seconds(7200))
            #expect(try await !browser.isSignedIn())
        }
    }

    @Test("A session in steady use ends after seven days, to the millisecond", arguments: Backend.available)
    func longest(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            var webview = try await webview(of: phone, world)
            var browser = Browser(world.server)
            try await browser.signIn()
            var left: Duration = .days(7) - .milliseconds(1)
            while left > .zero {
                let pause = min(left, .minutes(119))
                world.server.clock.advance(by: pause)
                left -= pause
                #expect(try await browser.isSignedIn(), "\(left) before its end")
                #expect(try await webview.isSignedIn(), "\(left) before its end")
            }
            world.server.clock.advance(by: .milliseconds(1))
            #expect(try await !browser.isSignedIn())
            #expect(try await !webview.isSignedIn())
        }
    }

    private func webview(of phone: Answer, _ world: World) async throws -> Browser {
        var webview = Browser(world.server)
        _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phone))")
        return webview
    }

    // MARK: A browser that is remembered

    @Test(
        "A site is told of a remembered session's logout though the site's tokens expired months ago",
        arguments: Backend.available)
    func logout(backend: Backend) async throws {
        try await story(backend) { world, browser, site in
            _ = try await site.signIn(in: &browser)
            // The page asks silently each day; then the user stays away for months.
            for _ in 1...5 {
                world.server.clock.advance(by: .days(1))
                _ = try await site.signIn(in: &browser)
                await sweepAll(world)
            }
            world.server.clock.advance(by: .days(200))
            await sweepAll(world)
            #expect(try await families(world) == 0)
            _ = try await browser.submit(try await browser.open("/logout"))
            #expect(try await world.waiting(.notice) == 1)
            #expect(try await !browser.isSignedIn())
        }
    }

    @Test("A session that has expired leaves no token family, and no notice", arguments: Backend.available)
    func end(backend: Backend) async throws {
        try await story(backend) { world, browser, site in
            _ = try await site.signIn(in: &browser)
            world.server.clock.advance(by: .days(366))
            await sweepAll(world)
            #expect(try await families(world) == 0)
            #expect(try await world.waiting(.notice) == 0)
        }
    }

    @Test(
        "The remember box also counts if a mailed code or a cancelled deletion completes the sign-in",
        arguments: Backend.available)
    func otherWays(backend: Backend) async throws {
        try await World.with(backend) { world in
            // The first proof of an address would remove the password.
            try await world.change("users", world.user, ["email_verified": true])
            func isRemembered(_ answer: Answer) async throws -> Bool {
                let cookie = answer.header("set-cookie") ?? ""
                let rows = try await world.server.database.rows(
                    "SELECT remembered FROM sessions WHERE ended_at IS NULL")
                #expect(rows.count == 1 && cookie.contains("Max-Age"), "\(rows.count) \(answer)")
                return try rows.first?.get("remembered", as: Bool.self) ?? false
            }
            var visitor = BrowserUser(world)
            let fields = ["email": World.email, "password": "not hers", "remember": "1"]
            let refused = try await visitor.browser.submit(try await visitor.browser.open("/login"), fields)
            #expect(refused.body.contains("value=\"1\" checked>"))
            let form = try await visitor.press(refused, action: "/login/code", fields)
            let wrong = try await visitor.browser.submit(form, ["code": "0"])
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            #expect(try await isRemembered(try await visitor.browser.submit(wrong, ["code": code])))
            visitor.browser.forgetSession()
            try await world.server.database.write { db in
                try db.execute("UPDATE sessions SET ended_at = 1")
                try db.execute("UPDATE users SET deletion_due_at = \(world.server.clock.now + .days(3))")
            }
            let right = ["email": World.email, "password": World.password, "remember": "1"]
            let offer = try await visitor.browser.submit(try await visitor.browser.open("/login"), right)
            #expect(try await isRemembered(try await visitor.browser.submit(offer, ["decision": "keep"])))
        }
    }

    /// A site without refresh tokens, whose server is told of logouts, and a browser that is remembered.
    private func story(
        _ backend: Backend, _ tell: (World, inout Browser, Website) async throws -> Void
    ) async throws {
        try await World.with(backend) { world in
            let told = try await world.notified(
                at: try CallbackReceiver(), "/site", ["grant_types": ["authorization_code"]])
            var browser = Browser(world.server)
            let page = try await browser.open("/login")
            let fields = ["email": World.email, "password": World.password, "remember": "1"]
            _ = try await browser.submit(page, fields)
            try await tell(world, &browser, told.site)
        }
    }

    private func sweepAll(_ world: World) async {
        while await Retention(database: world.server.database).sweep(at: world.server.clock.now, batch: 3).gone > 0 {}
    }

    private func families(_ world: World) async throws -> Int {
        try await world.server.database.read { db in try db.rows("SELECT id FROM token_families").count }
    }
}
