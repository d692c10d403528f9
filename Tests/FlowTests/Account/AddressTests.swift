@testable import Authentication
import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@Suite("Users move to another e-mail address by a code mailed there")
struct AddressTests {
    static let new = "ada.lovelace@example.com"

    private func ask(
        _ visitor: inout BrowserUser, _ email: String = new, password: String = World.password
    ) async throws -> Answer {
        let page = try await visitor.browser.open("/account")
        return try await visitor.browser.submit(
            page, ["email": email, "current_password": password], to: "/account/email")
    }

    @Test(
        "A change of e-mail address needs the password and a code mailed to the new one; the old one is told",
        arguments: Backend.available)
    func change(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            try await visitor.browser.signIn()
            var forgetful = BrowserUser(world)
            _ = try await forgetful.fill("/password", ["email": World.email])
            let reset = try #require(
                try await world.server.mail.letter(to: World.email).link(containing: "/password/reset/"))
            let asked = try await ask(&visitor)
            #expect(asked.status == 200)
            #expect(try await world.signIn(as: Self.new).error == "invalid_grant")
            let code = try #require(try await world.server.mail.letter(to: Self.new).code)
            let done = try await visitor.browser.submit(asked, ["code": code])
            #expect(done.header("location") == "/account?done=email")
            let told = try await world.server.mail.letter(to: World.email)
            #expect(told.text.contains("a…@example.com"))
            #expect(!told.text.contains(Self.new))
            #expect(try await world.signIn(as: World.email).error == "invalid_grant")
            let token = try await world.signIn(scope: "email", as: Self.new).require("access_token")
            #expect(try await world.server.get("/me", bearer: token).json["email_verified"]?.bool == true)
            let path = reset.replacing("http://spindle.test", with: "")
            #expect(try await forgetful.browser.open(path).status == 410, "what was mailed to the old one is void")
        }
    }

    @Test(
        "A user can change to the e-mail address they already have, and the mailed code then verifies it",
        arguments: Backend.available)
    func same(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            try await visitor.browser.signIn()
            let asked = try await ask(&visitor, World.email.uppercased())
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            #expect(try await visitor.browser.submit(asked, ["code": code]).header("location") == "/account?done=email")
            #expect(try await world.user()["email_verified"] == true)
            _ = try await visitor.fill("/password", ["email": World.email])
            let next = try await world.server.mail.letter(to: World.email)
            #expect(next.link(containing: "/password/reset/") != nil, "\(next.text)")
        }
    }

    @Test(
        "Verifying an e-mail address for the first time forgets all known browsers but the current one",
        arguments: Backend.available, [World.email, AddressTests.new])
    func places(backend: Backend, email: String) async throws {
        try await World.with(backend) { world in
            var (visitor, other) = (BrowserUser(world), BrowserUser(world))
            try await visitor.browser.signIn()
            try await other.browser.signIn()
            #expect(try await world.user()["email_verified"] == false)
            #expect(try await world.rows(of: "known_devices", about: world.user) == 3, "two browsers at one address")
            let asked = try await ask(&visitor, email)
            let code = try #require(try await world.server.mail.letter(to: email).code)
            #expect(try await world.rows(of: "known_devices", about: world.user) == 3, "nothing is proved yet")
            #expect(try await visitor.browser.submit(asked, ["code": code]).header("location") == "/account?done=email")
            #expect(try await world.user()["email_verified"] == true)
            #expect(try await world.rows(of: "known_devices", about: world.user) == 2, "this one alone")
        }
    }

    @Test("A wrong password, or text that is no e-mail address, changes no address and sends no mail")
    func refused() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            try await visitor.browser.signIn()
            let wrong = try await ask(&visitor, password: "not the password")
            #expect(wrong.status == 400)
            #expect(wrong.body.contains("role=\"alert\""))
            #expect(try await ask(&visitor, "no address").status == 400)
            #expect(world.server.mail.letters.isEmpty)
            #expect(try await world.user()["email"]?.string == World.email)
        }
    }

    @Test(
        "Only a user who enters the code mailed to an address learns that another user has that address",
        arguments: Backend.available)
    func taken(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person(Self.new)
            var visitor = BrowserUser(world)
            try await visitor.browser.signIn()
            let asked = try await ask(&visitor)
            #expect(asked.status == 200)
            let code = try #require(try await world.server.mail.letter(to: Self.new).code)
            let late = try await visitor.browser.submit(asked, ["code": code])
            #expect(late.status == 409)
            #expect(late.isPage)
            for text in ["<h1>This address is taken</h1>", "ada.lovelace<wbr>@example.com", "href=\"/account\""] {
                #expect(late.body.contains(text), "no \(text)")
            }
            #expect(try await world.signIn(as: World.email).status == 200)
        }
    }

    @Test(
        "After five codes to an address, only a user whose own address is verified can request two more to it",
        arguments: Backend.available)
    func usedUp(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["email_verified": true])
            _ = try await world.person("mallory@example.com")
            var (mallory, ada) = (BrowserUser(world), BrowserUser(world))
            try await mallory.browser.signIn(as: "mallory@example.com")
            try await ada.browser.signIn()
            func codes() async throws -> Int { try await world.count("verifications WHERE code IS NOT NULL") }
            for _ in 1...6 { #expect(try await ask(&mallory).status == 200) }
            #expect(try await codes() == 5)
            for expected in [6, 7, 7] {
                #expect(try await ask(&ada).status == 200)
                #expect(try await codes() == expected)
            }
            #expect(try await ask(&mallory).status == 200)
            #expect(try await codes() == 7, "her own address is not verified")
        }
    }

    @Test(
        "Wrong codes entered for a change to one e-mail address are limited for all users together",
        arguments: Backend.available)
    func guesses(backend: Backend) async throws {
        try await World.with(backend) { world in
            // Ninety-eight wrong codes of other users.
            try await world.wrongGuesses(98, for: Self.new)
            var visitor = BrowserUser(world)
            try await visitor.browser.signIn()
            let asked = try await ask(&visitor)
            let code = try #require(try await world.server.mail.letter(to: Self.new).code)
            let wrong = code == "000 000" ? "111 111" : "000 000"
            for _ in 1...2 {
                #expect(try await visitor.browser.submit(asked, ["code": wrong]).status == 400)
            }
            let late = try await visitor.browser.submit(asked, ["code": code])
            #expect(late.status == 429 && late.isPage, "\(late)")
            world.server.clock.advance(by: .minutes(5))
            #expect(try await visitor.browser.submit(asked, ["code": code]).header("location") == "/account?done=email")
        }
    }

    @Test("A web view session cannot change the user's e-mail address", arguments: Backend.available)
    func bought(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            var webview = BrowserUser(world)
            _ = try await webview.browser.open("/auth/session/\(code)")
            let page = try await webview.browser.open("/login")
            let answer = try await webview.browser.submit(
                page, ["email": Self.new, "current_password": World.password], to: "/account/email")
            #expect(answer.status == 303)
            #expect(answer.header("location")?.hasPrefix("/login") == true)
            #expect(world.server.mail.letters.isEmpty)
        }
    }
}

extension World {
    /// Charges `count` wrong codes that were typed to move to `recipient`.
    fileprivate func wrongGuesses(_ count: Int, for recipient: String) async throws {
        let now = server.clock.now
        try await server.database.write { db in
            for _ in 0..<count { try Throttle.chargeWrongCode(.changeEmail, to: recipient, now, in: db) }
        }
    }
}
