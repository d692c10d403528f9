import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("A browser remembered for a year, and a site whose tokens lived an hour")
struct RememberedSessionTests {
    @Test(
        "A site is told of a remembered session's logout though its tokens expired months ago",
        arguments: Backend.available)
    func logout(backend: Backend) async throws {
        try await story(backend) { world, browser, site in
            _ = try await site.signIn(in: &browser)
            // Each day the page asks again, silently; then the person does not come for months.
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
        "A user who asked to be remembered is, also when a mailed code or a cancelled deletion completes the sign-in",
        arguments: Backend.available)
    func otherWays(backend: Backend) async throws {
        try await World.with(backend) { world in
            // Who proves an address for the first time has no other's password any more.
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
