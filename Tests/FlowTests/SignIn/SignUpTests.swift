import JSON
import Mail
import TestSupport
import Testing

@Suite("A user signs up, and gets nothing before the address is verified")
struct SignUpTests {
    static let email = "grace@example.com"

    @Test(
        "A sign-up is completed by its mailed code in the same browser, and makes no user before",
        arguments: Backend.available)
    func code(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            let asked = try await visitor.signUp(Self.email, name: "Grace 🧵 Hopper")
            #expect(asked.status == 200)
            #expect(try await !visitor.isSignedIn())
            #expect(try await world.signIn(as: Self.email).error == "invalid_grant", "there is no user yet")
            let letter = try await world.server.mail.letter(to: Self.email)
            let done = try await visitor.browser.submit(asked, ["code": try #require(letter.code)])
            #expect(done.status == 303)
            #expect(done.header("location") == "/account")
            #expect(try await visitor.isSignedIn())
            let token = try await world.signIn(scope: "email profile", as: Self.email).require("access_token")
            let me = try await world.server.get("/me", bearer: token)
            #expect(me.json["email_verified"]?.bool == true)
            #expect(me.json["name"]?.string == "Grace 🧵 Hopper")
        }
    }

    @Test(
        "A sign-up's link opened in the same browser changes nothing until its button is pressed",
        arguments: Backend.available)
    func link(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            _ = try await visitor.signUp(Self.email)
            let path = try await link(world)
            let page = try await visitor.browser.open(path)
            #expect(page.status == 200)
            #expect(!page.body.contains("type=\"password\""))
            #expect(try await world.signIn(as: Self.email).error == "invalid_grant", "opening the link makes no user")
            #expect(try await visitor.browser.submit(page).status == 303)
            #expect(try await visitor.isSignedIn())
            #expect(try await visitor.browser.open(path).status == 410, "the link works once")
        }
    }

    @Test(
        "A sign-up's link in another browser asks for a new password, and drops the typed password and name",
        arguments: Backend.available)
    func otherBrowser(backend: Backend) async throws {
        try await World.with(backend) { world in
            var thief = BrowserUser(world)
            let asked = try await thief.signUp(Self.email, password: "chosen by a thief", name: "Not Grace")
            let letter = try await world.server.mail.letter(to: Self.email)
            var owner = BrowserUser(world)
            let page = try await owner.browser.open(try link(letter))
            #expect(page.body.contains("autocomplete=\"new-password\""))
            for weak in ["", "short", "password1", Self.email] {
                let refused = try await owner.browser.submit(page, ["password": weak])
                #expect(refused.status == 400 && refused.body.contains("role=\"alert\""))
            }
            #expect(try await !owner.isSignedIn())
            let done = try await owner.browser.submit(page, ["password": World.password])
            #expect(done.status == 303 && done.header("location") == "/account")
            #expect(try await owner.isSignedIn())
            #expect(try await world.signIn(as: Self.email, password: "chosen by a thief").error == "invalid_grant")
            let token = try await world.signIn(scope: "profile", as: Self.email).require("access_token")
            #expect(try await world.server.get("/me", bearer: token).json["name"] == nil)
            let late = try await thief.browser.submit(asked, ["code": try #require(letter.code)])
            #expect(late.status == 410)
        }
    }

    @Test("The form of a sign-up's link is throttled when it is sent over and over", arguments: Backend.available)
    func hashes(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            for _ in 1...2 { _ = try await visitor.signUp(Self.email) }
            let links = [try await link(world), try await link(world)]
            var reader = BrowserUser(world)
            let pages = [try await reader.browser.open(links[0]), try await reader.browser.open(links[1])]
            #expect(try await reader.browser.submit(pages[0], ["password": World.password]).status == 303)
            var statuses: Set<Int> = []
            for _ in 1...28 {
                statuses.insert(try await reader.browser.submit(pages[1], ["password": World.password]).status)
            }
            #expect(statuses == [409, 429])
        }
    }

    @Test(
        "After strangers used up an address's sign-up mails, its owner can sign up by the last mailed link",
        arguments: Backend.available)
    func flooded(backend: Backend) async throws {
        try await World.with(backend) { world in
            var thief = BrowserUser(world)
            for _ in 1...6 { _ = try await thief.signUp(Self.email, password: "chosen by a thief") }
            var owner = BrowserUser(world)
            #expect(try await owner.signUp(Self.email).status == 200)
            var letters: [MailMessage] = []
            for _ in 1...5 { letters.append(try await world.server.mail.letter(to: Self.email)) }
            let page = try await owner.browser.open(try link(try #require(letters.last)))
            #expect(try await owner.browser.submit(page, ["password": World.password]).status == 303)
            #expect(try await owner.isSignedIn())
        }
    }

    @Test("A sign-up continues to the app that requested it", arguments: Backend.available)
    func onward(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            let asked = try await visitor.signUp(Self.email, continueTo: world.authorizeAddress())
            let letter = try await world.server.mail.letter(to: Self.email)
            let done = try await visitor.browser.submit(asked, ["code": try #require(letter.code)])
            let back = try await visitor.browser.open(try #require(done.header("location")))
            #expect(back.redirected("code") != nil)
            #expect(back.redirected("state") == "xyz")
        }
    }

    @Test(
        "A sign-up with a taken address gets the usual page, and the address's user a mail without a code",
        arguments: Backend.available)
    func taken(backend: Backend) async throws {
        try await World.with(backend) { world in
            var known = BrowserUser(world)
            var unknown = BrowserUser(world)
            let answers = (
                try await known.signUp(World.email, password: "not her password"),
                try await unknown.signUp(Self.email, password: "not her password")
            )
            #expect(answers.0.status == answers.1.status)
            #expect(Set(answers.0.fields.keys) == Set(answers.1.fields.keys))
            let letter = try await world.server.mail.letter(to: World.email)
            #expect(letter.code == nil)
            #expect(letter.link(containing: "/password") != nil)
            #expect(try await known.browser.submit(answers.0, ["code": "000000"]).status == 400)
            #expect(try await world.signIn(as: World.email, password: "not her password").error == "invalid_grant")
        }
    }

    @Test("Of two sign-ups for one address the second to finish is refused", arguments: Backend.available)
    func twice(backend: Backend) async throws {
        try await World.with(backend) { world in
            var first = BrowserUser(world)
            var second = BrowserUser(world)
            let pages = (try await first.signUp(Self.email), try await second.signUp(Self.email))
            let codes = (
                try #require(try await world.server.mail.letter(to: Self.email).code),
                try #require(try await world.server.mail.letter(to: Self.email).code)
            )
            #expect(try await first.browser.submit(pages.0, ["code": codes.0]).status == 303)
            let late = try await second.browser.submit(pages.1, ["code": codes.1])
            #expect(late.status == 409)
            #expect(late.isPage)
            #expect(try await !second.isSignedIn())
        }
    }

    @Test("A refused sign-up says why, keeps the typed address but no password, and sends no mail")
    func refused() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            let refused: [(email: String, password: String, name: String)] = [
                ("no address", World.password, "Grace"), (Self.email, "short", "Grace"), (Self.email, "password1", ""),
                (Self.email, "grace@example.com", ""), (Self.email, String(repeating: "x", count: 129), ""),
                (Self.email, World.password, String(repeating: "🧵", count: 200)),
            ]
            for (email, password, name) in refused {
                let answer = try await visitor.signUp(email, password: password, name: name)
                #expect(answer.status == 400, "\(email) \(name.prefix(10))")
                #expect(answer.body.contains("role=\"alert\""))
                #expect(answer.body.contains("value=\"\(email)\""))
                #expect(!answer.body.contains("value=\"\(password)\"") || password == email)
            }
            #expect(world.server.mail.letters.isEmpty)
        }
    }

    private func link(_ world: World) async throws -> String {
        try link(try await world.server.mail.letter(to: Self.email))
    }

    private func link(_ letter: MailMessage) throws -> String {
        try #require(letter.link(containing: "/signup/confirm/")).replacing("http://spindle.test", with: "")
    }
}
