import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("The addresses of a client cost its readers little")
struct ClientAddressTests {
    /// `count` addresses of 1000 bytes.
    private func addresses(_ count: Int) -> [String] {
        (10..<10 + count).map { "https://large.example/\($0)/" + String(repeating: "y", count: 975) }
    }

    private func json(_ count: Int) -> JSON { .array(addresses(count).map { .string($0) }) }

    @Test(
        "a client's lists of addresses grow without a bound, one change after another", arguments: Backend.available)
    func bound(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend(["redirect_uris": json(30), "web_origins": json(30)])
            func change(_ member: String, _ count: Int) async throws -> Answer {
                try await world.change("clients", client.id, .object([.init(member, json(count))]))
            }
            for (member, count) in [("post_logout_redirect_uris", 6), ("redirect_uris", 36), ("web_origins", 36)] {
                let refused = try await change(member, count)
                expectProblem(refused, 400, member: member)
                #expect(refused.json["detail"]?.string?.contains("at most 65536 bytes") == true, "\(refused)")
            }
            #expect(try await change("post_logout_redirect_uris", 5).status == 200)

            // From before this rule.
            let stored = addresses(40).joined(separator: "\n")
            try await world.server.database.write { db in
                _ = try db.execute(
                    "UPDATE clients SET post_logout_redirect_uris = \(stored) WHERE id = \(client.id)")
            }
            #expect(try await world.change("clients", client.id, ["client_name": "Still Loom"]).status == 200)
            expectProblem(try await change("redirect_uris", 31), 400, member: "redirect_uris")
            #expect(try await change("post_logout_redirect_uris", 39).status == 200, "less, if still too much")
            expectProblem(
                try await change("post_logout_redirect_uris", 40), 400, member: "post_logout_redirect_uris")
        }
    }

    @Test("a client's addresses are checked again whenever it is read", arguments: Backend.available)
    func stored(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend()
            // Today's rules refuse each of these, so whoever checks them again fails.
            let openID: JSON = ["request_uris": ["urn:loom"], "resources": ["https://api.example/#a"]]
            let (text, page) = (openID.text, "https://www.loom.example/a//b")
            try await world.server.database.write { db in
                _ = try db.execute(
                    "UPDATE clients SET openid = \(text), web_origins = \(page) WHERE id = \(client.id)")
            }
            world.server.clock.advance(by: .minutes(1))
            let shown = try await world.server.get("/admin/v1/clients/\(client.id)", bearer: world.admin)
            #expect(shown.status == 200, "\(shown)")
            #expect(shown.json["request_uris"] == openID["request_uris"])
            #expect(shown.json["resources"] == openID["resources"])
            #expect(shown.json["web_origins"] == [.string(page)])
            let preflight = try await world.server.send(
                "OPTIONS", "/oauth/token",
                headers: ["Origin": "https://www.loom.example", "Access-Control-Request-Method": "POST"])
            #expect(preflight.header("access-control-allow-origin") == "https://www.loom.example")
        }
    }
}
