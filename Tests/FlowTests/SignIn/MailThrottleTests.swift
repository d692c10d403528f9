import Cryptography
import JSON
import Mail
import TestSupport
import Testing
import Values

@Suite("Requested mails are throttled, and the user still gets the necessary ones")
struct MailThrottleTests {
    private func askForCode(_ visitor: inout BrowserUser, _ email: String) async throws -> Answer {
        try await visitor.press(try await visitor.browser.open("/login"), action: "/login/code", ["email": email])
    }

    @Test(
        "A stranger who requests codes and sign-ups for an address does not block its password reset",
        arguments: Backend.available)
    func ownReset(backend: Backend) async throws {
        try await World.with(backend) { world in
            var stranger = BrowserUser(world)
            for _ in 1...6 {
                #expect(try await askForCode(&stranger, World.email).status == 200)
                #expect(try await stranger.signUp(World.email).status == 200)
            }
            var owner = BrowserUser(world)
            #expect(try await owner.fill("/password", ["email": World.email]).status == 200)
            var resets = 0
            for _ in 1...11 {
                let letter = try await world.server.mail.letter(to: World.email)
                if letter.link(containing: "/password/reset/") != nil { resets += 1 }
            }
            #expect(resets == 1)
            #expect(world.server.mail.letters.count == 11, "five of each kind and no more")
        }
    }

    @Test("Mails to a mailbox are throttled together, however its domain is spelled")
    func oneMailbox() async throws {
        try await World.with(.sqlite) { world in
            _ = try await world.person("ada@bücher.example")
            var stranger = BrowserUser(world)
            let spellings = [
                "ada@bücher.example", "ADA@BÜCHER.EXAMPLE", "ada@xn--bcher-kva.example", "ada@XN--BCHER-KVA.example",
                "ada@ｂücher.example", "ada@bücher.ｅxample", "Ada@bu\u{308}cher.example",
            ]
            for spelling in spellings { #expect(try await askForCode(&stranger, spelling).status == 200) }
            for _ in 1...5 { _ = try await world.server.mail.letter(to: "ada@xn--bcher-kva.example") }
            #expect(world.server.mail.letters.count == 5)
        }
    }

    @Test(
        "A throttled sign-up is refused before its password is hashed, and an accepted one is hashed once",
        arguments: Backend.available)
    func hashes(backend: Backend) async throws {
        try await World.with(backend) { world in
            let hashing = world.server.hashing
            let before = hashing.hashesComputed
            let statuses = try await volley(40, world) { "user\($0)@example.com" }
            #expect(statuses.filter { $0 == 303 }.count == 30)
            #expect(statuses.filter { $0 == 429 }.count == 10)
            #expect(hashing.hashesComputed - before == 30)
            var browser = Browser(world.server)
            let page = try await browser.open("/signup")
            let refused = try await browser.submit(
                page, ["email": "late@example.com", "password": "a quite unlikely loom", "name": "Late"])
            #expect(refused.status == 429 && refused.header("retry-after") != nil, "\(refused.status)")
            #expect(world.server.log.says("throttled"))
        }
    }

    /// Sends `size` sign-ups at once from one address, and returns the statuses.
    private func volley(_ size: Int, _ world: World, email: @escaping @Sendable (Int) -> String) async throws -> [Int] {
        var browser = Browser(world.server)
        let token = try await browser.open("/signup").fields["form_token"] ?? ""
        let cookies = browser.cookies
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...size {
                group.addTask {
                    try await world.server.post(
                        "/signup",
                        form: [("form_token", token), ("email", email(number)), ("password", World.password)],
                        cookies: cookies
                    ).status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(
        "A sent password reset mail keeps its authorization request for hours; a refused one does not",
        arguments: Backend.available)
    func keeping(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            let kept = try await world.begin(world.authorizeAddress(), in: &visitor.browser)
            #expect(
                try await visitor.fill("/password?continue=\(kept)", ["email": World.email]).status == 200)
            for number in 2...30 {
                #expect(try await visitor.fill("/password", ["email": "user\(number)@example.com"]).status == 200)
            }
            let refused = try await world.begin(world.authorizeAddress(), in: &visitor.browser)
            let answer = try await visitor.fill("/password?continue=\(refused)", ["email": World.email])
            #expect(answer.status == 429 && answer.header("retry-after") == "120")
            world.server.clock.advance(by: .hours(4))
            #expect(try await visitor.browser.open("/password?continue=\(kept)").status == 200)
            #expect(try await visitor.browser.open("/password?continue=\(refused)").status == 410)
        }
    }

    @Test("A new password sent to a used or unknown reset link is not hashed", arguments: Backend.available)
    func noHashWithoutLink(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            _ = try await visitor.fill("/password", ["email": World.email])
            let letter = try await world.server.mail.letter(to: World.email)
            let path = try #require(letter.link(containing: "/password/reset/"))
                .replacing("http://spindle.test", with: "")
            let page = try await visitor.browser.open(path)
            #expect(try await visitor.browser.submit(page, ["password": "a brand new loom"]).status == 303)
            let before = world.server.hashing.hashesComputed
            var other = BrowserUser(world)
            let own = try await other.browser.open("/login")
            for (link, status) in [(path, 410), ("/password/reset/unknown", 404)] {
                let answer = try await other.browser.submit(own, ["password": "another new loom"], to: link)
                #expect(answer.status == status)
            }
            #expect(world.server.hashing.hashesComputed == before)
        }
    }
}
