import Cryptography
import JOSE
import TestSupport
import Testing

@Suite("Password hashing has a pool of its own")
struct PasswordQueueTests {
    @Test("with its queue full a sign-in is told to come back, and token traffic goes on")
    func full() async throws {
        // Slow enough that the pool stays busy while a few requests are made.
        let pool = try HashingPool(
            parameters: PasswordHashParameters(memoryKiB: 1024, iterations: 2000, parallelism: 1), workers: 1,
            queueLimit: 1, random: SystemRandom())
        try await World.with(.sqlite, hashing: pool) { world in
            let before = pool.hashesComputed
            async let first = pool.hash("occupies the worker", random: SystemRandom())
            while pool.hashesComputed == before { try await Task.sleep(for: .milliseconds(2)) }
            async let second = pool.hash("fills the queue", random: SystemRandom())
            while pool.waiting == 0 { try await Task.sleep(for: .milliseconds(2)) }

            let refused = try await world.signIn()
            try await expect(503, "temporarily_unavailable", refused)
            #expect(refused.header("retry-after") == "2")
            var browser = Browser(world.server)
            let page = try await browser.signIn()
            #expect(page.status == 503)
            #expect(page.header("retry-after") == "2")
            let user = try await World.make(
                world.server, world.admin, "users", ["email": "new@example.com", "password": "long enough"])
            #expect(user.status == 503)
            let token = try await world.token(["grant_type": "client_credentials"], as: world.backend)
            #expect(token.status == 200)
            #expect(try await world.introspect(try token.require("access_token"), as: world.backend).status == 200)
            #expect(pool.waiting == 1, "the pool became free too early for this test to mean anything")

            _ = try await (first, second)
            #expect(try await world.signIn().status == 200)
        }
    }

    @Test("a sign-in that was turned away for lack of room is no failure of its account")
    func noCharge() async throws {
        let pool = try HashingPool(
            parameters: PasswordHashParameters(memoryKiB: 1024, iterations: 1200, parallelism: 1), workers: 1,
            queueLimit: 1, random: SystemRandom())
        try await World.with(.sqlite, hashing: pool) { world in
            let before = pool.hashesComputed
            async let first = pool.hash("occupies the worker", random: SystemRandom())
            while pool.hashesComputed == before { try await Task.sleep(for: .milliseconds(2)) }
            async let second = pool.hash("fills the queue", random: SystemRandom())
            while pool.waiting == 0 { try await Task.sleep(for: .milliseconds(2)) }
            for _ in 1...12 { #expect(try await world.signIn().status == 503) }
            _ = try await (first, second)
            #expect(try await world.signIn().status == 200)
        }
    }
}
