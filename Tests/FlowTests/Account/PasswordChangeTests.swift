import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@Suite("A new password ends what the former one opened")
struct PasswordChangeTests {
    static let new = "a quieter loom at night"

    @Test(
        "A new password ends other sessions, all tokens and mailed reset links, but not the current session",
        arguments: Backend.available)
    func change(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            var elsewhere = try await world.signedIn()
            var stranger = BrowserUser(world)
            _ = try await stranger.fill("/password", ["email": World.email])
            let link = try #require(try await world.server.mail.letter(to: World.email).link(containing: "/reset/"))

            var visitor = try await world.signedIn()
            let answer = try await visitor.change(
                "password", ["current_password": World.password, "new_password": Self.new])
            #expect(answer.header("location") == "/account?done=password")
            #expect(try await visitor.follow(answer).status == 200)
            #expect(try await !elsewhere.isSignedIn())
            #expect(try await !world.isLive(try phone.require("access_token")))
            #expect(try await world.refresh(try phone.require("refresh_token")).error == "invalid_grant")
            #expect(try await world.signIn().error == "invalid_grant")
            #expect(try await world.signIn(password: Self.new).status == 200)
            let told = try await world.server.mail.letter(to: World.email)
            #expect(told.link(containing: "/password") != nil, "the owner is told, and how to get it back")
            let path = link.replacing("http://spindle.test", with: "")
            #expect(try await stranger.browser.open(path).status == 410, "the reset link is void")
        }
    }

    @Test(
        "A new password replaces the session's cookie, so that a copy of the former cookie is void",
        arguments: Backend.available)
    func copied(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            _ = try await visitor.fill(
                "/login", ["email": World.email, "password": World.password, "remember": "1"])
            func sessions() async throws -> [String] {
                try await world.server.database.rows("SELECT id FROM sessions WHERE ended_at IS NULL").map {
                    try $0.get("id")
                }
            }
            var thief = visitor
            let before = try await sessions()
            let answer = try await visitor.change(
                "password", ["current_password": World.password, "new_password": Self.new])
            #expect(answer.header("location") == "/account?done=password")
            #expect(answer.setCookie("spindle_session")?.contains("Max-Age=") == true, "remembered as before")
            #expect(try await !thief.isSignedIn())
            #expect(try await visitor.isSignedIn())
            #expect(try await sessions() == before, "its sid stays")
        }
    }

    @Test("A new password voids authorization codes issued before it", arguments: Backend.available)
    func copiedCode(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            var thief = visitor
            let stolen = try await thief.browser.open(world.authorizeAddress()).requireRedirected("code")
            world.server.clock.advance(by: .seconds(1))
            let answer = try await visitor.change(
                "password", ["current_password": World.password, "new_password": Self.new])
            #expect(answer.header("location") == "/account?done=password")
            #expect(try await world.redeemAuthorization(stolen).error == "invalid_grant")
            world.server.clock.advance(by: .milliseconds(1))
            let own = try await visitor.browser.open(world.authorizeAddress()).requireRedirected("code")
            #expect(try await world.redeemAuthorization(own).status == 200)
        }
    }

    @Test(
        "A password change with a wrong current password, or sent a second time, changes nothing",
        arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            let page = try await visitor.browser.open("/account")
            let wrong = try await visitor.press(
                page, action: "/account/password", ["current_password": "a guess", "new_password": Self.new])
            #expect(wrong.status == 400)
            #expect(wrong.body.contains("role=\"alert\""))
            #expect(!wrong.body.contains(Self.new))
            #expect(try await world.signIn().status == 200)

            let fields = ["current_password": World.password, "new_password": Self.new]
            #expect(try await visitor.press(page, action: "/account/password", fields).status == 303)
            let phone = try await world.signIn(password: Self.new)
            #expect(try await visitor.press(page, action: "/account/password", fields).status == 400)
            #expect(try await world.isLive(try phone.require("access_token")))
            _ = try await world.server.mail.letter(to: World.email)
            #expect(world.server.mail.letters(to: World.email).count == 1)
        }
    }

    @Test(
        "A new password that is commonly guessed, names its user or has a wrong length is refused",
        arguments: [
            "short", "password123", "aaaaaaaaaaaa", "Ada Lovelace", World.email, String(repeating: "å", count: 129),
        ])
    func weak(password: String) async throws {
        try await World.with(.sqlite) { world in
            var visitor = try await world.signedIn()
            let answer = try await visitor.change(
                "password", ["current_password": World.password, "new_password": password])
            #expect(answer.status == 400)
            #expect(answer.body.contains("role=\"alert\""))
            #expect(try await world.signIn().status == 200)
            #expect(world.server.mail.letters.isEmpty)
        }
    }

    @Test(
        "Guesses at the current password on the account page are throttled like sign-ins", arguments: Backend.available)
    func throttled(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            var answer: Answer?
            for _ in 1...12 where answer?.status != 429 {
                answer = try await visitor.change(
                    "password", ["current_password": "a guess", "new_password": Self.new])
            }
            #expect(answer?.status == 429)
            #expect(answer?.header("retry-after") != nil)
            #expect(answer?.isPage == true)
        }
    }

    @Test(
        "A user can change the password twenty times at once, then once in thirty seconds",
        arguments: Backend.available)
    func endless(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            var current = World.password
            for number in 1...20 {
                let changes = ["current_password": current, "new_password": "a quiet loom \(number)"]
                let answer = try await visitor.change("password", changes)
                #expect(answer.header("location") == "/account?done=password", "\(number)")
                current = "a quiet loom \(number)"
            }
            var again = BrowserUser(world)
            try await again.browser.signIn(password: current)
            let changes = ["current_password": current, "new_password": "another quiet loom"]
            #expect(try await again.change("password", changes).status == 429)
            // After a wait it can be changed again.
            world.server.clock.advance(by: .seconds(30))
            #expect(try await again.change("password", changes).header("location") == "/account?done=password")
        }
    }

    @Test("A user without a password can set one soon after a sign-in, and not later", arguments: Backend.available)
    func first(backend: Backend) async throws {
        try await World.with(backend) { world in
            let email = "grace@example.com"
            _ = try await World.make(world.server, world.admin, "users", ["email": .string(email)])
            var visitor = BrowserUser(world)
            let code = try await visitor.press(
                try await visitor.browser.open("/login"), action: "/login/code", ["email": email])
            let letter = try await world.server.mail.letter(to: email)
            let signedIn = try await visitor.browser.submit(code, ["code": try #require(letter.code)])
            #expect(signedIn.status == 303)
            let page = try await visitor.browser.open("/account")
            #expect(!page.body.contains("id=\"current_password\""))

            world.server.clock.advance(by: .minutes(11))
            let late = try await visitor.press(page, action: "/account/password", ["new_password": Self.new])
            #expect(late.status == 303)
            #expect(late.header("location")?.hasPrefix("/login?confirm=1") == true)
            #expect(try await world.signIn(as: email, password: Self.new).error == "invalid_grant")

            var again = BrowserUser(world)
            let form = try await again.press(
                try await again.browser.open("/login"), action: "/login/code", ["email": email])
            let second = try #require(try await world.server.mail.letter(to: email).code)
            _ = try await again.browser.submit(form, ["code": second])
            let done = try await again.change("password", ["new_password": Self.new])
            #expect(done.header("location") == "/account?done=password")
            #expect(try await world.signIn(as: email, password: Self.new).status == 200)
            // From now on a change takes the current password.
            let fresh = try await again.change("password", ["new_password": "another quiet loom"])
            #expect(fresh.status == 400)
        }
    }
}
