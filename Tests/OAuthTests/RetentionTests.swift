import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Retention of token families")
struct TokenFamilyRetentionTests {
    @Test("A token family that is not refreshed is deleted long before its year is over", arguments: Backend.available)
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

    @Test("A token family in use is kept, whether its token rotates or stays", arguments: Backend.available)
    func used(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        var (rotated, kept) = (try await world.signIn(), try await world.signIn(on: world.backend))
        // In small steps, each below what is worth a write, and in large ones.
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

    @Test("An access token that outlives its refresh token keeps its family", arguments: Backend.available)
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
        "An ended token family is deleted after a week, its many tokens in batches before it",
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

    @Test("A table that cannot be swept does not delay the others", arguments: Backend.available)
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
        #expect(sweep.behind.map(\.name) == ["throttles"], "whoever has a backlog is asked again at once")
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
