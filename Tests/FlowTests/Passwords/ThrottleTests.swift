import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@testable import Authentication

@Suite("Password guesses are throttled, and the user is not locked out")
struct ThrottleTests {
    /// The tests' own address is a proxy, so that requests come from wherever they say.
    private static let settings = ["trusted_proxies": "127.0.0.0/8"]
    private static let home = "198.51.100.7"

    @Test(
        "An IP address has ten password guesses at one user, then one in thirty seconds",
        arguments: Backend.available)
    func pair(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            for _ in 1...10 { #expect(try await guess(world, from: Self.home).status == 400) }
            let refused = try await guess(world, from: Self.home)
            try await expect(429, "too_many_requests", refused)
            #expect(refused.header("retry-after") == "30")
            // Hammering does not prolong it.
            for _ in 1...20 { #expect(try await guess(world, from: Self.home).status == 429) }
            world.server.clock.advance(by: .seconds(29))
            #expect(try await guess(world, from: Self.home).header("retry-after") == "1")
            world.server.clock.advance(by: .seconds(1))
            #expect(try await world.signIn(from: Self.home).status == 200)
            // The right password forgets the failures.
            for _ in 1...10 { #expect(try await guess(world, from: Self.home).status == 400) }
        }
    }

    @Test(
        "A throttled user waits no longer than usual when the clock is set back two days",
        arguments: Backend.available)
    func clockSetBack(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            #expect(try await world.signIn(from: Self.home).status == 200)
            let elsewhere = "203.0.113.9"
            for place in [Self.home, elsewhere] {
                for _ in 1...11 { _ = try await guess(world, from: place) }
            }
            world.server.clock.advance(by: .days(-2))
            // Every guess is spent: an attacker gains nothing, and has to wait for the slowest bucket.
            for (place, wait) in [(Self.home, "30"), (elsewhere, "1800"), (Self.home, "30"), (elsewhere, "1800")] {
                let refused = try await guess(world, from: place)
                #expect(refused.status == 429 && refused.header("retry-after") == wait, "\(refused)")
            }
            world.server.clock.advance(by: .seconds(30))
            #expect(try await world.signIn(from: Self.home).status == 200)
            world.server.clock.advance(by: .seconds(1770))
            #expect(try await world.signIn(from: elsewhere).status == 200)
        }
    }

    @Test("Clocks that differ by a minute between nodes give no more password guesses", arguments: Backend.available)
    func skew(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            for _ in 1...10 { _ = try await guess(world, from: Self.home) }
            for seconds in [-65, 65, -65, 65] {
                world.server.clock.advance(by: .seconds(seconds))
                let refused = try await guess(world, from: Self.home)
                #expect(refused.status == 429, "\(refused)")
            }
        }
    }

    @Test(
        "A password throttle does not affect another IP address, another user or other grants",
        arguments: Backend.available)
    func others(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            _ = try await world.person("bob@example.com")
            for _ in 1...11 { _ = try await guess(world, from: "203.0.113.9") }
            #expect(try await world.signIn(from: "203.0.113.9").status == 429)
            #expect(try await world.signIn(from: Self.home).status == 200)
            #expect(try await world.signIn(as: "bob@example.com", from: "203.0.113.9").status == 200)
            let token = try await world.token(
                ["grant_type": "client_credentials"], as: world.backend, headers: ["X-Forwarded-For": "203.0.113.9"])
            #expect(token.status == 200)
        }
    }

    @Test(
        "An IP address has sixty password guesses at different users, then one in five seconds",
        arguments: Backend.available)
    func spraying(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            for number in 1...60 {
                #expect(try await guess(world, at: "user\(number)@example.com", from: "203.0.113.9").status == 400)
            }
            let refused = try await guess(world, at: "user61@example.com", from: "203.0.113.9")
            #expect(refused.status == 429)
            #expect(refused.header("retry-after") == "5")
        }
    }

    @Test("Wrong passwords that a backend sends on do not keep other users from signing in through it")
    func backend() async throws {
        try await World.with(.sqlite, settings: Self.settings) { world in
            let backend = try await world.confidential(["grant_types": ["password"]])
            for number in 1...70 {
                let guessed = try await world.signIn(
                    with: backend, as: "user\(number)@example.com", password: "a guess", from: "203.0.113.9")
                #expect(guessed.status == 400, "\(number)")
            }
            #expect(try await guess(world, at: "user71@example.com", from: "203.0.113.9").status == 429)
            #expect(try await world.signIn(with: backend, from: "203.0.113.9").status == 200)
        }
    }

    @Test(
        "An IP address that guesses slowly does not use up a user's attempts at other IP addresses",
        arguments: Backend.available)
    func slow(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            var tried = 0
            for _ in 1...240 {
                if try await guess(world, from: "203.0.113.9").status == 400 { tried += 1 }
                world.server.clock.advance(by: .seconds(30))
            }
            #expect((30...35).contains(tried), "\(tried)")
            #expect(try await world.signIn(from: "203.0.113.10").status == 200)
        }
    }

    @Test(
        "Guesses at a user through a backend or app where that user has signed in are limited to about 100",
        arguments: [["https://loom.example/in"], ["spid-loom://login"]] as [JSON])
    func knownBackend(addresses: JSON) async throws {
        try await World.with(.sqlite, settings: Self.settings) { world in
            let backend = try await world.confidential(["grant_types": ["password"], "redirect_uris": addresses])
            #expect(try await world.signIn(with: backend, from: "203.0.113.9").status == 200)
            var tried = 0
            for _ in 1...150 {
                world.server.clock.advance(by: .seconds(30))
                let guessed = try await world.signIn(with: backend, password: "a guess", from: "203.0.113.9")
                if guessed.status == 400 { tried += 1 }
            }
            #expect((100...116).contains(tried))
        }
    }

    @Test("Guesses through one merchant's backend do not throttle a user's sign-in through another merchant's")
    func anotherBackend() async throws {
        try await World.with(.sqlite, settings: Self.settings) { world in
            let ours = try await world.confidential(["grant_types": ["password"]])
            let theirs = try await world.confidential(["grant_types": ["password"]], of: world.rival)
            #expect(try await world.signIn(with: theirs, from: Self.home).status == 200)
            for number in 1...11 {
                #expect(try await world.signIn(with: ours, from: "203.0.113.\(number)").status == 200)
            }
            for number in 1...10 {
                for _ in 1...10 {
                    let guessed = try await world.signIn(
                        with: ours, password: "a guess", from: "203.0.113.\(number)")
                    #expect(guessed.status == 400)
                }
            }
            #expect(try await world.signIn(with: ours, from: "203.0.113.11").status == 429)
            #expect(try await world.signIn(with: theirs, from: Self.home).status == 200)
        }
    }

    @Test(
        "After forty guesses from many IP addresses a new one gets three, and the user still signs in from a new one",
        arguments: Backend.available)
    func distributed(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            #expect(try await world.signIn(from: Self.home).status == 200)
            for number in 1...40 { _ = try await guess(world, from: "203.0.113.\(number)") }
            // A new address gets three guesses now, not ten.
            var answered = 0
            for _ in 1...10 where try await guess(world, from: "192.0.2.66").status == 400 { answered += 1 }
            #expect(answered == 3)
            #expect(try await world.signIn(from: Self.home).status == 200)
            #expect(try await world.signIn(from: "192.0.2.1").status == 200)
        }
    }

    @Test("A throttle refund gives back only guesses that were charged", arguments: Backend.available)
    func refund(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            for number in 1...40 { _ = try await guess(world, from: "203.0.113.\(number)") }
            let now = world.server.clock.now
            try await world.server.database.write { db in
                let outcomes = try (1...5).map { number in
                    let attempt = Throttle.Attempt(user: World.email, address: "192.0.2.\(number)", known: nil)
                    return try Throttle.charge(attempt, at: now, in: db)
                }
                for case .charged(let charge) in outcomes { try Throttle.refund(charge, succeeded: false, in: db) }
            }
            var answered = 0
            for _ in 1...10 where try await guess(world, from: "192.0.2.66").status == 400 { answered += 1 }
            #expect(answered == 3)
        }
    }

    @Test(
        "Guesses on the login page and at the token endpoint count against one throttle",
        arguments: Backend.available)
    func page(backend: Backend) async throws {
        try await World.with(backend) { world in
            for _ in 1...10 { _ = try await world.signIn(password: "a guess") }
            var browser = Browser(world.server)
            let page = try await browser.open("/login")
            let refused = try await browser.submit(page, ["email": World.email, "password": World.password])
            #expect(refused.status == 429)
            #expect(refused.header("retry-after") == "30")
            #expect(refused.body.contains("30 seconds"))
            #expect(browser.session == nil)
        }
    }

    @Test(
        "Parallel password guesses from one IP address get no more answers than the ten allowed",
        arguments: Backend.available)
    func volley(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let answers = try await race(30) { try await guess(world, from: Self.home) }
            #expect(answers.filter { $0.status == 400 }.count <= 10)
        }
    }

    @Test("An X-Forwarded-For header from a peer that is no trusted proxy is ignored", arguments: Backend.available)
    func forgedHeader(backend: Backend) async throws {
        try await World.with(backend) { world in
            for number in 1...10 { _ = try await guess(world, from: "203.0.113.\(number)") }
            #expect(try await guess(world, from: "203.0.113.11").status == 429)
        }
    }

    private func guess(_ world: World, at name: String = World.email, from address: String) async throws -> Answer {
        try await world.signIn(as: name, password: "a guess", from: address)
    }

    /// An address in the /64 of that number within a /48.
    private static func host(_ number: Int, in site: String = "2001:db8:48") -> String {
        "\(site):\(String(number, radix: 16))::1"
    }

    private func guessStatus(_ world: World, at name: String = World.email, from address: String) async throws -> Int {
        try await world.signIn(as: name, password: "a guess", from: address).status
    }

    @Test("An IPv6 /48 has thirty guesses at one user's password, not ten for each /64", arguments: Backend.available)
    func widePair(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            // Ada signed in from there before; Bob never.
            #expect(try await world.signIn(from: Self.host(1)).status == 200)
            let bob = "bob@example.com"
            _ = try await world.person(bob)
            for name in [World.email, bob] {
                var answered = 0
                for number in 0x100..<0x140 where try await guessStatus(world, at: name, from: Self.host(number)) == 400
                {
                    answered += 1
                }
                #expect(answered == 30, "\(name): then it is under attack, and of twelve for a /48 nothing is left")
                #expect(try await guessStatus(world, at: name, from: Self.host(0x200)) == 429)
                let isHome = try await world.signIn(as: name, from: Self.host(1)).status == 200
                #expect(isHome == (name == World.email), "only its owner's own /64")
                #expect(try await world.signIn(as: name, from: Self.host(1, in: "2001:db8:49")).status == 200)
            }
        }
    }

    @Test(
        "An IPv6 /48 has 240 password guesses at different users, not sixty for each /64",
        arguments: Backend.available)
    func wideSpraying(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            #expect(try await world.signIn(from: Self.host(1)).status == 200)
            for number in 1...240 {
                let status = try await guessStatus(world, at: "user\(number)@example.com", from: Self.host(number % 40))
                #expect(status == 400, "\(number)")
            }
            #expect(try await guessStatus(world, at: "user241@example.com", from: Self.host(0x99)) == 429)
            #expect(
                try await guessStatus(world, at: "user241@example.com", from: Self.host(1, in: "2001:db8:49")) == 400)
            #expect(try await world.signIn(from: Self.host(1)).status == 200, "its owner, at home")
        }
    }

    @Test(
        "After a hundred guesses from many IP addresses, even the right password is refused from a new one",
        arguments: Backend.available)
    func everywhere(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let home = "198.51.100.7"
            // Otherwise the code, as the first proof of the address, would remove the password.
            try await world.change("users", world.user, ["email_verified": true])
            #expect(try await world.signIn(from: home).status == 200)
            var known = Browser(world.server)
            _ = try await known.signIn()
            for number in 1...100 { #expect(try await guessStatus(world, from: "203.0.113.\(number)") == 400) }
            for number in 101...110 { #expect(try await guessStatus(world, from: "203.0.113.\(number)") == 429) }
            // The right password, at an address where the user never signed in.
            let road = try await world.signIn(from: "192.0.2.1")
            #expect(road.status == 429 && road.header("retry-after") == "300", "\(road)")
            #expect(try await world.signIn(from: home).status == 200, "at home")
            let page = try await known.open("/login?confirm=1")
            let fields = ["email": World.email, "password": World.password]
            let elsewhere = try await known.submit(page, fields, headers: ["X-Forwarded-For": "192.0.2.2"])
            #expect(elsewhere.status == 303, "in the browser that is known, wherever it is")
            // Elsewhere the user signs in by a mailed code, and then the address is known.
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
        "Unknown browsers together have fifteen guesses at a user's mailed codes, not five each",
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
            // The user, in a known browser, is neither refused nor charged.
            let (own, right) = try await ask(&owner, from: "192.0.2.9", world)
            let from = ["X-Forwarded-For": "192.0.2.9"]
            let slip = right == "000000" ? "000001" : "000000"
            #expect(try await owner.browser.submit(own, ["code": slip], headers: from).status == 400)
            #expect(try await owner.browser.submit(own, ["code": right], headers: from).status == 303)
            #expect(try await owner.isSignedIn())
        }
    }

    @Test(
        "A known browser of a user with an unverified address has no extra guesses at mailed codes",
        arguments: Backend.available)
    func unread(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let place = "203.0.113.1"
            let from = ["X-Forwarded-For": place]
            // The address is not verified.
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

    @Test("An IPv6 /48 can request 120 mails, not thirty for each /64", arguments: Backend.available)
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

    /// A sign-in form that requests codes.
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
