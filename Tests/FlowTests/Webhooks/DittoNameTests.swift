import JSON
import Storage
import TestSupport
import Testing

@Suite("A deleted webhook's name stays its merchant's, because Ditto still asks there")
struct DittoNameTests {
    @Test(
        "another merchant cannot answer at a deleted webhook's address, its own merchant and the platform can",
        arguments: Backend.available)
    func deleted(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await administrator(world, of: world.merchant)
            let rival = try await administrator(world, of: world.rival)
            let rivals: KeyValuePairs<String, JSON> = ["merchant_id": .string(world.rival)]
            let id = try await DittoStory.make(world, as: own).require("id")
            expectProblem(try await DittoStory.make(world, rivals, as: rival), 400, member: "name")
            try await delete(id, world)
            expectProblem(try await DittoStory.make(world, rivals, as: rival), 400, member: "name")
            let again = try await DittoStory.make(world, as: own)
            #expect(again.status == 201, "\(again)")
            try await delete(try again.require("id"), world)
            let moved = try await DittoStory.make(world, rivals)
            #expect(moved.status == 201, "\(moved)")
            // Now it is the other's.
            try await delete(try moved.require("id"), world)
            expectProblem(try await DittoStory.make(world, as: own), 400, member: "name")
        }
    }

    @Test("nor at the address of a merchant that was deleted", arguments: Backend.available)
    func merchant(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await DittoStory.make(world)
            let path = "/admin/v1/merchants/\(world.merchant)"
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            let rival = try await administrator(world, of: world.rival)
            let rivals: KeyValuePairs<String, JSON> = ["merchant_id": .string(world.rival)]
            expectProblem(try await DittoStory.make(world, rivals, as: rival), 400, member: "name")
            #expect(try await DittoStory.make(world, rivals).status == 201)
        }
    }

    @Test("a merchant's administrator takes a thousand names by deleting, and no more", arguments: Backend.available)
    func many(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.server.database.write { db in
                for number in 0...1000 {
                    try db.execute(
                        """
                        INSERT INTO taken (kind, name, merchant_id)
                        VALUES ('webhook', \("loom-\(number)"), \(world.merchant))
                        """)
                }
            }
            let own = try await administrator(world, of: world.merchant)
            expectProblem(try await DittoStory.make(world, as: own), 409)
            #expect(try await DittoStory.make(world).status == 201)
            // One of those that it had is one less.
            #expect(try await DittoStory.make(world, ["name": "loom-7"], as: own).status == 201)
        }
    }

    private func delete(_ id: String, _ world: World) async throws {
        let answer = try await world.server.send("DELETE", "/admin/v1/webhooks/\(id)", bearer: world.admin)
        #expect(answer.status == 204)
    }

    private func administrator(_ world: World, of merchant: String) async throws -> String {
        let client = try await world.confidential(
            ["scope": "admin:merchant", "grant_types": ["client_credentials"]], of: merchant)
        return try await world.clientToken(client, scope: "admin:merchant")
    }
}
