import Cryptography
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Initial access tokens")
struct InitialAccessTokenTests {
    @Test(
        "An administrator creates, lists and deletes initial access tokens, whose value is shown only once",
        arguments: Backend.available)
    func administered(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await World.make(
                world.server, world.admin, "initial-access-tokens",
                ["merchant_id": .string(world.merchant), "expires_in": 3600])
            #expect(made.status == 201)
            #expect(made.json["expires_at"]?.integer == world.server.clock.now.seconds + 3600)
            let (id, value) = (try made.require("id"), try made.require("initial_access_token"))
            #expect(try await world.sendRegistration(with: value).status == 201)
            let path = "/admin/v1/initial-access-tokens"
            let listed = try await world.server.get(path, bearer: world.admin)
            let shown = try await world.server.get("\(path)/\(id)", bearer: world.admin)
            #expect(listed.json["items"]?.array?.first == shown.json && shown.json["registrations"] == 1)
            #expect(!listed.body.contains(value) && !shown.body.contains(value))
            #expect(try await world.server.send("DELETE", "\(path)/\(id)", bearer: world.admin).status == 204)
            #expect(try await world.server.get("\(path)/\(id)", bearer: world.admin).status == 404)
            #expect(try await world.server.send("DELETE", "\(path)/\(id)", bearer: world.admin).status == 404)
            try await expect(401, "invalid_token", try await world.sendRegistration(with: value))
        }
    }

    @Test(
        "A merchant's administrator sees and makes initial access tokens for that merchant only",
        arguments: Backend.available)
    func confined(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.confidential([
                "scope": "admin:merchant", "grant_types": ["client_credentials"],
            ])
            let token = try await world.clientToken(own, scope: "admin:merchant")
            let kind = "initial-access-tokens"
            let made = try await World.make(world.server, token, kind, [:])
            #expect(made.json["merchant_id"]?.string == world.merchant)
            let foreign = try await World.make(world.server, token, kind, ["merchant_id": .string(world.rival)])
            #expect(foreign.status == 403)
            let rival = try await World.make(world.server, world.admin, kind, ["merchant_id": .string(world.rival)])
            let path = "/admin/v1/\(kind)/\(try rival.require("id"))"
            #expect(try await world.server.get(path, bearer: token).status == 404)
            #expect(try await world.server.send("DELETE", path, bearer: token).status == 404)
            let listed = try await world.server.get("/admin/v1/\(kind)", bearer: token)
            #expect(listed.json["items"]?.array?.count == 1)
            let whole = try await world.server.get("/admin/v1/\(kind)?limit=1", bearer: world.admin)
            #expect(whole.json["next"]?.string != nil)
            let answer = try await world.server.get(
                "/admin/v1/\(kind)", bearer: try await world.clientToken(world.backend))
            #expect(answer.status == 403)
        }
    }

    @Test("Creating an initial access token needs an existing merchant, and a lifetime and count within bounds")
    func refused() async throws {
        try await World.with(.sqlite) { world in
            for (member, json): (String, JSON) in [
                ("merchant_id", [:]), ("merchant_id", ["merchant_id": "nobody"]),
                ("expires_in", ["merchant_id": .string(world.merchant), "expires_in": 59]),
                ("expires_in", ["merchant_id": .string(world.merchant), "expires_in": "1h"]),
                ("expires_in", ["merchant_id": .string(world.merchant), "expires_in": 31_536_001]),
                ("max_registrations", ["merchant_id": .string(world.merchant), "max_registrations": 0]),
                ("max_registrations", ["merchant_id": .string(world.merchant), "max_registrations": 1001]),
            ] {
                let answer = try await World.make(world.server, world.admin, "initial-access-tokens", json)
                #expect(answer.status == 400 && answer.json["member"]?.string == member, "\(json): \(answer)")
            }
        }
    }

    @Test(
        "One initial access token registers a thousand clients at most, also by concurrent requests",
        arguments: Backend.available)
    func exhausted(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.initialToken()
            try await world.server.database.write { db in
                _ = try db.execute("UPDATE initial_access_tokens SET registrations = 998")
            }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<6 { group.addTask { try await world.sendRegistration(with: token).status } }
                return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [201: 2, 429: 4])
            let made = try await world.server.database.read { db in
                try db.rows("SELECT id FROM clients WHERE registration_token IS NOT NULL").count
            }
            #expect(made == 2)
        }
    }

    @Test("An initial access token registers at most max_registrations clients", arguments: Backend.available)
    func few(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await World.make(
                world.server, world.admin, "initial-access-tokens",
                ["merchant_id": .string(world.merchant), "max_registrations": 2])
            #expect(made.json["max_registrations"] == 2, "\(made)")
            let token = try made.require("initial_access_token")
            for status in [201, 201, 429] {
                #expect(try await world.sendRegistration(with: token).status == status)
            }
            #expect(try await world.sendRegistration(with: try await world.initialToken()).status == 201)
        }
    }
}
