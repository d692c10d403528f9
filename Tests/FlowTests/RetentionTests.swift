import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("The sweep deletes only rows that are of no use any more")
struct RetentionTests {
    @Test("The sweep deletes expired rows and leaves live ones", arguments: Backend.available)
    func sweep(backend: Backend) async throws {
        try await World.with(backend) { world in
            let old = try await world.signIn()
            _ = try await world.redeem(try await world.code(of: old), as: world.backend)
            try await world.revoke(world.backend)
            _ = try await world.server.get("/auth/session/\(try await world.sessionCode(of: old))")
            _ = try await world.authorizationCode()
            _ = try await world.signIn(password: "a guess")
            let empty = try await sizes(world)
            #expect(empty.values.allSatisfy { $0 > 0 }, "\(empty)")

            world.server.clock.advance(by: .days(400))
            let live = try await world.signIn()
            let code = try await world.code(of: live)
            try await sweepAll(world)
            let left = try await sizes(world)
            #expect(left["access_tokens"] == 1)
            #expect(left["refresh_tokens"] == 1)
            #expect(left["token_families"] == 1)
            #expect(left["exchange_codes"] == 0)
            #expect(left["exchange_code_ends"] == 0)
            #expect(left["authorization_codes"] == 0)
            #expect(left["sessions"] == 0)
            #expect(try await world.isLive(try live.require("access_token")))
            #expect(try await world.redeem(code, as: world.backend).status == 200)
            #expect(try await world.refresh(try live.require("refresh_token")).status == 200)
        }
    }

    @Test(
        "The sweep keeps a redeemed code, so that its replay still ends the tokens that it gave",
        arguments: Backend.available)
    func spentCode(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            let own = try await world.redeem(code, as: world.backend)
            world.server.clock.advance(by: .minutes(50))
            try await sweepAll(world)
            #expect(try await world.redeem(code, as: world.backend).error == "invalid_grant")
            let refreshed = try await world.refresh(try own.require("refresh_token"), as: world.backend)
            #expect(refreshed.error == "invalid_grant")
        }
    }

    @Test(
        "The sweep deletes unredeemed codes minutes after they expired, and a nonce over 512 bytes is refused",
        arguments: Backend.available)
    func unspent(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.authorizationCode()
            _ = try await world.sessionCode(of: try await world.signIn())
            let before = try await sizes(world)
            #expect(before["authorization_codes"] == 1 && before["exchange_codes"] == 1)
            world.server.clock.advance(by: .minutes(3))
            try await sweepAll(world)
            let after = try await sizes(world)
            #expect(after["authorization_codes"] == 0 && after["exchange_codes"] == 0)

            var browser = Browser(world.server)
            let nonce = String(repeating: "n", count: 513)
            let long = try await browser.open(world.authorizeAddress(["nonce": nonce, "scope": "openid"]))
            #expect(long.redirected("error") == "invalid_request", "\(long)")
        }
    }

    @Test("A refresh token in use survives every sweep of a year", arguments: Backend.available)
    func refreshing(backend: Backend) async throws {
        try await World.with(backend) { world in
            var token = try await world.signIn().require("refresh_token")
            for _ in 1...12 {
                world.server.clock.advance(by: .days(29))
                try await sweepAll(world)
                let answer = try await world.refresh(token)
                token = try answer.require("refresh_token")
                #expect(try await world.isLive(try answer.require("access_token")))
            }
        }
    }

    @Test(
        "The sweep keeps a rotated refresh token while its family may live, so that a replay ends the family",
        arguments: Backend.available)
    func rotated(backend: Backend) async throws {
        try await World.with(backend) { world in
            let first = try await world.signIn().require("refresh_token")
            let second = try await world.refresh(first)
            #expect(try await world.isLive(try second.require("access_token")))
            world.server.clock.advance(by: .days(29))
            let third = try await world.refresh(try second.require("refresh_token"))
            world.server.clock.advance(by: .days(5))
            try await sweepAll(world)
            #expect(try await world.refresh(first).error == "invalid_grant")
            #expect(try await world.refresh(try third.require("refresh_token")).error == "invalid_grant")
        }
    }

    @Test("A sweep deletes no more rows at once than its batch size", arguments: Backend.available)
    func batches(backend: Backend) async throws {
        let database = try await backend.open()
        try await database.write { db in
            for number in 1...25 {
                try db.execute(
                    "INSERT INTO throttles (name, theoretical_arrival) VALUES (\("name-\(number)"), \(number))")
            }
        }
        let retention = Retention(database: database)
        let now = Timestamp(milliseconds: 1000 * 1000)
        #expect(await retention.sweep(at: now, batch: 10).gone == 10)
        #expect(await retention.sweep(at: now, batch: 10).gone == 10)
        #expect(await retention.sweep(at: now, batch: 10).gone == 5)
        #expect(await retention.sweep(at: now, batch: 10).gone == 0)
        await database.close()
    }

    private func sweepAll(_ world: World) async throws {
        let retention = Retention(database: world.server.database)
        while await retention.sweep(at: world.server.clock.now, batch: 3).gone > 0 {}
    }

    private func sizes(_ world: World) async throws -> [String: Int] {
        try await world.server.database.read { db in
            [
                "access_tokens": try db.rows("SELECT fingerprint FROM access_tokens").count,
                "refresh_tokens": try db.rows("SELECT fingerprint FROM refresh_tokens").count,
                "token_families": try db.rows("SELECT id FROM token_families").count,
                "authorization_codes": try db.rows("SELECT fingerprint FROM authorization_codes").count,
                "exchange_codes": try db.rows("SELECT fingerprint FROM exchange_codes").count,
                "exchange_code_ends": try db.rows("SELECT user_id FROM exchange_code_ends").count,
                "sessions": try db.rows("SELECT id FROM sessions").count,
                "throttles": try db.rows("SELECT name FROM throttles").count,
            ]
        }
    }
}
