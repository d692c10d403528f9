import JSON
import Mail
import TestSupport
import Testing
import Values

@Suite("A mailed code signs in the reader of the mail, in the browser that requested it")
struct MailCodeTests {
    private func ask(_ visitor: inout BrowserUser, _ email: String = World.email, at path: String = "/login")
        async throws -> Answer
    {
        try await visitor.press(try await visitor.browser.open(path), action: "/login/code", ["email": email])
    }

    @Test(
        "A mailed code signs the user in, verifies the address, and continues the authorization request",
        arguments: Backend.available)
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

    @Test("A request for a mailed code for an address without a user gets the same page and no mail")
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

    @Test("A mailed code is refused after five wrong ones", arguments: Backend.available)
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

    @Test("Parallel guesses at a mailed code have five tries in all", arguments: Backend.available)
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

    @Test("A mailbox gets at most five mailed codes at once", .timeLimit(.minutes(3)))
    func flood() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            for _ in 1...12 { #expect(try await ask(&visitor).status == 200) }
            try await world.allMailsSent()
            #expect(world.server.mail.letters(to: World.email).count == 5)
        }
    }

    @Test(
        "After strangers used up a mailbox's mails, its user's known browser still gets five of each kind",
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
            // This share is limited too.
            for _ in 1...10 { _ = try await owner.fill("/password", ["email": World.email]) }
            for _ in 1...4 { _ = try await world.server.mail.letter(to: World.email) }
            #expect(world.server.mail.letters(to: World.email).count == 17)
        }
    }

    @Test("A known browser of a user with an unverified address gets no extra mails", arguments: Backend.available)
    func unverified(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            let signedIn = try await visitor.fill("/login", ["email": World.email, "password": World.password])
            #expect(signedIn.status == 303)
            visitor.browser.forgetSession()
            var stranger = BrowserUser(world)
            for _ in 1...6 { #expect(try await ask(&stranger).status == 200) }
            #expect(try await ask(&visitor).status == 200)
            try await world.allMailsSent()
            #expect(world.server.mail.letters(to: World.email).count == 5)
        }
    }

    @Test("One IP address may request thirty mailed codes for sign-in at once, and then gets 429")
    func origin() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            for number in 1...30 {
                let asked = try await ask(&visitor, "user\(number)@example.com")
                #expect(asked.status == 200)
            }
            let refused = try await ask(&visitor, "user31@example.com")
            #expect(refused.status == 429)
        }
    }

    /// The ways to a code page, by where they start.
    enum Way: String, CaseIterable, Sendable {
        case signIn = "/login"
        case signUp = "/signup"
        case verify = "/verify"
        case change = "/account"

        func ask(_ visitor: inout BrowserUser, _ email: String) async throws -> Answer {
            if self == .verify || self == .change { try await visitor.browser.signIn() }
            let page = try await visitor.browser.open(rawValue)
            return switch self {
            case .signIn: try await visitor.press(page, action: "/login/code", ["email": email])
            case .signUp: try await visitor.browser.submit(page, ["email": email, "password": World.password])
            case .verify: try await visitor.browser.submit(page)
            case .change:
                try await visitor.press(
                    page, action: "/account/email", ["email": email, "current_password": World.password])
            }
        }

        var recipient: String { self == .signIn || self == .verify ? World.email : "new@example.com" }
        var path: String {
            self == .change ? "/account/email/check" : rawValue == "/login" ? "/login/code/check" : rawValue + "/check"
        }
    }

    @Test(
        "The page for a mailed code can be reloaded, also after a wrong code, until the code is used",
        arguments: Way.allCases)
    func again(way: Way) async throws {
        for backend in Backend.available {
            try await World.with(backend) { world in
                var visitor = BrowserUser(world)
                let asked = try await way.ask(&visitor, way.recipient)
                #expect(asked.status == 200)
                let address = try #require(asked.formAction)
                #expect(address.hasPrefix("\(way.path)?verification="))
                #expect(try await visitor.browser.open(address).body == asked.body)
                let code = try #require(try await world.server.mail.letter(to: way.recipient).code)
                let wrong = try await visitor.browser.submit(asked, ["code": code == "000000" ? "000001" : "000000"])
                #expect(wrong.status == 400)
                #expect(wrong.formAction == address)
                let again = try await visitor.browser.open(address)
                #expect(again.body == asked.body)
                #expect(try await visitor.browser.submit(again, ["code": code]).status == 303)
                let after = try await visitor.browser.open(address)
                #expect(after.status == 303)
                #expect(after.header("location") == way.rawValue)
            }
        }
    }

    @Test(
        "The page for a mailed code is shown in no other browser, and not once it has expired",
        arguments: Way.allCases)
    func others(way: Way) async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            let address = try #require(try await way.ask(&visitor, way.recipient).formAction)
            var thief = BrowserUser(world)
            if way == .verify || way == .change { try await thief.browser.signIn() }
            #expect(try await thief.browser.open(address).header("location") == way.rawValue)
            world.server.clock.advance(by: .minutes(30))
            #expect(try await visitor.browser.open(address).header("location") == way.rawValue)
        }
    }

    @Test("The page for a mailed code can be reloaded for an address without a user as well")
    func unknownAddress() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            let asked = try await Way.signIn.ask(&visitor, "nobody@example.com")
            #expect(asked.status == 200)
            #expect(asked.body.contains("nobody<wbr>@example.com"))
            #expect(try await visitor.browser.open(try #require(asked.formAction)).body == asked.body)
            #expect(world.server.mail.letters.isEmpty)
        }
    }

    @Test("The page for a mailed code is not shown to another user who signs in in the same browser")
    func anotherUser() async throws {
        try await World.with(.sqlite) { world in
            _ = try await world.person("eve@example.com")
            for way in [Way.verify, .change] {
                var visitor = BrowserUser(world)
                let address = try #require(try await way.ask(&visitor, way.recipient).formAction)
                visitor.browser.forgetSession()
                #expect(try await visitor.browser.open(address).status == 303)
                try await visitor.browser.signIn(as: "eve@example.com")
                #expect(try await visitor.browser.open(address).header("location") == way.rawValue)
            }
        }
    }
}
