import JSON
import TestSupport
import Testing

@Suite("A merchant's own administrator changes a user no faster than others can be told")
struct UserChangeBoundTests {
    @Test(
        "a user whom a merchant's administrator changes in a loop is changed twenty times, then every thirty seconds",
        arguments: Backend.available)
    func loop(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.signIn()
            let own = try await administrator(world)
            for number in 1...20 { #expect(try await change(world, number, by: own).status == 200) }
            let refused = try await change(world, 21, by: own)
            expectProblem(refused, 429)
            #expect(refused.header("retry-after") == "30")
            #expect(try await change(world, 20, by: own).status == 200, "the same again is no change")

            // Another client of the merchant has no share of its own; the platform is not limited.
            let backend = try await world.spidBackend()
            #expect(try await world.signIn(with: backend).status == 200)
            let token = try await world.clientToken(backend)
            let path = "user/\(world.user)"
            #expect(try await world.api(path, token, ["displayName": "Augusta"]).status == 429)
            #expect(try await change(world, 22, by: world.admin).status == 200)
            world.server.clock.advance(by: .seconds(30))
            #expect(try await change(world, 23, by: own).status == 200)
        }
    }

    @Test(
        "a merchant that changes a shared user in a loop leaves another merchant's changes alone",
        arguments: Backend.available)
    func rival(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.signIn()
            try await world.introduce(world.user, to: world.rival)
            #expect(try await world.signIn(with: world.rivalBackend).status == 200)
            let (own, rival) = (try await administrator(world), try await administrator(world, of: world.rival))
            for number in 1...20 { #expect(try await change(world, number, by: own).status == 200) }
            expectProblem(try await change(world, 21, by: own), 429)
            #expect(try await change(world, 22, by: rival).status == 200)
        }
    }

    @Test("a change that changes nothing leaves the time of the last change alone", arguments: Backend.available)
    func nothing(backend: Backend) async throws {
        try await World.with(backend) { world in
            let first = try await change(world, 1, by: world.admin)
            world.server.clock.advance(by: .seconds(60))
            let again = try await change(world, 1, by: world.admin)
            #expect(again.status == 200 && again.json == first.json, "\(again)")
            #expect(try await change(world, 2, by: world.admin).json["updated_at"] != first.json["updated_at"])
        }
    }

    @Test(
        "a user who leaves the merchant while its administrator's change is under way is not changed",
        arguments: Backend.available)
    func left(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.signIn()
            let own = try await administrator(world)
            let interruptions = world.server.interruptions
            interruptions.interrupt {
                let path = "/admin/v1/users/\(world.user)"
                let answer = try await world.server.send("DELETE", path, bearer: own)
                #expect(answer.status == 204)
            }
            expectProblem(try await change(world, 1, by: own), 404)
            #expect(interruptions.wasInterrupted)
            let shown = try await world.server.get("/admin/v1/users/\(world.user)", bearer: world.admin)
            #expect(shown.json["nickname"] == nil)
        }
    }

    private func change(_ world: World, _ number: Int, by token: String) async throws -> Answer {
        try await world.server.send(
            "PATCH", "/admin/v1/users/\(world.user)", json: ["nickname": .string("Ada \(number)")], bearer: token)
    }

    private func administrator(_ world: World, of merchant: String? = nil) async throws -> String {
        let client = try await world.confidential(
            ["scope": "admin:merchant", "grant_types": ["client_credentials"]], of: merchant)
        return try await world.clientToken(client, scope: "admin:merchant")
    }
}
