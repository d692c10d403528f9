import Directory
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Revoking a backend voids its codes")
struct RevokedCodeTests {
    @Test(
        "Revoking a backend voids its exchange codes so far, but no later ones and none of other backends",
        arguments: Backend.available)
    func revoked(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let other = try await world.confidential([:])
            let (code, others) = (try await world.code(of: phone), try await world.code(of: phone, at: other))
            try await world.revoke(world.backend)
            #expect(try await world.redeem(code, as: world.backend).error == "invalid_grant")
            #expect(world.server.log.says("code_expired_or_source_ended"))
            #expect(try await world.redeem(others, as: other).status == 200)

            world.server.clock.advance(by: .milliseconds(1))
            #expect(try await world.redeem(try await world.code(of: phone), as: world.backend).status == 200)
        }
    }

    @Test(
        "When one user revokes a backend, another user's exchange code for it stays valid",
        arguments: Backend.available)
    func anotherUser(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("grace@example.com")
            let graces = try await world.signIn(as: "grace@example.com")
            let code = try await world.code(of: graces)
            try await world.revoke(world.backend)
            #expect(try await world.redeem(code, as: world.backend).status == 200)
        }
    }

    @Test(
        "An exchange code redeemed while its backend is being revoked leaves no live token",
        arguments: Backend.available)
    func race(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            for _ in 1...20 {
                let code = try await world.code(of: phone)
                async let revoked: Void = world.revoke(world.backend)
                async let redeemed = world.redeem(code, as: world.backend)
                let answer = try await redeemed
                try await revoked
                // Either order is right; but the tokens of a redemption that came first have ended.
                if answer.status == 200 {
                    #expect(try await !world.isLive(try answer.require("access_token")))
                }
                world.server.clock.advance(by: .milliseconds(1))
            }
        }
    }
}

@Suite("The text of a code for a backend")
struct CodeTextTests {
    @Test("An exchange code with any character altered is refused", arguments: Backend.available)
    func altered(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            for place in stride(from: 0, to: code.utf8.count, by: 7) {
                var bytes = Array(code.utf8)
                bytes[place] = bytes[place] == UInt8(ascii: "b") ? UInt8(ascii: "c") : UInt8(ascii: "b")
                let answer = try await world.redeem(String(decoding: bytes, as: UTF8.self), as: world.backend)
                #expect(answer.error == "invalid_grant", "byte \(place)")
            }
            for wrong in [String(code.dropLast()), code + "A", code + "=", code.uppercased(), String(code.prefix(28))] {
                #expect(try await world.redeem(wrong, as: world.backend).error == "invalid_grant")
            }
            #expect(try await world.redeem(code, as: world.backend).status == 200)
        }
    }

    @Test(
        "A redeemed exchange code in another base64url spelling is the same code, and is refused",
        arguments: Backend.available)
    func spelling(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            #expect(try await world.redeem(code, as: world.backend).status == 200)
            // The last digit of base64url may have bits that mean nothing.
            let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
            for digit in digits {
                let answer = try await world.redeem(String(code.dropLast()) + String(digit), as: world.backend)
                #expect(answer.error == "invalid_grant", "\(digit)")
            }
        }
    }

    @Test(
        "Exchange codes of one moment differ, have under 255 bytes, and are stored only once redeemed",
        arguments: Backend.available)
    func sealed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let (one, other) = (try await world.code(of: phone), try await world.code(of: phone))
            #expect(one != other)
            #expect(one.prefix(28) != other.prefix(28))
            #expect(one.utf8.count < 255, "\(one.utf8.count): a backend may keep it in a column of that width")
            #expect(try await world.spentCodes() == 0)
            #expect(try await world.redeem(one, as: world.backend).status == 200)
            #expect(try await world.spentCodes() == 1)
        }
    }

    @Test("An exchange code replayed two hours later ends no tokens", arguments: Backend.available)
    func late(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            let got = try await world.redeem(code, as: world.backend)
            world.server.clock.advance(by: .hours(2))
            #expect(try await world.redeem(code, as: world.backend).error == "invalid_grant")
            #expect(try await world.refresh(try got.require("refresh_token"), as: world.backend).status == 200)
        }
    }

    @Test(
        "A redeemed exchange code is refused even after ended token families of its user are deleted",
        arguments: Backend.available)
    func forgotten(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let code = try await world.code(of: phone)
            let first = try await world.redeem(code, as: world.backend)
            let token = [("token", try first.require("refresh_token"))]
            #expect(try await world.server.post("/oauth/revoke", form: token, basic: world.backend.basic).status == 200)
            let now = world.server.clock.now
            // Many ended families, which a redemption now and then deletes.
            try await world.server.database.write { db in
                _ = try db.execute(
                    """
                    INSERT INTO token_families (id, path, client_id, user_id, scope, signed_in_at, created_at,
                        expires_at, ended_at)
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
                    SELECT 'made-' || i, 'made-' || i, CAST(\(world.backend.id) AS TEXT),
                        CAST(\(Int64(world.user)) AS BIGINT), '',
                        CAST(0 AS BIGINT), CAST(\(now - .days(1)) AS BIGINT), CAST(\(now + .days(30)) AS BIGINT),
                        CAST(\(now + .seconds(1)) AS BIGINT) FROM n
                    """)
            }
            func made() async throws -> Int {
                try await world.server.database.rows("SELECT id FROM token_families WHERE id LIKE 'made-%'").count
            }
            // One redemption in 256 deletes ended families.
            var tries = 0
            while try await made() == 1500, tries < 4000 {
                _ = try await world.redeem(try await world.code(of: phone), as: world.backend)
                tries += 1
            }
            #expect(try await made() < 1500)
            #expect(try await world.redeem(code, as: world.backend).error == "invalid_grant")
        }
    }
}

extension World {
    fileprivate func code(of phone: Answer, at receiver: Actor) async throws -> String {
        try await exchange(try phone.require("access_token"), for: receiver).require("code")
    }

    /// Ada takes `client`'s access away.
    func revoke(_ client: Actor) async throws {
        let apps = ConnectedApps(database: server.database, clock: server.clock, callbacks: .unheard, events: .unheard)
        try await apps.revoke(Client.ID(client.id), of: try #require(UserID(user)))
    }

    fileprivate func spentCodes() async throws -> Int {
        #expect(try await server.database.rows("SELECT fingerprint FROM exchange_codes").isEmpty)
        return try await server.database.rows("SELECT id FROM token_families WHERE redeemed_by IS NOT NULL").count
    }
}
