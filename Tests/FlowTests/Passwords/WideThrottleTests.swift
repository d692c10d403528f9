import JSON
import Mail
import TestSupport
import Testing
import Values

@Suite("Guesses from many addresses are throttled together")
struct WideThrottleTests {
    private static let settings = ["trusted_proxies": "127.0.0.0/8"]

    /// An address in the /64 of that number within a /48.
    private static func host(_ number: Int, in site: String = "2001:db8:48") -> String {
        "\(site):\(String(number, radix: 16))::1"
    }

    private func guess(_ world: World, at name: String = World.email, from address: String) async throws -> Int {
        try await world.signIn(as: name, password: "a guess", from: address).status
    }

    @Test("an IPv6 /48 has thirty guesses at one user's password, not ten for each /64", arguments: Backend.available)
    func pair(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            // Ada signed in from there before; Bob never.
            #expect(try await world.signIn(from: Self.host(1)).status == 200)
            let bob = "bob@example.com"
            _ = try await world.person(bob)
            for name in [World.email, bob] {
                var answered = 0
                for number in 0x100..<0x140 where try await guess(world, at: name, from: Self.host(number)) == 400 {
                    answered += 1
                }
                #expect(answered == 30, "\(name): then it is under attack, and of twelve for a /48 nothing is left")
                #expect(try await guess(world, at: name, from: Self.host(0x200)) == 429)
                let isHome = try await world.signIn(as: name, from: Self.host(1)).status == 200
                #expect(isHome == (name == World.email), "only its owner's own /64")
                #expect(try await world.signIn(as: name, from: Self.host(1, in: "2001:db8:49")).status == 200)
            }
        }
    }

    @Test("an IPv6 /48 cannot try one password on every user", arguments: Backend.available)
    func spraying(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            #expect(try await world.signIn(from: Self.host(1)).status == 200)
            for number in 1...240 {
                let status = try await guess(world, at: "user\(number)@example.com", from: Self.host(number % 40))
                #expect(status == 400, "\(number)")
            }
            #expect(try await guess(world, at: "user241@example.com", from: Self.host(0x99)) == 429)
            #expect(try await guess(world, at: "user241@example.com", from: Self.host(1, in: "2001:db8:49")) == 400)
            #expect(try await world.signIn(from: Self.host(1)).status == 200, "its owner, at home")
        }
    }

    @Test(
        "guesses at one user from many IP addresses are throttled after a hundred", arguments: Backend.available)
    func everywhere(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let home = "198.51.100.7"
            // Else the code, as the first word of who reads the address, would end the password.
            try await world.change("users", world.user, ["email_verified": true])
            #expect(try await world.signIn(from: home).status == 200)
            var known = Browser(world.server)
            _ = try await known.signIn()
            for number in 1...100 { #expect(try await guess(world, from: "203.0.113.\(number)") == 400) }
            for number in 101...110 { #expect(try await guess(world, from: "203.0.113.\(number)") == 429) }
            // The right password, at a place where its owner never was.
            let road = try await world.signIn(from: "192.0.2.1")
            #expect(road.status == 429 && road.header("retry-after") == "300", "\(road)")
            #expect(try await world.signIn(from: home).status == 200, "at home")
            let page = try await known.open("/login?confirm=1")
            let fields = ["email": World.email, "password": World.password]
            let elsewhere = try await known.submit(page, fields, headers: ["X-Forwarded-For": "192.0.2.2"])
            #expect(elsewhere.status == 303, "in the browser that is known, wherever it is")
            // On the road there is the mail; and then it is a known place.
            var road2 = BrowserUser(world)
            let from = ["X-Forwarded-For": "192.0.2.3"]
            let asked = try await road2.browser.submit(
                try await road2.browser.open("/login"), ["email": World.email], to: "/login/code", headers: from)
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            #expect(try await road2.browser.submit(asked, ["code": code], headers: from).status == 303)
            #expect(try await world.signIn(from: "192.0.2.3").status == 200)
            world.server.clock.advance(by: .minutes(5))
            #expect(try await world.signIn(from: "192.0.2.1").status == 200)
        }
    }

    @Test(
        "a user's mailed codes can be guessed fifteen times in all, not five times for each browser",
        arguments: Backend.available)
    func codes(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            try await world.change("users", world.user, ["email_verified": true])
            var owner = try await world.signedIn()
            owner.browser.forgetSession()
            for number in 1...3 {
                var thief = BrowserUser(world)
                let (page, code) = try await ask(&thief, from: "203.0.113.\(number)", world)
                let wrong = code == "000000" ? "000001" : "000000"
                for _ in 1...5 {
                    let answer = try await thief.browser.submit(
                        page, ["code": wrong], headers: ["X-Forwarded-For": "203.0.113.\(number)"])
                    #expect(answer.status == 400 || answer.status == 410)
                }
            }
            var thief = BrowserUser(world)
            let (page, code) = try await ask(&thief, from: "203.0.113.4", world)
            for guess in ["000000", code] {
                let answer = try await thief.browser.submit(
                    page, ["code": guess], headers: ["X-Forwarded-For": "203.0.113.4"])
                #expect(answer.status == 429 && answer.header("retry-after") == "1800", "\(answer)")
            }
            #expect(thief.browser.session == nil)
            // The owner, in a browser in which they signed in before, is not kept out, nor charged.
            let (own, right) = try await ask(&owner, from: "192.0.2.9", world)
            let from = ["X-Forwarded-For": "192.0.2.9"]
            let slip = right == "000000" ? "000001" : "000000"
            #expect(try await owner.browser.submit(own, ["code": slip], headers: from).status == 400)
            #expect(try await owner.browser.submit(own, ["code": right], headers: from).status == 303)
            #expect(try await owner.isSignedIn())
        }
    }

    @Test(
        "whoever made an account with an address that they do not read can guess its mailed codes without end",
        arguments: Backend.available)
    func unread(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let place = "203.0.113.1"
            let from = ["X-Forwarded-For": place]
            // Nobody has shown to read the mail.
            var maker = BrowserUser(world)
            let password = ["email": World.email, "password": World.password]
            let page = try await maker.browser.open("/login")
            #expect(try await maker.browser.submit(page, password, headers: from).status == 303)
            maker.browser.forgetSession()
            for _ in 1...3 {
                let (page, code) = try await ask(&maker, from: place, world)
                for _ in 1...5 {
                    let wrong = code == "000000" ? "000001" : "000000"
                    let answer = try await maker.browser.submit(page, ["code": wrong], headers: from)
                    #expect(answer.status == 400 || answer.status == 410)
                }
            }
            let (last, code) = try await ask(&maker, from: place, world)
            #expect(try await maker.browser.submit(last, ["code": code], headers: from).status == 429)
        }
    }

    @Test("an IPv6 /48 can request 120 mails, not thirty for each /64", arguments: Backend.available)
    func mails(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            var browser = Browser(world.server)
            let token = try await browser.open("/login").fields["form_token"] ?? ""
            let form = Form(world: world, token: token, cookies: browser.cookies)
            for number in 1...120 { #expect(try await form.ask(number, from: Self.host(number)) == 303) }
            #expect(try await form.ask(121, from: Self.host(0x999)) == 429)
            #expect(try await form.ask(121, from: Self.host(1, in: "2001:db8:49")) == 303)
            world.server.clock.advance(by: .seconds(30))
            #expect(try await form.ask(122, from: Self.host(0x999)) == 303)
        }
    }

    /// What asks for codes.
    private struct Form {
        let world: World
        let token: String
        let cookies: [String: String]

        func ask(_ number: Int, from address: String) async throws -> Int {
            try await world.server.post(
                "/login/code", form: [("form_token", token), ("email", "user\(number)@example.com")],
                cookies: cookies, headers: ["X-Forwarded-For": address]
            ).status
        }
    }

    private func ask(
        _ visitor: inout BrowserUser, from address: String, _ world: World
    ) async throws -> (page: Answer, code: String) {
        let page = try await visitor.browser.submit(
            try await visitor.browser.open("/login"), ["email": World.email], to: "/login/code",
            headers: ["X-Forwarded-For": address])
        return (page, try #require(try await world.server.mail.letter(to: World.email).code))
    }
}
