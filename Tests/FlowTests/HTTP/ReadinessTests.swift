import Cryptography
import Keys
import Logging
import Storage
import TestSupport
import Testing
import Values

@Suite("A server is ready while its database, schema, key and disk are")
struct ReadinessTests {
    @Test("A server whose database was resealed under another master key is not ready", arguments: Backend.available)
    func resealed(backend: Backend) async throws {
        try await TestServer.with(backend) { server in
            let ready = try await server.get("/readyz")
            #expect(ready.status == 200)
            #expect(ready.body == Self.body("ready", ["ok", "ok", "ok", "ok"]))
            let other = MasterKey.random(from: SystemRandom())
            try await server.database.write { db in try MasterKeyCheck(other).store(in: db) }
            let answer = try await server.get("/readyz")
            #expect(answer.status == 503)
            #expect(answer.header("retry-after") == "1")
            #expect(answer.body == Self.body("not_ready", ["ok", "ok", "another", "not checked"]))
            let line = try #require(server.log.records(of: answer).first)
            #expect(line.message == "not ready" && line.metadata["check"] == "key" && line.level == .error)
            #expect(try await server.get("/healthz").status == 200)
        }
    }

    private static func body(_ status: String, _ checks: [String]) -> String {
        let members = zip(["database", "schema", "key", "disk"], checks).map { "\"\($0)\":\"\($1)\"" }
        return #"{"status":"\#(status)","checks":{\#(members.joined(separator: ","))}}"#
    }

    @Test("A server whose database lacks a step of the schema is not ready", arguments: Backend.available)
    func lackingStep(backend: Backend) async throws {
        try await TestServer.with(backend) { server in
            let newest = try await server.database.write { db in
                let row = try db.rows(
                    "SELECT version, name, checksum, applied_at FROM schema_steps ORDER BY version DESC LIMIT 1"
                ).first
                try db.execute("DELETE FROM schema_steps WHERE version = \(row?.get("version", as: Int64.self) ?? 0)")
                return try row.map {
                    (
                        version: try $0.get("version", as: Int64.self), name: try $0.get("name", as: String.self),
                        checksum: try $0.get("checksum", as: String.self), at: try $0.get("applied_at", as: Int64.self)
                    )
                }
            }
            let answer = try await server.get("/readyz")
            #expect(answer.status == 503)
            #expect(answer.body == Self.body("not_ready", ["ok", "lacks a step", "not checked", "not checked"]))
            // The next test gets the same database.
            let step = try #require(newest)
            try await server.database.write { db in
                try db.execute(
                    """
                    INSERT INTO schema_steps (version, name, checksum, applied_at)
                    VALUES (\(step.version), \(step.name), \(step.checksum), \(step.at))
                    """)
            }
            #expect(try await server.get("/readyz").status == 200)
        }
    }

    @Test(
        "A server is not ready on a database that an unreleased version of Spindle made",
        arguments: Backend.available)
    func anotherStep(backend: Backend) async throws {
        try await TestServer.with(backend) { server in
            let text = "substituted"
            let old = try await server.database.rows("SELECT checksum FROM schema_steps WHERE version = 1").first
            try await server.database.change("UPDATE schema_steps SET checksum = \(text) WHERE version = 1")
            let answer = try await server.get("/readyz")
            #expect(answer.status == 503)
            #expect(answer.body == Self.body("not_ready", ["ok", "lacks a step", "not checked", "not checked"]))
            #expect(server.log.says("an unreleased version of Spindle made it"))
            // The next test gets the same database.
            let checksum = try #require(try old?.get("checksum", as: String.self))
            try await server.database.change("UPDATE schema_steps SET checksum = \(checksum) WHERE version = 1")
            #expect(try await server.get("/readyz").status == 200)
        }
    }

    @Test(
        "A running server whose keys were resealed answers 503 for its key set and for tokens",
        arguments: Backend.available)
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
        "Once the database has another master key, a refresh gets 503 and stores nothing",
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
        "Once the database has another master key, an authorization request with an id_token_hint gets 503",
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
