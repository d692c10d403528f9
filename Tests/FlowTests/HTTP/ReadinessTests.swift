import Cryptography
import Keys
import Storage
import TestSupport
import Testing
import Values

@Suite("Readiness")
struct ReadinessTests {
    @Test("a server is ready whose database was resealed under another master key", arguments: Backend.available)
    func resealed(backend: Backend) async throws {
        try await TestServer.with(backend) { server in
            #expect(try await server.get("/readyz").status == 200)
            let other = MasterKey.random(from: SystemRandom())
            try await server.database.write { db in try MasterKeyCheck(other).store(in: db) }
            #expect(try await server.get("/readyz").status == 503)
            #expect(try await server.get("/healthz").status == 200)
        }
    }

    @Test("keys that were resealed beside a running server are a fault of its program", arguments: Backend.available)
    func resealedKeys(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.server.reseal()
            world.server.clock.advance(by: .hours(1))
            for answer in [try await world.server.get("/oauth/jwks"), try await world.signIn(scope: "openid")] {
                #expect(answer.status == 503 && answer.error == "temporarily_unavailable", "\(answer)")
            }
        }
    }

    @Test(
        "a refresh token's successor is sealed under a key that the database no longer has",
        arguments: Backend.available)
    func resealedRefresh(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("refresh_token")
            let other = MasterKey.random(from: SystemRandom())
            try await world.server.database.write { db in try MasterKeyCheck(other).store(in: db) }
            let answer = try await world.refresh(token)
            #expect(answer.status == 503 && answer.error == "temporarily_unavailable", "\(answer)")
            let sealed = try await world.server.database.read { db in
                try db.rows("SELECT fingerprint FROM refresh_tokens WHERE sealed_successor IS NOT NULL").count
            }
            #expect(sealed == 0)
        }
    }

    @Test(
        "an ID token that comes with a request is sealed under a key that the database no longer has",
        arguments: Backend.available)
    func resealedHint(backend: Backend) async throws {
        try await World.with(backend) { world in
            let hint = try await world.signIn(scope: "openid").require("id_token")
            let other = MasterKey.random(from: SystemRandom())
            try await world.server.database.write { db in try MasterKeyCheck(other).store(in: db) }
            var browser = Browser(world.server)
            let answer = try await browser.open(world.authorizeAddress(["id_token_hint": hint]))
            #expect(answer.status == 503, "\(answer)")
            #expect(try await world.server.database.rows("SELECT fingerprint FROM interactions").isEmpty)
            #expect(try await browser.open(world.authorizeAddress()).status == 200)
        }
    }
}
