import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("The number of live token families is limited")
struct TokenFamilyLimitTests {
    @Test(
        "Sign-ins end a user's live token families at a client beyond the newest 1000, the oldest first",
        arguments: Backend.available)
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
                        INSERT INTO token_families (id, path, client_id, user_id, scope, signed_in_at, created_at,
                            expires_at)
                        VALUES (\("made-\(number)"), \("made-\(number)"),
                            \(world.app.id), \(user), 'email', \(now), \(now),
                            \(now + .days(1)))
                        """)
                }
            }
            #expect(try await live(world, user) > 1000)
            // One sign-in in 256 ends the oldest.
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

    @Test(
        "Token requests end a client's live token families without a user beyond 100,000, the oldest first",
        arguments: Backend.available)
    func own(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential([
                "spid_compatible": true, "grant_types": ["client_credentials", "refresh_token"],
            ])
            func ask() async throws -> Answer {
                try await world.server.post(
                    "/oauth/token", form: [("grant_type", "client_credentials")], basic: client.basic)
            }
            let first = try await ask()
            let users = try await world.signIn()
            world.server.clock.advance(by: .seconds(1))
            let now = world.server.clock.now
            try await world.server.database.write { db in
                _ = try db.execute(
                    """
                    INSERT INTO token_families (id, path, client_id, scope, signed_in_at, created_at, expires_at)
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100100)
                    SELECT 'made-' || i, 'made-' || i, CAST(\(client.id) AS TEXT), '', CAST(\(now) AS BIGINT),
                        CAST(\(now) AS BIGINT), CAST(\(now + .days(30)) AS BIGINT) FROM n
                    """)
            }
            func isActive(_ answer: Answer) async throws -> Bool {
                try await world.introspect(try answer.require("access_token"), as: client).json["active"] == true
            }
            func left() async throws -> Int {
                try await world.server.database.read { db in
                    try db.rows(
                        """
                        SELECT COUNT(*) AS many FROM token_families WHERE client_id = \(client.id) AND ended_at IS NULL
                        """
                    ).first?.get("many") ?? 0
                }
            }
            // One request in 256 ends the oldest.
            var tries = 0
            while try await isActive(first), tries < 4000 {
                world.server.clock.advance(by: .milliseconds(1))
                _ = try await ask()
                tries += 1
            }
            #expect(try await left() == 100_000)
            #expect(try await !isActive(first), "the oldest goes first")
            let refresh = [
                ("grant_type", "refresh_token"), ("refresh_token", try first.require("refresh_token")),
            ]
            let refused = try await world.server.post("/oauth/token", form: refresh, basic: client.basic)
            #expect(refused.error == "invalid_grant")
            #expect(try await isActive(try await ask()))
            #expect(try await world.isLive(try users.require("access_token")))
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
