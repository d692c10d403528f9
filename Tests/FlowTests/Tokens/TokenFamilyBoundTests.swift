import Storage
import TestSupport
import Testing
import Values

@Suite("The number of live sign-ins is bounded")
struct TokenFamilyBoundTests {
    @Test("of thousands of sign-ins of one user at one client the oldest end", arguments: Backend.available)
    func oldest(backend: Backend) async throws {
        try await World.with(backend) { world in
            let first = try await world.signIn()
            let elsewhere = try await world.signIn(with: world.rivalBackend)
            world.server.clock.advance(by: .seconds(1))
            let now = world.server.clock.now
            let user = try #require(Int64(world.user))
            try await world.server.database.write { db in
                for number in 0..<1500 {
                    try db.execute(
                        """
                        INSERT INTO token_families (id, client_id, user_id, scope, signed_in_at, created_at, expires_at)
                        VALUES (\("made-\(number)"), \(world.app.id), \(user), 'email', \(now), \(now),
                            \(now + .days(1)))
                        """)
                }
            }
            #expect(try await live(world, user) > 1000)
            // One sign-in of 256 looks.
            var tries = 0
            while try await live(world, user) > 1000, tries < 4000 {
                world.server.clock.advance(by: .seconds(1))
                _ = try await world.signIn()
                tries += 1
            }
            #expect(try await live(world, user) == 1000)
            #expect(try await !world.isLive(try first.require("access_token")), "the oldest goes first")
            #expect(try await world.isLive(try elsewhere.require("access_token")), "each client has its own")
            let last = try await world.signIn()
            #expect(try await world.isLive(try last.require("access_token")))
        }
    }

    private func live(_ world: World, _ user: Int64) async throws -> Int {
        let now = world.server.clock.now
        return try await world.server.database.read { db in
            try db.rows(
                """
                SELECT COUNT(*) AS many FROM token_families WHERE user_id = \(user) AND client_id = \(world.app.id)
                    AND ended_at IS NULL AND expires_at > \(now)
                """
            ).first?.get("many") ?? 0
        }
    }
}
