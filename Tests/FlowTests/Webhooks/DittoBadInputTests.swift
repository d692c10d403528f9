import JSON
import TestSupport
import Testing

@Suite("Malformed requests to Ditto's webhook")
struct DittoBadInputTests {
    private func expectMalformed(_ answer: Answer, sourceLocation: SourceLocation = #_sourceLocation) {
        expectRefused(answer, "invalid_request", status: 400, sourceLocation: sourceLocation)
    }

    @Test(
        "text that is not JSON, and missing, repeated or wrongly typed members, are refused",
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

    @Test("large bodies and large tokens are refused", arguments: Backend.available)
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

    @Test("an unknown webhook name gets the same problem document each time", arguments: Backend.available)
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
