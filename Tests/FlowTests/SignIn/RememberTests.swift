import JSON
import TestSupport
import Testing
import Values

@Suite("Browsers are remembered on request, and known browsers are not throttled with others")
struct RememberTests {
    private func signIn(_ visitor: inout BrowserUser, remember: Bool, password: String = World.password)
        async throws -> Answer
    {
        var fields = ["email": World.email, "password": password]
        if remember { fields["remember"] = "1" }
        return try await visitor.fill("/login", fields)
    }

    @Test("A remembered session and its cookie last a year, whether used or not", arguments: Backend.available)
    func remembered(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            let answer = try await signIn(&visitor, remember: true)
            #expect(answer.setCookie("spindle_session")?.contains("Max-Age=31536000") == true)
            world.server.clock.advance(by: .days(200))
            #expect(try await visitor.isSignedIn())
            world.server.clock.advance(by: .days(164))
            #expect(try await visitor.isSignedIn())
            world.server.clock.advance(by: .days(1))
            #expect(try await !visitor.isSignedIn())
        }
    }

    @Test(
        "A session that is not remembered ends after two hours without use, and its cookie with the browser",
        arguments: Backend.available)
    func forgotten(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            let answer = try await signIn(&visitor, remember: false)
            #expect(answer.setCookie("spindle_session")?.contains("Max-Age") == false)
            world.server.clock.advance(by: .hours(2))
            #expect(try await !visitor.isSignedIn())
        }
    }

    @Test("A new password and a sign-out end a remembered session too", arguments: Backend.available)
    func ended(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            _ = try await signIn(&visitor, remember: true)
            try await world.change("users", world.user, ["password": "another quiet loom"])
            #expect(try await !visitor.isSignedIn())
            _ = try await signIn(&visitor, remember: true, password: "another quiet loom")
            let cookies = visitor.browser.cookies
            let page = try await visitor.browser.open("/login")
            _ = try await visitor.browser.submit(page)
            #expect(try await world.server.get("/login", cookies: cookies).body.contains("type=\"password\""))
        }
    }

    @Test(
        "A remembered session keeps its sign-in time, so that max_age asks for a new sign-in",
        arguments: Backend.available)
    func honest(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            _ = try await signIn(&visitor, remember: true)
            world.server.clock.advance(by: .days(10))
            #expect(try await visitor.browser.open(world.authorizeAddress()).redirected("code") != nil)
            let old = try await visitor.browser.open(world.authorizeAddress(["max_age": "3600"]))
            #expect(old.status == 200)
            #expect(old.body.contains("type=\"password\""))
        }
    }

    @Test("A new sign-in replaces the session's cookie, and the former one is void", arguments: Backend.available)
    func rotated(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            _ = try await signIn(&visitor, remember: false)
            let before = visitor.browser.cookies
            let page = try await visitor.browser.open("/login?continue=%2Faccount&confirm=1")
            _ = try await visitor.browser.submit(page, ["email": World.email, "password": World.password])
            #expect(visitor.browser.session != before["spindle_session"])
            #expect(try await world.server.get("/login", cookies: before).body.contains("type=\"password\""))
        }
    }

    @Test(
        "A remembered user who confirms the sign-in stays remembered; another who signs in there is not",
        arguments: Backend.available)
    func confirmed(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["email_verified": true])
            _ = try await world.person("grace@example.com")
            var visitor = BrowserUser(world)
            _ = try await signIn(&visitor, remember: true)
            let confirmation = "/login?confirm=1&continue=%2Faccount"
            let byPassword = try await visitor.fill(
                confirmation, ["email": World.email, "password": World.password])
            #expect(byPassword.setCookie("spindle_session")?.contains("Max-Age=31536000") == true)
            world.server.clock.advance(by: .hours(3))
            #expect(try await visitor.isSignedIn())
            let form = try await visitor.press(
                try await visitor.browser.open(confirmation), action: "/login/code", ["email": World.email])
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            let byCode = try await visitor.browser.submit(form, ["code": code])
            #expect(byCode.setCookie("spindle_session")?.contains("Max-Age=31536000") == true)
            world.server.clock.advance(by: .hours(3))
            #expect(try await visitor.isSignedIn())

            let login = try await visitor.browser.open("/login?continue=%2Faccount")
            let other = try await visitor.browser.submit(
                login, ["email": "grace@example.com", "password": World.password])
            #expect(other.setCookie("spindle_session")?.contains("Max-Age") == false)
            world.server.clock.advance(by: .hours(2))
            #expect(try await !visitor.isSignedIn())
        }
    }

    @Test(
        "A remembered user who leaves the remember box unticked at a new sign-in is no longer remembered",
        arguments: Backend.available, [false, true])
    func unticked(backend: Backend, byCode: Bool) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["email_verified": true])
            var visitor = BrowserUser(world)
            func again(_ page: Answer, in visitor: inout BrowserUser) async throws -> Answer {
                let fields = ["email": World.email, "password": World.password]
                guard byCode else { return try await visitor.browser.submit(page, fields) }
                let form = try await visitor.press(page, action: "/login/code", fields)
                let code = try #require(try await world.server.mail.letter(to: World.email).code)
                return try await visitor.browser.submit(form, ["code": code])
            }
            let first = try await signIn(&visitor, remember: true)
            #expect(first.setCookie("spindle_session")?.contains("Max-Age=31536000") == true)
            // A confirmation page has no box.
            let confirmation = try await visitor.browser.open("/login?confirm=1&continue=%2Faccount")
            #expect(confirmation.status == 200 && !confirmation.body.contains("name=\"remember\""))
            let confirmed = try await again(confirmation, in: &visitor)
            #expect(confirmed.setCookie("spindle_session")?.contains("Max-Age=31536000") == true)
            let page = try await visitor.browser.open(world.authorizeAddress(["prompt": "login"]))
            #expect(page.body.contains("name=\"remember\" value=\"1\">"), "unticked: \(page)")
            let unticked = try await again(page, in: &visitor)
            #expect(unticked.status == 303)
            #expect(unticked.setCookie("spindle_session")?.contains("Max-Age") == false)
            #expect(try await visitor.isSignedIn())
            world.server.clock.advance(by: .hours(2))
            #expect(try await !visitor.isSignedIn())
        }
    }

    @Test(
        "Password guesses from the user's own IP address do not throttle the user's known browser",
        arguments: Backend.available)
    func knownDevice(backend: Backend) async throws {
        try await World.with(backend) { world in
            var owner = BrowserUser(world)
            _ = try await signIn(&owner, remember: false)
            owner.browser.forgetSession()
            for _ in 1...15 {
                var thief = BrowserUser(world)
                _ = try await signIn(&thief, remember: false, password: "a guess at it")
            }
            var stranger = BrowserUser(world)
            #expect(try await signIn(&stranger, remember: false).status == 429)
            #expect(try await signIn(&owner, remember: false).status == 303)
        }
    }

    @Test("An invented device cookie does not bypass the throttle of password guesses")
    func forgedDevice() async throws {
        try await World.with(.sqlite) { world in
            for _ in 1...15 { _ = try await world.signIn(password: "a guess at it") }
            let page = try await world.server.get("/login")
            let cookie = page.cookie("spindle_form") ?? ""
            let answer = try await world.server.post(
                "/login",
                ["form_token": page.fields["form_token"] ?? "", "email": World.email, "password": World.password],
                cookies: ["spindle_form": cookie, "spindle_device": String(repeating: "A", count: 43)])
            #expect(answer.status == 429)
        }
    }
}
