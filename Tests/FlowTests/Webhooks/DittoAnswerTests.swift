import JSON
import TestSupport
import Testing
import Values

@Suite("Ditto's webhook answers requests in both shapes, and refuses malformed ones")
struct DittoAnswerTests {
    @Test(
        "Ditto's request gets the same answer with appID as with databaseID, whatever members it adds",
        arguments: Backend.available)
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

    @Test(
        "An answer to Ditto has the configured permissions, and no optional member that is not configured",
        arguments: Backend.available)
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

    @Test(
        "An answer to Ditto is valid until the token expires, and at most for expiration_seconds",
        arguments: Backend.available)
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
            // Never zero seconds, which could be read as unlimited.
            world.server.clock.advance(by: .milliseconds(1))
            expectRefused(try await ditto.ask(token))
        }
    }

    @Test(
        "With the expiration own, an answer to Ditto is valid for a fixed time, even past the token's expiry",
        arguments: Backend.available)
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
            // A dead token still admits no user.
            world.server.clock.advance(by: .seconds(2))
            expectRefused(try await ditto.ask(token))
        }
    }

    @Test(
        "Ditto's repeated request gets the same answer; asking about a refreshed token confirms its rotation",
        arguments: Backend.available)
    func again(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            let phone = try await world.signIn(scope: "profile")
            let refreshed = try await world.refresh(try phone.require("refresh_token"))
            let token = try refreshed.require("access_token")
            let first = try await ditto.ask(token)
            #expect(try await ditto.ask(token).json == first.json)
            // The old refresh token is a replay from here on, which ends the family.
            #expect(try await world.refresh(try phone.require("refresh_token")).error == "invalid_grant")
            expectRefused(try await ditto.ask(token))
        }
    }

    @Test(
        "Ditto's request must name the webhook's configured provider and database_id exactly",
        arguments: Backend.available)
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

    @Test(
        "A refusal of a token that Ditto sends has the status in the webhook's refusal_status",
        arguments: Backend.available)
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

    private func expectMalformed(_ answer: Answer, sourceLocation: SourceLocation = #_sourceLocation) {
        expectRefused(answer, "invalid_request", status: 400, sourceLocation: sourceLocation)
    }

    @Test(
        "Ditto's request is refused if it is no JSON, or a member is missing, repeated or wrongly typed",
        arguments: Backend.available)
    func bodies(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            let token = try await ditto.token()
            for body in [
                "", "not JSON", "[]", "null", "{}", "\u{FEFF}{}", #"{"appID":"a","provider":"p","token":"t""#,
                #"{"appID":"a","provider":"p","token":"t","token":"\#(token)"}"#,
                #"{"appID":"a","provider":"p","token":"t"}{}"#, "appID=a&provider=p&token=t",
                String(repeating: "[", count: 1000),
            ] {
                expectMalformed(try await ditto.send(body))
            }
            let changes: [KeyValuePairs<String, JSON>] = [
                ["token": .null], ["token": ""], ["token": 7], ["token": [.string(token)]], ["provider": .null],
                ["provider": true], ["appID": .null], ["appID": 7], ["appID": .null, "databaseID": ""],
                ["databaseID": "another"], ["databaseID": .string(DittoStory.app)], ["version": "2"], ["version": 1],
            ]
            for change in changes { expectMalformed(try await ditto.ask(token, change)) }
            expectMalformed(
                try await world.server.send(
                    "POST", "/webhooks/ditto/\(ditto.name)", body: [0x7B, 0xFF, 0xFE, 0x7D]))
            expectAdmitted(try await ditto.ask(token), as: world.user)
        }
    }

    @Test(
        "Ditto's request is refused if its body is too large, or its token very long or malformed",
        arguments: Backend.available)
    func large(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            let tooLarge = try await ditto.ask(String(repeating: "x", count: 70_000))
            expectRefused(tooLarge, "request_too_large", status: 400)
            for token in [
                String(repeating: "x", count: 60_000), String(repeating: "x.", count: 30_000), "\u{0}", "a.\u{0}.b",
                "' OR 1 = 1", "Bearer x", "😀",
            ] {
                expectRefused(try await ditto.ask(token))
            }
            expectAdmitted(try await ditto.ask(try await ditto.token()), as: world.user)
        }
    }

    @Test(
        "A request to an unknown webhook gets the same 404 problem document as one to a disabled webhook",
        arguments: Backend.available)
    func unknown(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            try await ditto.change(["disabled": true])
            let disabled = try await ditto.ask(try await ditto.token())
            expectProblem(disabled, 404)
            for name in ["unknown", "LOOM-CARS", "loom-cars%00", "%00", "loom%2Dcars%20", "a%2Fb", "%27"] {
                let answer = try await world.server.send(
                    "POST", "/webhooks/ditto/\(name)", body: Array(DittoStory.body("x").utf8))
                #expect(answer.status == 404, "\(name): \(answer)")
                #expect(answer.body == disabled.body, "\(name)")
            }
            try await ditto.change(["disabled": false])
            expectAdmitted(try await ditto.ask(try await ditto.token()), as: world.user)
            let looked = try await world.server.get("/webhooks/ditto/\(ditto.name)")
            #expect(looked.status == 405)
            #expect(looked.header("allow") == "POST")
        }
    }
}
