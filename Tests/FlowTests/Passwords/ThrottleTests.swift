import JSON
import Storage
import TestSupport
import Testing
import Values

@testable import Authentication

@Suite("Password guessing is throttled, and the owner is not locked out")
struct ThrottleTests {
    /// The tests' own address is a proxy, so that requests come from wherever they say.
    private static let settings = ["trusted_proxies": "127.0.0.0/8"]
    private static let home = "198.51.100.7"

    @Test("one IP address has ten guesses at one user, and then one every half minute", arguments: Backend.available)
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
            // And being right forgets the failures.
            for _ in 1...10 { #expect(try await guess(world, from: Self.home).status == 400) }
        }
    }

    @Test(
        "a user who is throttled when the clock is set back two days does not wait for two days",
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

    @Test("guesses without end at two nodes whose clocks differ by a minute", arguments: Backend.available)
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

    @Test("a throttle does not affect another IP address, another user or other grants", arguments: Backend.available)
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

    @Test("one IP address cannot try one password on every user", arguments: Backend.available)
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

    @Test("made-up names at a site's own form keep its people out, who all come from its backend's IP address")
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

    @Test("one IP address uses up a user's attempts at all others, by being slow", arguments: Backend.available)
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
        "guesses at a site's own form are not counted where the user signed in by its backend, or its app's, before",
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

    @Test("guesses at one merchant's backend keep the user out at another's, where nobody guessed")
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
        "guesses from everywhere are throttled, and the owner still gets in, at home and elsewhere",
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

    @Test(
        "attempts during an attack whose passwords nobody looked at give back no guesses that they did not take",
        arguments: Backend.available)
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

    @Test("guesses on the page and at the token endpoint share one throttle", arguments: Backend.available)
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

    @Test("parallel guesses gain nothing", arguments: Backend.available)
    func volley(backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let answers = try await race(30) { try await guess(world, from: Self.home) }
            #expect(answers.filter { $0.status == 400 }.count <= 10)
        }
    }

    @Test("a forwarding header from a peer that is no trusted proxy is ignored", arguments: Backend.available)
    func forgedHeader(backend: Backend) async throws {
        try await World.with(backend) { world in
            for number in 1...10 { _ = try await guess(world, from: "203.0.113.\(number)") }
            #expect(try await guess(world, from: "203.0.113.11").status == 429)
        }
    }

    private func guess(_ world: World, at name: String = World.email, from address: String) async throws -> Answer {
        try await world.signIn(as: name, password: "a guess", from: address)
    }
}
