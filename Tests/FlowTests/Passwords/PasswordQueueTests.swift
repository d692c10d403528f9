import Cryptography
import JSON
import Mail
import Storage
import Synchronization
import TestSupport
import Testing
import Values

@Suite("Password hashing has its own thread pool, and a full queue gets 503")
struct PasswordQueueTests {
    @Test("While the password hashing queue is full, sign-ins get 503; client credentials grants still work")
    func full() async throws {
        try await whileFull { world in
            let refused = try await world.signIn()
            try await expect(503, "temporarily_unavailable", refused)
            #expect(refused.header("retry-after") == "2")
            var browser = Browser(world.server)
            let page = try await browser.signIn()
            #expect(page.status == 503)
            #expect(page.header("retry-after") == "2")
            let user = try await World.make(
                world.server, world.admin, "users", ["email": "new@example.com", "password": "long enough"])
            expectProblem(user, 503)
            #expect(user.header("retry-after") == "2")
            let token = try await world.token(["grant_type": "client_credentials"], as: world.backend)
            #expect(token.status == 200)
            #expect(try await world.introspect(try token.require("access_token"), as: world.backend).status == 200)
        }
    }

    @Test("A sign-in that a full hashing queue refuses does not count as a wrong password of its user")
    func noCharge() async throws {
        try await whileFull { world in
            for _ in 1...12 {
                let refused = try await world.signIn()
                #expect(refused.status == 503)
            }
            let remembered = try await world.server.database.read { db in try db.rows("SELECT id FROM logins").count }
            #expect(remembered == 0, "the password was not checked")
        }
    }

    @Test("A sign-up that a full hashing queue refuses is not charged against the mail limit")
    func noMailCharge() async throws {
        try await whileFull { world in
            for _ in 1...32 {
                var visitor = BrowserUser(world)
                let refused = try await visitor.signUp("new@example.com")
                #expect(refused.status == 503 && refused.header("retry-after") == "2", "\(refused.status)")
            }
        }
    }

    @Test("A backend's sign-up that a full hashing queue refuses is charged to neither client nor merchant")
    func noSignUpCharge() async throws {
        let token = Mutex("")
        try await whileFull { world in
            let made = try await world.clientToken(try await world.spidBackend())
            token.withLock { $0 = made }
        } _: { world in
            let refused = try await world.signUp("new@example.com", token.withLock { $0 })
            #expect(refused.status == 503, "\(refused)")
            let now = world.server.clock.now.milliseconds
            #expect(try await world.count("throttles WHERE theoretical_arrival > \(now)") == 0)
        }
    }

    @Test("A sign-up's mailed link in another browser gets 503 for a full hashing queue, and loses no try")
    func signUpLink() async throws {
        let link = Mutex("")
        try await whileFull { world in
            var visitor = BrowserUser(world)
            _ = try await visitor.signUp("new@example.com")
            let letter = try await world.server.mail.letter(to: "new@example.com")
            let path = try #require(letter.link(containing: "/signup/confirm/"))
            link.withLock { $0 = path.replacing("http://spindle.test", with: "") }
        } _: { world in
            var elsewhere = BrowserUser(world)
            for _ in 1...6 {
                let refused = try await elsewhere.fill(link.withLock { $0 }, ["password": World.password])
                #expect(refused.status == 503 && refused.header("retry-after") == "2", "\(refused)")
                #expect(refused.body.contains("role=\"alert\""))
            }
            #expect(try await world.count("verifications WHERE tries > 0") == 0)
        }
    }

    @Test("A password reset link gets 503 for a full hashing queue, and stays valid")
    func resetLink() async throws {
        let link = Mutex("")
        try await whileFull { world in
            var browser = Browser(world.server)
            _ = try await browser.submit(try await browser.open("/password"), ["email": World.email])
            let path = try #require(try await world.server.mail.letter(to: World.email).link(containing: "/reset/"))
            link.withLock { $0 = path.replacing("http://spindle.test", with: "") }
        } _: { world in
            var visitor = BrowserUser(world)
            for _ in 1...3 {
                let refused = try await visitor.fill(link.withLock { $0 }, ["password": "a quite unlikely loom"])
                #expect(refused.status == 503 && refused.header("retry-after") == "2", "\(refused)")
                #expect(refused.body.contains("role=\"alert\""))
            }
        }
    }

    /// Runs `story` while one password is being hashed and another waits, and there is no more room; then signs in.
    private func whileFull(
        _ before: (World) async throws -> Void = { _ in }, _ story: (World) async throws -> Void
    ) async throws {
        let pool = HashingPool(
            parameters: PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1), workers: 1, queueLimit: 1,
            random: SystemRandom())
        try await World.with(.sqlite, hashing: pool) { world in
            try await before(world)
            let computed = pool.hashesComputed
            let running = Task { try await pool.verify("occupies the worker", against: .dear, for: "a") }
            while pool.hashesComputed == computed { try await Task.sleep(for: .milliseconds(2)) }
            let waiting = Task { try await pool.verify("fills the queue", against: .dear, for: "a") }
            while pool.waiting == 0 { try await Task.sleep(for: .milliseconds(2)) }

            try await story(world)
            #expect(pool.waiting == 1, "the pool became free too early for this test to mean anything")

            waiting.cancel()
            _ = await waiting.result
            _ = try await running.value
            #expect(try await world.signIn().status == 200)
        }
    }

    private typealias Ask = @Sendable () async throws -> Answer
    private static let places = 3

    @Test("Sign-ups by one merchant's clients leave room in the hashing queue for a user's sign-in")
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

    @Test("Password resets from one IP address leave room in the hashing queue for a user's sign-in")
    func resetLinks() async throws {
        try await filled { world in
            var asks: [Ask] = []
            for email in try await Self.users(world) {
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

    @Test("New passwords set from one IP address leave room in the hashing queue for a user's sign-in")
    func passwords() async throws {
        try await filled { world in
            var asks: [Ask] = []
            for email in try await Self.users(world) {
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
    private static func users(_ world: World) async throws -> [String] {
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

extension PasswordHash {
    /// A stored hash names its own cost: this one takes seconds.
    static let dear = PasswordHash(
        encoded: "$argon2id$v=19$m=1024,t=4096,p=1$c2FsdHNhbHRzYWx0c2FsdA$" + String(repeating: "A", count: 43))
}

extension World {
    /// A sign-up by the backend that `token` belongs to.
    func signUp(_ email: String, _ token: String) async throws -> Answer {
        try await api("signup", token, ["email": email, "password": "a quite unlikely loom"])
    }
}
