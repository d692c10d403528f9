import Cryptography
import Directory
import JSON
import Storage
import TestSupport
import Testing
import Values

@testable import OAuth

@Suite("Retention of token families")
struct TokenFamilyRetentionTests {
    @Test(
        "A token family that is not refreshed expires after 30 days and is deleted two weeks later",
        arguments: Backend.available)
    func unused(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        try await world.signIn()
        try await world.signIn(on: world.backend)
        world.clock.advance(by: .days(30) + TokenFamilies.memory - .hours(1))
        await sweepAll(world)
        #expect(try await families(world) == 2)
        world.clock.advance(by: .hours(2))
        await sweepAll(world)
        #expect(try await families(world) == 0)
        await world.database.close()
    }

    @Test(
        "A token family that is refreshed is kept, whether its refresh token rotates or stays the same",
        arguments: Backend.available)
    func used(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        var (rotated, kept) = (try await world.signIn(), try await world.signIn(on: world.backend))
        // In steps too small to be written, and in large ones.
        for step in [Duration](repeating: .hours(5), count: 40) + [Duration](repeating: .days(29), count: 10) {
            world.clock.advance(by: step)
            rotated = try await world.refresh(rotated)
            kept = try await world.refresh(kept, as: world.backend)
            await sweepAll(world)
            #expect(await world.isLive(rotated))
            #expect(await world.isLive(kept))
        }
        await world.database.close()
    }

    @Test("A token family is kept while its access token outlives its refresh token", arguments: Backend.available)
    func longAccess(backend: Backend) async throws {
        let world = try await TokenFixture(
            try await backend.open(),
            lifetimes: [
                .init("access_token_lifetime", 86_400), .init("refresh_token_lifetime", 3600),
            ])
        for client in [world.phone, world.backend] {
            let first = try await world.signIn(on: client)
            world.clock.advance(by: .minutes(59))
            let second = try await world.refresh(first, as: client)
            world.clock.advance(by: .hours(23))
            await sweepAll(world)
            #expect(await world.isLive(second))
        }
        await world.database.close()
    }

    @Test(
        "An ended token family is deleted after a week, and before it, in batches, its refresh tokens",
        arguments: Backend.available)
    func ended(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        var answer = try await world.signIn()
        for _ in 1...25 { answer = try await world.refresh(answer) }
        let live = try await world.signIn()
        let family = try #require(try await world.accessTokens.present(answer.accessToken).family)
        try await TokenFamilies(database: world.database, callbacks: .unheard, events: .unheard).logOut(
            family, at: world.clock.now)
        world.clock.advance(by: RefreshTokens.memory - .hours(1))
        await sweepAll(world)
        #expect(try await families(world) == 2)

        world.clock.advance(by: .hours(2))
        let retention = Retention(database: world.database)
        var largest = 0
        while true {
            let before = try await tokens(world)
            guard await retention.sweep(at: world.clock.now, batch: 10).gone > 0 else { break }
            largest = max(largest, before - (try await tokens(world)))
        }
        #expect(largest == 10, "the cascade of one permission took its tokens in one piece")
        #expect(try await families(world) == 1)
        #expect(try await tokens(world) == 1)
        #expect(try await world.refresh(live).refreshToken != nil)
        await world.database.close()
    }

    @Test(
        "A table that the sweeper cannot sweep does not delay the sweep of other tables",
        arguments: Backend.available)
    func starving(backend: Backend) async throws {
        let database = try await backend.open()
        try await database.write { db in
            for number in 1...25 {
                try db.execute("INSERT INTO throttles (name, theoretical_arrival) VALUES (\("n\(number)"), \(number))")
            }
        }
        let retention = Retention(database: Failing(base: database, table: "access_tokens"))
        let sweep = await retention.sweep(at: Timestamp(milliseconds: 1000 * 1000), batch: 10)
        #expect(sweep.failures.map(\.rule.name) == ["accessTokens"])
        #expect(sweep.gone == 10)
        #expect(sweep.behind.map(\.name) == ["throttles"], "a rule with a backlog runs again at once")
        let last = await retention.sweep(sweep.behind, at: Timestamp(milliseconds: 1000 * 1000), batch: 100)
        #expect(last.gone == 15 && last.behind.isEmpty && last.failures.isEmpty)
        await database.close()
    }

    private func families(_ world: TokenFixture) async throws -> Int {
        try await world.count("SELECT id FROM token_families")
    }

    private func tokens(_ world: TokenFixture) async throws -> Int {
        try await world.count("SELECT fingerprint FROM refresh_tokens")
    }

    private func sweepAll(_ world: TokenFixture) async {
        let retention = Retention(database: world.database)
        while await retention.sweep(at: world.clock.now).gone > 0 {}
    }

    @Test(
        "Beyond a thousand token families of a user at one client the oldest end, and no other client's",
        arguments: Backend.available)
    func oldest(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let now = world.clock.now
        // The bound is checked for one id in 256.
        let families = [(world.backend.id, 1...3), (world.phone.id, 1...1200)].flatMap { client, numbers in
            numbers.map { number in
                NewTokenFamily(
                    id: TokenFamily.ID("\(client.text.prefix(8))-\(number)-\(number == 1200 ? "00" : "01")"),
                    origin: .signIn(SignIn(at: now, by: .password)),
                    client: client, subject: Subject(user: world.user, signedInAt: now), scope: .empty,
                    request: AuthenticationRequest(), createdAt: now + .seconds(Int64(number)),
                    expiresAt: now + .days(30), isOfFrontChannel: false)
            }
        }
        try await world.database.write { db in for family in families { try TokenFamilies.store(family, in: db) } }
        let live = try await world.database.read { db in
            try db.rows(
                """
                SELECT client_id, count(*) AS families, min(created_at) AS oldest FROM token_families
                WHERE ended_at IS NULL AND user_id = \(world.user) GROUP BY client_id
                """
            ).map {
                (
                    try $0.get("client_id", as: Client.ID.self), try $0.get("families", as: Int.self),
                    try $0.get("oldest", as: Timestamp.self)
                )
            }
        }
        #expect(live.first { $0.0 == world.phone.id }?.1 == TokenFamilies.most)
        #expect(live.first { $0.0 == world.phone.id }?.2 == now + .seconds(201))
        #expect(live.first { $0.0 == world.backend.id }?.1 == 3)
        await world.database.close()
    }

    @Test(
        "A user's token families at a merchant's own clients are limited together; no others are ended",
        arguments: Backend.available)
    func inAll(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let (now, backend) = (world.clock.now, world.backend.id)
        let rival = try await world.merchants.create(["name": "Rival"], by: commandLine).id
        let metadata = try ClientMetadata(["redirect_uris": ["https://rival.example/back"]])
        let elsewhere = try await world.clients.register(metadata, merchant: rival, by: commandLine).client.id
        let own = try #require(try await world.clients.findLive(backend)).merchant
        let thirdParty = try ClientMetadata([
            "redirect_uris": ["https://stranger.example/back"], "first_party": false,
        ])
        let stranger = try await world.clients.register(thirdParty, merchant: own, by: commandLine).client.id
        @Sendable func family(_ id: String, _ client: Client.ID, at time: Timestamp) -> NewTokenFamily {
            NewTokenFamily(
                id: TokenFamily.ID(id), origin: .signIn(SignIn(at: now, by: .password)), client: client,
                subject: Subject(user: world.user, signedInAt: now), scope: .empty, request: AuthenticationRequest(),
                createdAt: time, expiresAt: now + .days(30), isOfFrontChannel: false)
        }
        try await world.database.write { db in
            for number in 1...40 {
                try TokenFamilies.store(family("\(number)-", backend, at: now + .seconds(Int64(number))), in: db)
            }
            // Twice as many, nine times.
            for round in 1...9 {
                try db.execute(
                    """
                    INSERT INTO token_families (id, path, client_id, user_id, scope, signed_in_at, created_at,
                        expires_at)
                    SELECT id || CAST(\("x\(round)") AS TEXT), id || CAST(\("x\(round)") AS TEXT), client_id, user_id,
                        scope, signed_in_at, created_at,
                        expires_at
                    FROM token_families
                    """)
            }
            try TokenFamilies.store(family("first", elsewhere, at: now), in: db)
            try TokenFamilies.store(family("second", stranger, at: now), in: db)
            // The bound is checked for one id in 256.
            try TokenFamilies.store(family("last-00", world.phone.id, at: now + .hours(1)), in: db)
        }
        let live = try await world.database.rows(
            "SELECT client_id, count(*) AS families FROM token_families WHERE ended_at IS NULL GROUP BY client_id")
        let counts = try live.map {
            (try $0.get("client_id", as: Client.ID.self), try $0.get("families", as: Int.self))
        }
        let others = [elsewhere, stranger]
        #expect(counts.filter { !others.contains($0.0) }.map(\.1).reduce(0, +) == TokenFamilies.mostAtMerchant)
        for other in others { #expect(counts.first { $0.0 == other }?.1 == 1, "older, and not the merchant's own") }
        await world.database.close()
    }

    @Test(
        "Of a user's token families at one client, a thousand ended and a thousand expired ones are kept",
        arguments: Backend.available)
    func forgotten(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let phone = try #require(try await world.clients.findLive(world.phone.id))
        let now = world.clock.now
        @Sendable func family(_ number: Int, expiresIn time: Duration) -> NewTokenFamily {
            NewTokenFamily(
                id: TokenFamily.ID("\(time.seconds)-\(number)-\(number % 250 == 0 ? "00" : "01")"),
                origin: .signIn(SignIn(at: now, by: .password)),
                client: world.phone.id, subject: Subject(user: world.user, signedInAt: now), scope: .empty,
                request: AuthenticationRequest(), createdAt: now + .seconds(Int64(number)),
                expiresAt: now + .seconds(Int64(number)) + time, isOfFrontChannel: false)
        }
        for time: Duration in [.zero, .days(30)] {
            try await world.database.write { db in
                for number in 1...2500 {
                    let family = family(number, expiresIn: time)
                    try TokenFamilies.store(family, in: db)
                    // An expired token whose family's refresh token lives: it stays, with its family.
                    guard time != .zero || number == 1 else { continue }
                    try db.execute(
                        RefreshTokens.insertion(
                            of: Fingerprint(of: family.id.text), family, client: phone, at: now, when: nil))
                }
            }
        }
        let (live, ended, expired) = try await world.database.read { db in
            let rows = try db.rows("SELECT ended_at, expires_at FROM token_families WHERE user_id = \(world.user)")
            let ended = try rows.count { try $0.get("ended_at", as: Timestamp?.self) != nil }
            let expired = try rows.count { try $0.get("expires_at", as: Timestamp.self) < now + .days(1) }
            return (rows.count - ended - expired, ended, expired)
        }
        #expect(live == 1000 && ended == 1000 && expired == 1001)
        #expect(try await world.count("SELECT fingerprint AS id FROM refresh_tokens") == 2001)
        await world.database.close()
    }

    @Test("An access token that can be refreshed lives a day at most")
    func longLived() async throws {
        let world = try await TokenFixture(try await Backend.sqlite.open())
        // As a client may still have it that had it before it could refresh.
        try await world.database.write { db in
            _ = try db.execute("UPDATE clients SET access_token_lifetime = \(Duration.days(365).milliseconds)")
        }
        world.clock.advance(by: .seconds(2))
        let first = try await world.signIn()
        #expect(first.lifetime == .days(1))
        for _ in 1...3 { #expect(try await world.refresh(first).lifetime == .days(1)) }
        world.clock.advance(by: .days(1))
        #expect(await !world.isLive(first))
        await world.database.close()
    }

    @Test("A token family keeps a thousand refresh tokens at most", arguments: Backend.available)
    func refreshed(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let phone = try #require(try await world.clients.findLive(world.phone.id))
        let now = world.clock.now
        let family = NewTokenFamily(
            id: "family", origin: .signIn(SignIn(at: now, by: .password)), client: world.phone.id,
            subject: Subject(user: world.user, signedInAt: now),
            scope: .empty, request: AuthenticationRequest(), createdAt: now, expiresAt: now + .days(30),
            isOfFrontChannel: false)
        let last = Secret<RefreshToken>.ordered(at: now + .days(1), from: SystemRandom())
        try await world.database.write { db in
            try TokenFamilies.store(family, in: db)
            for number in 1...1500 {
                let token = Secret<RefreshToken>.ordered(at: now + .seconds(Int64(number)), from: SystemRandom())
                try db.execute(
                    RefreshTokens.insertion(of: token.fingerprint, family, client: phone, at: now, when: nil))
            }
            try db.execute(
                RefreshTokens.insertion(of: last.fingerprint, family, client: phone, at: now, when: nil))
            try RefreshTokens.forgetOldest(of: family.id, in: db)
        }
        #expect(try await world.count("SELECT fingerprint AS id FROM refresh_tokens") == 1000)
        #expect(
            try await world.count(
                "SELECT fingerprint AS id FROM refresh_tokens WHERE fingerprint = \(last.fingerprint)")
                == 1)
        await world.database.close()
    }

    @Test("A user's expired token families do not count against the limit of live ones", arguments: Backend.available)
    func expired(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let now = world.clock.now
        // A phone's family, then those of a page that renews its tokens for weeks.
        let families = (1...1200).map { number in
            NewTokenFamily(
                id: TokenFamily.ID("family-\(number)-\(number == 1200 ? "00" : "01")"),
                origin: .signIn(SignIn(at: now, by: .password)),
                client: world.phone.id, subject: Subject(user: world.user, signedInAt: now), scope: .empty,
                request: AuthenticationRequest(), createdAt: now + .hours(Int64(number)),
                expiresAt: now + .hours(Int64(number)) + (number == 1 ? .days(365) : .minutes(30)),
                isOfFrontChannel: false)
        }
        try await world.database.write { db in for family in families { try TokenFamilies.store(family, in: db) } }
        let ended = try await world.count("SELECT id FROM token_families WHERE ended_at IS NOT NULL")
        #expect(ended == 0)
        await world.database.close()
    }

    @Test("At most a thousand ended sessions of a user are kept", arguments: Backend.available)
    func endedSessions(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let (user, now) = (world.user, world.clock.now)
        @Sendable func open(_ id: String, in db: any Transaction) throws {
            let opening = Session.Opening(
                id: Session.ID(id), secret: .random(from: SystemRandom()), userAgent: "", address: "192.0.2.1",
                method: .mail)
            try Sessions.begin(
                opening, user: user, replacing: nil, at: now, in: db, UserEvents.unheard.announcement(at: now))
        }
        // Beyond a hundred live ones, each ends another.
        try await world.database.write { db in for number in 1...1300 { try open("\(number)-01", in: db) } }
        try await world.database.write { db in try open("00", in: db) }
        let (live, ended) = try await world.database.read { db in
            let rows = try db.rows("SELECT ended_at FROM sessions WHERE user_id = \(user)")
            let ended = try rows.count { try $0.get("ended_at", as: Timestamp?.self) != nil }
            return (rows.count - ended, ended)
        }
        #expect(live == 100 && ended == 1000)
        await world.database.close()
    }
}

/// Refuses every statement on one table.
private struct Failing: Database {
    let base: any Database
    let table: String

    func read<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value {
        try await base.read(work)
    }

    func write<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value {
        let table = table
        return try await base.write { db in try work(FailingTransaction(base: db, table: table)) }
    }

    func close() async { await base.close() }
}

private struct FailingTransaction: Transaction {
    let base: any Transaction
    let table: String

    func rows(_ sql: SQL) throws -> [Row] { try base.rows(sql) }

    func execute(_ sql: SQL) throws -> Int {
        guard !sql.text.contains(" \(table) ") else { throw StorageError.unavailable("a damaged index") }
        return try base.execute(sql)
    }
}

extension TokenFamilies {
    /// Stores the family, and announces no ends.
    fileprivate static func store(_ family: NewTokenFamily, in db: any Transaction) throws {
        try store(family, telling: Callbacks.unheard.announcement(at: family.createdAt), in: db)
    }
}
