import JSON
import TestSupport
import Testing
import Values

@Suite("The page that asks for a mailed code has an address of its own")
struct CodePageTests {
    /// The ways to such a page, by where they start.
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
        "reloading the code page shows it again, also after a wrong code, until the code is used",
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

    @Test("the code page is shown in no other browser, and not after it expired", arguments: Way.allCases)
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

    @Test("an address without a user gets the same page at the same kind of address")
    func unknown() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            let asked = try await Way.signIn.ask(&visitor, "nobody@example.com")
            #expect(asked.status == 200)
            #expect(asked.body.contains("nobody<wbr>@example.com"))
            #expect(try await visitor.browser.open(try #require(asked.formAction)).body == asked.body)
            #expect(world.server.mail.letters.isEmpty)
        }
    }

    @Test("another user who signs in to the same browser does not see the code page")
    func anotherPerson() async throws {
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
