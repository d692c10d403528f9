import JSON
import TestSupport
import Testing
import Values

@Suite("What a merchant's own administrator makes has a bound")
struct MerchantBoundTests {
    @Test(
        "it makes a hundred issuers and webhooks and a thousand initial access tokens, and the platform makes more",
        arguments: Backend.available)
    func rows(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await administrator(world)
            func make(_ kind: String, _ number: Int, by token: String) async throws -> Answer {
                var json: [JSON.Member] = [.init("merchant_id", .string(world.merchant))]
                switch kind {
                case "issuers":
                    json.append(.init("issuer", .string("https://paper\(number).example")))
                    json.append(.init("secret", "a shared secret of at least 32 bytes"))
                case "webhooks":
                    json.append(.init("name", .string("hook-\(number)")))
                    json.append(.init("permissions", DittoStory.permissions))
                default: break
                }
                return try await World.make(world.server, token, kind, .object(json))
            }
            for (kind, most, name) in [
                ("issuers", 100, "issuers"), ("webhooks", 100, "webhooks"),
                ("initial-access-tokens", 1000, "initial access tokens"),
            ] {
                var ids: [String] = []
                for number in 0..<most {
                    let made = try await make(kind, number, by: own)
                    #expect(made.status == 201, "\(kind) \(number): \(made)")
                    ids.append(try made.require("id"))
                }
                let refused = try await make(kind, most, by: own)
                expectProblem(refused, 409)
                #expect(refused.json["detail"]?.string?.contains("\(most) \(name)") == true, "\(refused)")
                #expect(try await make(kind, most, by: world.admin).status == 201)
                // There are 101 with the platform's.
                for id in ids.suffix(2) {
                    let path = "/admin/v1/\(kind)/\(id)"
                    #expect(try await world.server.send("DELETE", path, bearer: own).status == 204)
                }
                #expect(try await make(kind, most + 1, by: own).status == 201, "\(kind) after a deletion")
            }
        }
    }

    @Test("it makes users no faster than one a second after the first 3000", arguments: Backend.available)
    func users(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await administrator(world)
            func make(_ number: Int, by token: String) async throws -> Answer {
                try await World.make(
                    world.server, token, "users", ["email": .string("reader\(number)@example.com")])
            }
            for number in 0..<3000 { #expect(try await make(number, by: own).status == 201) }
            let refused = try await make(3000, by: own)
            expectProblem(refused, 429)
            #expect(refused.header("retry-after") == "1")
            #expect(try await make(3000, by: world.admin).status == 201)
            let rival = try await administrator(world, of: world.rival)
            #expect(try await make(3001, by: rival).status == 201)
            // Its backends share its bound, however many there are.
            let backend = try await world.clientToken(try await world.spidBackend())
            #expect(try await world.api("signup", backend, ["email": "reader3002@example.com"]).status == 429)
            world.server.clock.advance(by: .seconds(1))
            #expect(try await make(3003, by: own).status == 201)
        }
    }

    private func administrator(_ world: World, of merchant: String? = nil) async throws -> String {
        let client = try await world.confidential(
            ["scope": "admin:merchant", "grant_types": ["client_credentials"]], of: merchant)
        return try await world.clientToken(client, scope: "admin:merchant")
    }
}
