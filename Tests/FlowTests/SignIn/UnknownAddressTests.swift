import Cryptography
import Delivery
import JSON
import Mail
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("An address without a user costs the same work as a known one, and gets no mail")
struct UnknownAddressTests {
    private static let nobody = "nobody@example.com"

    private func ask(_ path: String, _ email: String, _ world: World) async throws -> Answer {
        var visitor = BrowserUser(world)
        let page = try await visitor.browser.open(path == "/login/code" ? "/login" : path)
        return try await visitor.browser.submit(page, ["email": email, "password": World.password], to: path)
    }

    /// The rows that one request wrote, and its hashes.
    private struct Work: Equatable {
        let verifications: Int
        let hashes: Int
    }

    private func work(of path: String, _ email: String, _ world: World) async throws -> Work {
        let (rows, hashes) = (try await verifications(world), world.server.hashing.hashesComputed)
        #expect(try await ask(path, email, world).status == 200)
        return Work(
            verifications: try await verifications(world) - rows,
            hashes: world.server.hashing.hashesComputed - hashes)
    }

    private func verifications(_ world: World) async throws -> Int {
        try await world.server.database.read { db in try db.rows("SELECT id FROM verifications").count }
    }

    /// The blank deliveries.
    private func blank(_ world: World) async throws -> Int {
        try await world.server.database.read { db in
            try db.rows("SELECT id FROM deliveries WHERE expires_at <= created_at AND attempts = 0").count
        }
    }

    @Test(
        "A mail requested on a page of a merchant's app is queued in that merchant's share of the mails",
        arguments: Backend.available)
    func turns(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            let page = try await visitor.browser.open(world.authorizeAddress(["scope": "email"]))
            _ = try await visitor.press(page, action: "/login/code", ["email": Self.nobody])
            _ = try await ask("/login/code", Self.nobody, world)
            let shares = try await world.server.database.read { db in
                try db.rows("SELECT share FROM deliveries WHERE kind = 'mail'").map {
                    try $0.get("share", as: String.self)
                }
            }
            // The second was requested on the server's own page.
            #expect(shares.sorted() == ["", world.merchant])
        }
    }

    @Test(
        "A request for a mailed code or reset stores as many rows for an unknown address as for a known one",
        arguments: Backend.available)
    func sameWork(backend: Backend) async throws {
        try await World.with(backend) { world in
            for (number, path) in ["/password", "/login/code"].enumerated() {
                let known = try await work(of: path, World.email, world)
                _ = try await world.server.mail.letter(to: World.email)
                #expect(try await blank(world) == number, "what was sent is not blank")
                let unknown = try await work(of: path, Self.nobody, world)
                #expect(try await blank(world) == number + 1)
                #expect(known == unknown)
                #expect(known == Work(verifications: 1, hashes: 0))
            }
        }
    }

    @Test(
        "A sign-up writes the same rows and hashes once, whether or not the address is taken",
        arguments: Backend.available)
    func sameSignUp(backend: Backend) async throws {
        try await World.with(backend) { world in
            let taken = try await work(of: "/signup", World.email, world)
            let free = try await work(of: "/signup", Self.nobody, world)
            #expect(taken == free)
            #expect(free == Work(verifications: 1, hashes: 1))
            #expect(try await world.server.mail.letter(to: World.email).code == nil)
            #expect(try await world.server.mail.letter(to: Self.nobody).code != nil)
            #expect(try await blank(world) == 0, "both get a mail")
        }
    }

    @Test(
        "A password reset for a throttled mailbox does the same work as for an address without a user",
        arguments: Backend.available)
    func fullMailbox(backend: Backend) async throws {
        try await World.with(backend) { world in
            for _ in 1...5 {
                _ = try await ask("/password", World.email, world)
                _ = try await world.server.mail.letter(to: World.email)
            }
            let full = try await work(of: "/password", World.email, world)
            #expect(try await blank(world) == 1)
            #expect(try await work(of: "/password", Self.nobody, world) == full)
            #expect(try await blank(world) == 2)
        }
    }

    @Test("Mails stored for an address without a user are deleted and never sent", arguments: Backend.available)
    func neverSent(backend: Backend) async throws {
        try await World.with(backend) { world in
            for path in ["/password", "/login/code"] { _ = try await ask(path, Self.nobody, world) }
            world.server.clock.advance(by: Outbox.lease)
            // The delivery worker takes what is due.
            _ = try await ask("/password", World.email, world)
            _ = try await world.server.mail.letter(to: World.email)
            #expect(world.server.mail.letters(to: Self.nobody).isEmpty)
            #expect(!world.server.log.says("delivery given up"))
            _ = await Retention(database: world.server.database).sweep(only: ["deliveries"], at: world.server.clock.now)
            #expect(try await blank(world) == 0)
        }
    }
}
