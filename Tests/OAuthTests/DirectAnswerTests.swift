import Authentication
import Cryptography
import Directory
import Keys
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Front-channel tokens")
struct DirectAnswerTests {
    private static let user = UserID(7)

    private struct Scene {
        let fixture: AuthorizationFixture
        let answers: FrontChannelTokens
        let consents: Consents

        init() async throws {
            fixture = try await AuthorizationFixture()
            let (database, clock, random) = (fixture.database, fixture.clock, SystemRandom())
            let seal = Seal(masterKey: .random(from: random), random: random)
            let mint = BearerTokenMint(
                database: database, clients: fixture.clients, jwts: .signed(under: seal, in: database, clock: clock),
                number: { user, _ in user.description }, callbacks: .unheard,
                seal: seal, clock: clock, random: random
            )
            answers = FrontChannelTokens(database: database, mint: mint, clock: clock, random: random) { _, _, _, _ in }
            consents = Consents(database: database, callbacks: .unheard)
            try await database.write { db in
                try Users.insertLinked(user, email: nil, profile: [], at: clock.now, in: db)
                try db.execute(
                    """
                    INSERT INTO sessions (id, fingerprint, user_id, signed_in_at, created_at, seen_at, expires_at,
                        user_agent, ip_address, is_dated, method)
                    VALUES ('s', 'f', \(user), \(clock.now), \(clock.now), \(clock.now),
                        \(clock.now + .hours(1)), '', '', 1, 'pwd')
                    """)
            }
        }

        func response(_ type: String, in session: Session.ID = "s") async throws -> FrontChannelResponse? {
            let request = try await fixture.request(.direct, ["response_type": type, "nonce": "n"])
            return try await answers.response(
                for: request, in: .signedIn(user, session, at: fixture.clock.now))
        }

        func allow() async throws {
            let client = try await fixture.request(.direct, ["response_type": "code"])
            _ = try await consents.allow(
                client.scope, of: client.scope, to: client.returnAddress.client, by: user, at: fixture.clock.now)
        }

        /// The numbers of rows that a front-channel answer leaves behind.
        func traces() async throws -> Int {
            try await fixture.database.read { db in
                try db.rows("SELECT fingerprint FROM authorization_codes").count
                    + db.rows("SELECT fingerprint FROM access_tokens").count
                    + db.rows("SELECT id FROM token_families").count
            }
        }
    }

    private static let types = ["id_token", "token", "code token", "code id_token", "code id_token token"]

    @Test(
        "No front-channel token or code is issued without consent, or after the consent was revoked",
        arguments: types)
    func consent(_ type: String) async throws {
        let scene = try await Scene()
        #expect(try await scene.response(type) == nil)
        #expect(try await scene.traces() == 0)
        try await scene.allow()
        let response = try #require(try await scene.response(type))
        #expect((response.code != nil) == type.contains("code"))
        #expect((response.tokens != nil) == type.split(separator: " ").contains("token"))
        #expect(response.tokens?.refreshToken?.value == nil)
        // A token family: each client must be told of a logout, even if it redeems no code.
        let families = try await scene.fixture.database.read { db in
            try db.rows("SELECT id FROM token_families WHERE user_id = \(Self.user)").count
        }
        #expect(families == 1)
        let traces = try await scene.traces()
        let client = try await scene.fixture.request(.direct, ["response_type": "code"]).returnAddress.client.id
        try await ConnectedApps(
            database: scene.fixture.database, clock: scene.fixture.clock, callbacks: .unheard, events: .unheard
        )
        .revoke(client, of: Self.user)
        #expect(try await scene.response(type) == nil)
        #expect(try await scene.traces() == traces)
        await scene.fixture.database.close()
    }

    @Test(
        "No front-channel token is issued for an ended session, an unknown session or a disabled user",
        arguments: types)
    func session(_ type: String) async throws {
        let scene = try await Scene()
        try await scene.allow()
        #expect(try await scene.response(type, in: "another") == nil)
        let database = scene.fixture.database
        try await database.write { db in
            try db.execute("UPDATE users SET disabled_at = 1 WHERE id = \(Self.user)")
        }
        #expect(try await scene.response(type) == nil)
        try await database.write { db in
            try db.execute("UPDATE users SET disabled_at = NULL WHERE id = \(Self.user)")
        }
        #expect(try await scene.response(type) != nil)
        let traces = try await scene.traces()
        try await database.write { db in try db.execute("UPDATE sessions SET ended_at = 1 WHERE id = 's'") }
        #expect(try await scene.response(type) == nil)
        #expect(try await scene.traces() == traces)
        await database.close()
    }
}
