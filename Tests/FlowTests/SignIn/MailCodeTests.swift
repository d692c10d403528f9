import JSON
import Mail
import TestSupport
import Testing

@Suite("A mailed code signs in the reader of the mail, in the browser that asked")
struct MailCodeTests {
    private func ask(_ visitor: inout BrowserUser, _ email: String = World.email, at path: String = "/login")
        async throws -> Answer
    {
        try await visitor.press(try await visitor.browser.open(path), action: "/login/code", ["email": email])
    }

    @Test("a mailed code signs in, verifies the address, and continues the request", arguments: Backend.available)
    func signIn(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            let path = world.authorizeAddress(["scope": "email"])
            let page = try await ask(&visitor, at: path)
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            let spaced = code.prefix(3) + " " + code.suffix(3)
            let done = try await visitor.browser.submit(page, ["code": String(spaced)])
            #expect(done.status == 303)
            let back = try await visitor.browser.open(try #require(done.header("location")))
            #expect(back.redirected("code") != nil)
            let ada = try await world.server.get("/admin/v1/users/\(world.user)", bearer: world.admin)
            #expect(ada.json["email_verified"]?.bool == true)
        }
    }

    @Test("an address without a user gets the same page and no mail")
    func unknown() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            let page = try await ask(&visitor, "nobody@example.com")
            let known = try await ask(&visitor)
            #expect(page.status == known.status)
            #expect(page.body.replacing("nobody", with: "ada").count == known.body.count)
            _ = try await world.server.mail.letter(to: World.email)
            #expect(world.server.mail.letters(to: "nobody@example.com").isEmpty)
            #expect(try await visitor.browser.submit(page, ["code": "123456"]).status == 400)
        }
    }

    @Test("after five wrong codes the right one is refused", arguments: Backend.available)
    func tries(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            let page = try await ask(&visitor)
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            let wrong = code == "000000" ? "000001" : "000000"
            for left in (1...4).reversed() {
                let answer = try await visitor.browser.submit(page, ["code": wrong])
                #expect(answer.status == 400)
                #expect(answer.body.contains("\(left)"))
            }
            #expect(try await visitor.browser.submit(page, ["code": wrong]).status == 410)
            #expect(try await visitor.browser.submit(page, ["code": code]).status == 410)
            #expect(try await !visitor.isSignedIn())
        }
    }

    @Test("parallel guesses at a code get five tries in all", arguments: Backend.available)
    func volley(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            let page = try await ask(&visitor)
            let fixed = visitor
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for guess in 0..<30 {
                    group.addTask {
                        var runner = fixed
                        return try await runner.browser.submit(page, ["code": "\(100_000 + guess)"]).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == 400 }.count <= 4)
        }
    }

    @Test("A mailed code is refused in another browser, and after ten minutes", arguments: Backend.available)
    func bindings(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            let page = try await ask(&visitor)
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            var thief = BrowserUser(world)
            let own = try await thief.browser.open("/login")
            let stolen = try await thief.browser.submit(
                own, ["code": code, "verification": page.fields["verification"] ?? ""], to: "/login/code/check")
            #expect(stolen.status == 404)
            #expect(try await !thief.isSignedIn())
            #expect(try await visitor.browser.submit(page, ["code": code]).status == 303)
            let second = try await ask(&visitor)
            let late = try #require(try await world.server.mail.letter(to: World.email).code)
            world.server.clock.advance(by: .seconds(601))
            #expect(try await visitor.browser.submit(second, ["code": late]).status == 410)
        }
    }

    @Test("a mailbox is not flooded, and its owner can still reset the password")
    func flood() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            for _ in 1...12 { #expect(try await ask(&visitor).status == 200) }
            for _ in 1...5 { _ = try await world.server.mail.letter(to: World.email) }
            #expect(world.server.mail.letters(to: World.email).count == 5)
        }
    }

    @Test(
        "strangers who use up a mailbox's mails leave those of a browser where its owner signed in",
        arguments: Backend.available)
    func knownDevice(backend: Backend) async throws {
        try await World.with(backend) { world in
            var owner = BrowserUser(world)
            let first = try await ask(&owner)
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            #expect(try await owner.browser.submit(first, ["code": code]).status == 303)
            owner.browser.forgetSession()
            var stranger = BrowserUser(world)
            for _ in 1...10 {
                #expect(try await ask(&stranger).status == 200)
                #expect(try await stranger.fill("/password", ["email": World.email]).status == 200)
            }
            for _ in 1...10 { _ = try await world.server.mail.letter(to: World.email) }
            #expect(world.server.mail.letters(to: World.email).count == 11)

            let page = try await ask(&owner)
            let own = try #require(try await world.server.mail.letter(to: World.email).code)
            #expect(try await owner.browser.submit(page, ["code": own]).status == 303)
            #expect(try await owner.fill("/password", ["email": World.email]).status == 200)
            #expect(try await world.server.mail.letter(to: World.email).link(containing: "/password/reset/") != nil)
            // It is a share too, and no more.
            for _ in 1...10 { _ = try await owner.fill("/password", ["email": World.email]) }
            for _ in 1...4 { _ = try await world.server.mail.letter(to: World.email) }
            #expect(world.server.mail.letters(to: World.email).count == 17)
        }
    }

    @Test("an address that nobody verified has no share of mails for a browser", arguments: Backend.available)
    func unverified(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            let signedIn = try await visitor.fill("/login", ["email": World.email, "password": World.password])
            #expect(signedIn.status == 303)
            visitor.browser.forgetSession()
            var stranger = BrowserUser(world)
            for _ in 1...6 { #expect(try await ask(&stranger).status == 200) }
            #expect(try await ask(&visitor).status == 200)
            for _ in 1...5 { _ = try await world.server.mail.letter(to: World.email) }
            #expect(world.server.mail.letters(to: World.email).count == 5)
        }
    }

    @Test("one IP address gets thirty mails at once")
    func origin() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            for number in 1...30 {
                let asked = try await ask(&visitor, "person\(number)@example.com")
                #expect(asked.status == 200)
            }
            let refused = try await ask(&visitor, "person31@example.com")
            #expect(refused.status == 429)
        }
    }
}
