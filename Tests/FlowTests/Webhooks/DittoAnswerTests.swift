import JSON
import TestSupport
import Testing
import Values

@Suite("Ditto's requests in both shapes, and their answers")
struct DittoAnswerTests {
    @Test("both request shapes get the exact answer", arguments: Backend.available)
    func shapes(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(
                world, ["client_info": ["region": "north"], "identity_service_metadata": ["fleet": "cars"]])
            let token = try await ditto.token()
            let old = try await ditto.ask(token)
            expectAdmitted(old, as: world.user, for: 3600)
            let own = JSON.string("_id.owner == '\(world.user)'")
            let expected: JSON = [
                "authenticated": true, "authenticate": true, "userID": .string(world.user), "expirationSeconds": 3600,
                "permissions": [
                    "read": ["everything": false, "queriesByCollection": ["cars": [own, "_id.sold == true"]]],
                    "write": ["everything": false, "queriesByCollection": ["cars": [own]]], "remoteQuery": false,
                ],
                "clientInfo": ["region": "north"], "userInfo": ["region": "north"],
                "identityServiceMetadata": ["fleet": "cars"],
            ]
            #expect(old.json == expected)
            for version: JSON in ["1", .null] {
                let new = try await ditto.ask(
                    token, ["appID": .null, "databaseID": .string(DittoStory.app), "version": version])
                #expect(new.json == expected)
            }
            #expect(try await ditto.ask(token, ["more": ["of": "it"]]).json == expected)
        }
    }

    @Test("a plain answer holds only what was configured", arguments: Backend.available)
    func plain(backend: Backend) async throws {
        try await World.with(backend) { world in
            let everything: JSON = ["everything": true, "queriesByCollection": [:]]
            let ditto = try await DittoStory(world, ["permissions": ["read": everything, "write": everything]])
            let answer = try await ditto.ask(try await ditto.token())
            expectAdmitted(answer, as: world.user)
            #expect(answer.json["permissions"] == ["read": everything, "write": everything])
            for member in ["clientInfo", "userInfo", "identityServiceMetadata"] { #expect(answer.json[member] == nil) }
            for secret in [World.email, "Ada"] { #expect(!answer.body.contains(secret)) }
        }
    }

    @Test("an answer is valid as long as the token lives, and no longer than configured", arguments: Backend.available)
    func expiration(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            let token = try await ditto.token()
            expectAdmitted(try await ditto.ask(token), as: world.user, for: 3600)
            world.server.clock.advance(by: .seconds(3000))
            expectAdmitted(try await ditto.ask(token), as: world.user, for: 600)
            try await ditto.change(["expiration_seconds": 60])
            expectAdmitted(try await ditto.ask(token), as: world.user, for: 60)
            world.server.clock.advance(by: .seconds(599))
            expectAdmitted(try await ditto.ask(token), as: world.user, for: 1)
            // Never for no time at all, which could be read as for ever.
            world.server.clock.advance(by: .milliseconds(1))
            expectRefused(try await ditto.ask(token))
        }
    }

    @Test("a webhook may answer its own period, whatever the token's rest", arguments: Backend.available)
    func ownPeriod(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world, ["expiration": "own", "expiration_seconds": 86_400])
            let shown = try await world.server.get("/admin/v1/webhooks/\(ditto.id)", bearer: world.admin)
            #expect(shown.json["expiration"] == "own")
            for wrong: JSON in ["never", 7, true] {
                expectProblem(try await ditto.change(["expiration": wrong]), 400, member: "expiration")
            }
            let back = try await ditto.change(["expiration": .null])
            #expect(back.json["expiration"] == "token")
            let token = try await ditto.token()
            expectAdmitted(try await ditto.ask(token), as: world.user, for: 3600)
            try await ditto.change(["expiration": "own"])
            for _ in 1...2 {
                expectAdmitted(try await ditto.ask(token), as: world.user, for: 86_400)
                world.server.clock.advance(by: .seconds(1799))
            }
            // A dead token admits nobody all the same.
            world.server.clock.advance(by: .seconds(2))
            expectRefused(try await ditto.ask(token))
        }
    }

    @Test(
        "the same request gets the same answer, and confirms a rotation like any use", arguments: Backend.available)
    func again(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            let phone = try await world.signIn(scope: "profile")
            let refreshed = try await world.refresh(try phone.require("refresh_token"))
            let token = try refreshed.require("access_token")
            let first = try await ditto.ask(token)
            #expect(try await ditto.ask(token).json == first.json)
            // The old refresh token is a replay from here on: the family ends, and with it what Ditto is told.
            #expect(try await world.refresh(try phone.require("refresh_token")).error == "invalid_grant")
            expectRefused(try await ditto.ask(token))
        }
    }

    @Test("a configured provider, app or database must be named, exactly", arguments: Backend.available)
    func elsewhere(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(
                world, ["provider": "my-auth", "database_id": .string(DittoStory.app)])
            let token = try await ditto.token()
            expectAdmitted(try await ditto.ask(token), as: world.user)
            expectAdmitted(
                try await ditto.ask(token, ["appID": .null, "databaseID": .string(DittoStory.app)]), as: world.user)
            let others: [KeyValuePairs<String, JSON>] = [
                ["provider": "My-Auth"], ["provider": "my-auth "], ["appID": .string(DittoStory.app.uppercased())],
                ["appID": .null, "databaseID": "another"],
            ]
            for other in others { expectRefused(try await ditto.ask(token, other), "access_denied") }
            #expect(world.server.log.says("ditto_provider"))
            #expect(world.server.log.says("ditto_database"))
        }
    }

    @Test("a refusal has the configured status", arguments: Backend.available)
    func status(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            expectRefused(try await ditto.ask("nobody"))
            for status in [401, 403, 200] {
                try await ditto.change(["refusal_status": .integer(Int64(status))])
                expectRefused(try await ditto.ask("nobody"), status: status)
                expectAdmitted(try await ditto.ask(try await ditto.token()), as: world.user)
            }
        }
    }
}
