import Cryptography
import JSON
import Synchronization
import TestSupport
import Testing

@Suite("Merchants and IP addresses take turns at password hashing: others are served while one fills the queue")
struct PasswordTurnTests {
    private typealias Ask = @Sendable () async throws -> Answer
    private static let places = 3

    @Test("sign-ups by as many clients of one merchant as the queue has places keep nobody from signing in")
    func clients() async throws {
        try await filled { world in
            var asks: [Ask] = []
            for number in 1...Self.places {
                let token = try await world.clientToken(try await world.spidBackend())
                asks.append { try await world.signUp("new\(number)@example.com", token) }
            }
            return asks
        }
    }

    @Test("one IP address with as many reset links as the queue has places keeps nobody from signing in")
    func resetLinks() async throws {
        try await filled { world in
            var asks: [Ask] = []
            for email in try await Self.people(world) {
                var browser = Browser(world.server)
                _ = try await browser.submit(try await browser.open("/password"), ["email": email])
                let letter = try await world.server.mail.letter(to: email)
                let link = try #require(letter.link(containing: "/reset/"))
                let page = try await browser.open(link.replacing("http://spindle.test", with: ""))
                asks.append { [browser] in
                    var browser = browser
                    return try await browser.submit(page, ["password": "a quite unlikely loom"])
                }
            }
            return asks
        }
    }

    @Test("one IP address with as many users who set a password as the queue has places keeps nobody from signing in")
    func passwords() async throws {
        try await filled { world in
            var asks: [Ask] = []
            for email in try await Self.people(world) {
                var user = BrowserUser(world)
                let form = try await user.press(
                    try await user.browser.open("/login"), action: "/login/code", ["email": email])
                let code = try #require(try await world.server.mail.letter(to: email).code)
                _ = try await user.browser.submit(form, ["code": code])
                let page = try await user.browser.open("/account")
                asks.append { [user] in
                    var user = user
                    return try await user.press(
                        page, action: "/account/password", ["new_password": "a quite unlikely loom"])
                }
            }
            return asks
        }
    }

    /// The addresses of as many users without a password as the queue has places.
    private static func people(_ world: World) async throws -> [String] {
        let emails = (1...places).map { "user\($0)@example.com" }
        for email in emails {
            _ = try await World.make(world.server, world.admin, "users", ["email": .string(email)]).require("user_id")
        }
        return emails
    }

    /// Fills the queue with what `prepare` returns, while one password is being hashed; then signs in from another
    /// address, which takes the place of one of them.
    private func filled(_ prepare: (World) async throws -> [Ask]) async throws {
        let pool = HashingPool(
            parameters: PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1), workers: 1,
            queueLimit: Self.places, random: SystemRandom())
        try await World.with(.sqlite, settings: ["trusted_proxies": "127.0.0.0/8"], hashing: pool) { world in
            let asks = try await prepare(world)
            let computed = pool.hashesComputed
            let isOver = Atomic(false)
            let running = Task {
                defer { isOver.store(true, ordering: .relaxed) }
                return try await pool.verify("occupies the worker", against: .dear, for: "a")
            }
            while pool.hashesComputed == computed { try await Task.sleep(for: .milliseconds(2)) }
            let asked = asks.map { ask in Task { try await ask() } }
            while pool.waiting < Self.places, !isOver.load(ordering: .relaxed) {
                try await Task.sleep(for: .milliseconds(2))
            }
            #expect(pool.waiting == Self.places)

            let honest = try await world.signIn(from: "198.51.100.7")
            #expect(honest.status == 200, "\(honest)")
            _ = try await running.value
            var refused = 0
            for task in asked where try await task.value.status >= 400 { refused += 1 }
            #expect(refused == 1)
        }
    }
}
