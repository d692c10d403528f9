import Authentication
import Cryptography
import Directory
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Introductions that change before a code is stored")
struct IntroductionRaceTests {
    private static let user = UserID(7)

    @Test(
        "No authorization code is issued before an introduction, or once user and merchant are disconnected",
        arguments: Backend.available)
    func parted(backend: Backend) async throws {
        let fixture = try await AuthorizationFixture(backend)
        let (database, clock) = (fixture.database, fixture.clock)
        let now = clock.now
        try await database.write { db in
            try Users.insertLinked(Self.user, email: nil, profile: [], at: now, in: db)
            try db.execute(
                """
                INSERT INTO sessions (id, fingerprint, user_id, signed_in_at, created_at, seen_at, expires_at,
                    user_agent, ip_address, is_dated, method)
                VALUES ('s', 'f', \(Self.user), \(now), \(now), \(now), \(now + .hours(1)), '', '', 1, 'pwd')
                """)
        }
        let codes = AuthorizationCodes(database: database, random: SystemRandom()) { _, _, _, _ in }
        let introductions = Introductions(database: database)
        let request = try await fixture.request(.own)
        let client = request.returnAddress.client
        func code() async throws -> Bool {
            try await codes.issue(request, in: .signedIn(Self.user, "s", at: now), at: now) != nil
        }
        #expect(try await introductions.isDue(Self.user, to: client, in: "s"))
        #expect(try await !code())
        for _ in 1...2 { try await introductions.introduce(Self.user, to: client, at: now) }
        #expect(try await !introductions.isDue(Self.user, to: client, in: "s"))
        #expect(try await code())
        try await ConnectedApps(database: database, clock: clock, callbacks: .unheard, events: .unheard)
            .revoke(client.id, of: Self.user)
        #expect(try await !code())
        try await introductions.introduce(Self.user, to: client, at: now)
        try await TokenFamilies(database: database, callbacks: .unheard, events: .unheard)
            .disconnect(Self.user, from: fixture.merchant, at: now, by: commandLine)
        #expect(try await !code())
        try await database.write { db in
            try db.execute("UPDATE merchants SET skips_introduction = 1 WHERE id = \(fixture.merchant)")
        }
        #expect(try await code())
        await database.close()
    }

    @Test(
        "A merchant's deletion deletes its introductions to users; none is stored for an unknown merchant",
        arguments: Backend.available)
    func deleted(backend: Backend) async throws {
        let fixture = try await AuthorizationFixture(backend)
        let (database, now) = (fixture.database, fixture.clock.now)
        let users = (1...12).map { UserID(Int64($0)) }
        try await database.write { db in
            for user in users { try Users.insertLinked(user, email: nil, profile: [], at: now, in: db) }
        }
        func introduce(_ user: UserID, to merchant: Merchant.ID) async throws {
            try await database.write { db in try Introductions.introduce(user, to: merchant, at: now, in: db) }
        }
        for user in users { try await introduce(user, to: fixture.merchant) }
        func count() async throws -> Int {
            try await database.read { db in try db.rows("SELECT user_id FROM introductions").count }
        }
        #expect(try await count() == 12)
        var budget = BulkErasure.Budget.unlimited
        let erasure = BulkErasure(database: database, batch: 5)
        #expect(try await erasure.merchant(fixture.merchant, &budget, while: { _ in true }))
        #expect(try await count() == 0)
        try await introduce(users[0], to: Merchant.ID("nobody"))
        #expect(try await count() == 0)
        await database.close()
    }
}
