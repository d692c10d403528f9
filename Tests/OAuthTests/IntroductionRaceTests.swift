import Cryptography
import Authentication
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("What becomes of a code when the world changes between the decision and the commit")
struct IntroductionRaceTests {
    private static let user = UserID(7)

    @Test("a code is given although person and merchant have been parted since", arguments: Backend.available)
    func parted(backend: Backend) async throws {
        let fixture = try await AuthorizationFixture(backend)
        let (database, clock) = (fixture.database, fixture.clock)
        let now = clock.now
        try await database.write { db in
            try Users.insertLinked(Self.user, email: nil, profile: [], at: now, in: db)
            try db.execute(
                """
                INSERT INTO sessions (id, fingerprint, user_id, signed_in_at, created_at, seen_at, expires_at,
                    user_agent, ip_address)
                VALUES ('s', 'f', \(Self.user), \(now), \(now), \(now), \(now + .hours(1)), '', '')
                """)
        }
        let codes = AuthorizationCodes(database: database, random: SystemRandom())
        let introductions = Introductions(database: database)
        let request = try await fixture.request(.own)
        let client = request.returnAddress.client
        func code() async throws -> Bool {
            let subject = Subject(user: Self.user, signedInAt: now)
            return try await codes.issue(request, subject: subject, session: "s", at: now) != nil
        }
        #expect(try await introductions.isDue(Self.user, to: client, in: "s"))
        #expect(try await !code())
        for _ in 1...2 { try await introductions.introduce(Self.user, to: fixture.merchant, at: now) }
        #expect(try await !introductions.isDue(Self.user, to: client, in: "s"))
        #expect(try await code())
        try await ConnectedApps(database: database, clock: clock, callbacks: .unheard)
            .revoke(client.id, of: Self.user)
        #expect(try await !code())
        try await introductions.introduce(Self.user, to: fixture.merchant, at: now)
        try await TokenFamilies(database: database, callbacks: .unheard)
            .disconnect(Self.user, from: fixture.merchant, at: now)
        #expect(try await !code())
        try await database.write { db in
            try db.execute("UPDATE merchants SET skips_introduction = 1 WHERE id = \(fixture.merchant)")
        }
        #expect(try await code())
        await database.close()
    }

    @Test("a merchant that is deleted takes its introductions along, and makes none", arguments: Backend.available)
    func deleted(backend: Backend) async throws {
        let fixture = try await AuthorizationFixture(backend)
        let (database, now) = (fixture.database, fixture.clock.now)
        let users = (1...12).map { UserID(Int64($0)) }
        try await database.write { db in
            for user in users { try Users.insertLinked(user, email: nil, profile: [], at: now, in: db) }
        }
        let introductions = Introductions(database: database)
        for user in users { try await introductions.introduce(user, to: fixture.merchant, at: now) }
        func count() async throws -> Int {
            try await database.read { db in try db.rows("SELECT user_id FROM introductions").count }
        }
        #expect(try await count() == 12)
        try await BulkDeletion(database: database, batch: 5).clear(fixture.merchant, at: now)
        #expect(try await count() == 0)
        try await introductions.introduce(users[0], to: Merchant.ID("nobody"), at: now)
        #expect(try await count() == 0)
        await database.close()
    }
}
