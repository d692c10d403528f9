import JSON
import TestSupport
import Testing

/// APIs that the platform lends to another merchant, and what becomes of them.
extension MerchantAdministratorTests {
    private static let api: JSON = ["client_name": "x", "resources": ["https://api.loom.example/v1"]]

    private func given(_ members: JSON, to merchant: String) -> JSON {
        .object((members.members ?? []) + [.init("merchant_id", .string(merchant))])
    }

    private func take(_ client: Answer, _ world: World) async throws {
        let path = "/admin/v1/clients/\(try client.require("client_id"))"
        let taken = try await world.server.send("PATCH", path, json: ["resources": []], bearer: world.admin)
        #expect(taken.status == 200, "\(taken)")
    }

    @Test("who gave a lent API back owns it once its owner's last client is changed", arguments: Backend.available)
    func formerBorrower(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (token, rival) = (try await merchantAdmin(world), try await merchantAdmin(world, of: world.rival))
            let own = try await World.make(world.server, token, "clients", Self.api)
            let lent = try await World.make(world.server, world.admin, "clients", given(Self.api, to: world.rival))
            #expect(lent.status == 201)
            // The borrower gives it back, once by a change and once with its client.
            let path = "clients/\(try lent.require("client_id"))"
            #expect(try await patch(world, rival, path, ["resources": []]).status == 200)
            let again = try await World.make(world.server, world.admin, "clients", given(Self.api, to: world.rival))
            let gone = "/admin/v1/clients/\(try again.require("client_id"))"
            #expect(try await world.server.send("DELETE", gone, bearer: rival).status == 204)
            try await take(own, world)
            expectProblem(try await World.make(world.server, rival, "clients", Self.api), 400, member: "resources")
            #expect(try await World.make(world.server, token, "clients", Self.api).status == 201, "the owner's still")
        }
    }

    @Test("who has a host's root on loan owns it with a slash, and keeps its owner out", arguments: Backend.available)
    func twin(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (token, rival) = (try await merchantAdmin(world), try await merchantAdmin(world, of: world.rival))
            let (root, slash): (JSON, JSON) = (
                ["client_name": "x", "resources": ["https://api.loom.example"]],
                ["client_name": "x", "resources": ["https://api.loom.example/"]]
            )
            #expect(try await World.make(world.server, token, "clients", root).status == 201)
            let lent = try await World.make(world.server, world.admin, "clients", given(root, to: world.rival))
            expectProblem(try await World.make(world.server, rival, "clients", slash), 400, member: "resources")
            for members in [root, slash] {
                #expect(try await World.make(world.server, token, "clients", members).status == 201, "the owner's")
            }
            try await take(lent, world)
            for members in [root, slash] {
                expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
                #expect(try await World.make(world.server, token, "clients", members).status == 201)
            }
            // Lent in the other form than its owner names.
            #expect(
                try await World.make(world.server, world.admin, "clients", given(slash, to: world.rival)).status == 201)
            #expect(try await World.make(world.server, token, "clients", root).status == 201)
        }
    }

    @Test("a borrower gives a lent API to its second client, which keeps it", arguments: Backend.available)
    func secondClient(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (token, rival) = (try await merchantAdmin(world), try await merchantAdmin(world, of: world.rival))
            #expect(try await World.make(world.server, token, "clients", Self.api).status == 201)
            let lent = try await World.make(world.server, world.admin, "clients", given(Self.api, to: world.rival))
            expectProblem(try await World.make(world.server, rival, "clients", Self.api), 400, member: "resources")
            let second = try await World.make(world.server, world.admin, "clients", given(Self.api, to: world.rival))
            #expect(second.status == 201, "lent to each")
            try await take(lent, world)
            let path = "clients/\(try lent.require("client_id"))"
            let resources = try #require(Self.api["resources"])
            expectProblem(try await patch(world, rival, path, ["resources": resources]), 400, member: "resources")
            expectProblem(try await World.make(world.server, rival, "clients", Self.api), 400, member: "resources")
            // The second, which the platform chose too, has it until it is taken from it.
            let kept = try await patch(
                world, rival, "clients/\(try second.require("client_id"))", ["client_name": "y"])
            #expect(kept.status == 200 && kept.json["resources"] == resources)
            try await take(second, world)
            expectProblem(
                try await patch(
                    world, rival, "clients/\(try second.require("client_id"))", ["resources": resources]),
                400, member: "resources")
        }
    }

    @Test("an API is taken from its owner while the platform moves it to another form", arguments: Backend.available)
    func moved(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            let root: JSON = ["client_name": "x", "resources": ["https://api.loom.example"]]
            let own = try await World.make(world.server, token, "clients", root)
            #expect(
                try await World.make(world.server, world.admin, "clients", given(root, to: world.rival)).status == 201)
            let path = "/admin/v1/clients/\(try own.require("client_id"))"
            let moved = try await world.server.send(
                "PATCH", path, json: ["resources": ["https://api.loom.example/"]], bearer: world.admin)
            #expect(moved.status == 200)
            #expect(try await World.make(world.server, token, "clients", root).status == 201)
        }
    }
}
