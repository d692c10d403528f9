import JSON
import Storage
import TestSupport
import Testing

@testable import Directory

@Suite("A merchant's API stays its own, and is another's only while the platform lends it")
struct ResourceOwnershipTests {
    @Test(
        "A merchant administrator cannot create or change a client to name another merchant's API",
        arguments: Backend.available)
    func resources(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
            let rival = try await world.merchantAdmin(of: world.rival)
            let members: JSON = ["client_name": "x", "resources": ["https://api.loom.example"]]
            #expect(try await World.make(world.server, token, "clients", members).status == 201)
            let second = try await World.make(world.server, token, "clients", members)
            #expect(second.status == 201)
            expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
            let change: JSON = ["resources": ["https://api.rival.example", "https://api.loom.example"]]
            let changed = try await world.patch(rival, "clients/\(world.rivalBackend.id)", change)
            expectProblem(changed, 400, member: "resources")
            // The refused change has not taken its other API.
            #expect(try await world.patch(token, "clients/\(second.require("client_id"))", change).status == 200)
        }
    }

    @Test(
        "A merchant's API stays the merchant's after the client that named it is deleted or changed",
        arguments: Backend.available)
    func formerResources(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
            let rival = try await world.merchantAdmin(of: world.rival)
            let members: JSON = ["client_name": "x", "resources": ["https://api.loom.example"]]
            for isDeleted in [false, true] {
                let made = try await World.make(world.server, token, "clients", members)
                #expect(made.status == 201)
                let path = "clients/\(try made.require("client_id"))"
                let gone =
                    isDeleted
                    ? try await world.server.send("DELETE", "/admin/v1/\(path)", bearer: token)
                    : try await world.patch(token, path, ["resources": []])
                #expect(gone.status == (isDeleted ? 204 : 200))
                expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
            }
            #expect(try await World.make(world.server, token, "clients", members).status == 201)
            // The list of a merchant's former APIs is limited.
            let (merchant, most) = (world.merchant, ClientResources.most)
            try await world.server.database.write { db in
                for number in 2...most {
                    try db.enqueue(
                        """
                        INSERT INTO resources (resource, owner)
                        VALUES (\("https://\(number).example"), \(merchant))
                        """)
                }
            }
            let another: JSON = ["client_name": "x", "resources": ["https://more.loom.example"]]
            expectProblem(try await World.make(world.server, token, "clients", another), 400, member: "resources")
            let known: JSON = ["client_name": "x", "resources": ["https://2.example"]]
            #expect(try await World.make(world.server, token, "clients", known).status == 201)
            // The platform can still lend it.
            var lent = members.members ?? []
            lent.append(.init("merchant_id", .string(world.rival)))
            let answer = try await World.make(world.server, world.admin, "clients", .object(lent))
            #expect(answer.status == 201, "\(answer)")
        }
    }

    @Test(
        "A merchant that an API was lent to cannot name it after the platform has taken it back",
        arguments: Backend.available)
    func takenBack(backend: Backend) async throws {
        try await World.with(backend) { world in
            let members: JSON = ["client_name": "x", "resources": ["https://api.loom.example"]]
            let token = try await world.merchantAdmin()
            #expect(try await World.make(world.server, token, "clients", members).status == 201)
            let lent = JSON.object((members.members ?? []) + [.init("merchant_id", .string(world.rival))])
            let made = try await World.make(world.server, world.admin, "clients", lent)
            #expect(made.status == 201)
            let rival = try await world.merchantAdmin(of: world.rival)
            let others = try await World.make(world.server, world.admin, "clients", lent)
            #expect(others.status == 201, "lent to another client")
            for client in [made, others] {
                let path = "/admin/v1/clients/\(try client.require("client_id"))"
                let taken = try await world.server.send("PATCH", path, json: ["resources": []], bearer: world.admin)
                #expect(taken.status == 200)
            }
            expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
            #expect(try await World.make(world.server, token, "clients", members).status == 201, "the owner's still")
            // Deleting the borrower's client takes it back, too.
            let again = try await World.make(world.server, world.admin, "clients", lent)
            let path = "/admin/v1/clients/\(try again.require("client_id"))"
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
        }
    }

    @Test(
        "An API of the platform stays the platform's after the client that named it is deleted",
        arguments: Backend.available)
    func platforms(backend: Backend) async throws {
        try await World.with(backend) { world in
            let members: JSON = ["client_name": "x", "resources": ["https://api.platform.example"]]
            let platforms = JSON.object(
                (members.members ?? []) + [
                    .init("scope", "admin"), .init("grant_types", ["client_credentials"]),
                ])
            let own = try await World.make(world.server, world.admin, "clients", platforms)
            #expect(own.status == 201, "\(own)")
            let path = "/admin/v1/clients/\(try own.require("client_id"))"
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            let rival = try await world.merchantAdmin(of: world.rival)
            expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
            #expect(try await World.make(world.server, world.admin, "clients", platforms).status == 201)
        }
    }

    @Test(
        "An API that the platform moves to its owner cannot be taken back by the merchant that named it first",
        arguments: Backend.available)
    func squatter(backend: Backend) async throws {
        try await World.with(backend) { world in
            let members: JSON = ["client_name": "x", "resources": ["https://api.loom.example"]]
            let rival = try await world.merchantAdmin(of: world.rival)
            let squat = try await World.make(world.server, rival, "clients", members)
            #expect(squat.status == 201)
            let given = JSON.object((members.members ?? []) + [.init("merchant_id", .string(world.merchant))])
            let owner = try await World.make(world.server, world.admin, "clients", given)
            #expect(owner.status == 201)
            let path = "/admin/v1/clients/\(try squat.require("client_id"))"
            #expect(
                try await world.server.send("PATCH", path, json: ["resources": []], bearer: world.admin).status == 200)
            expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
            // From then on it is the new owner's.
            let theirs = "/admin/v1/clients/\(try owner.require("client_id"))"
            #expect(try await world.server.send("DELETE", theirs, bearer: world.admin).status == 204)
            let token = try await world.merchantAdmin()
            #expect(try await World.make(world.server, token, "clients", members).status == 201)
        }
    }

    @Test("A deleted merchant's API cannot be taken by another merchant", arguments: Backend.available)
    func resourcesOfGone(backend: Backend) async throws {
        try await World.with(backend) { world in
            let members: JSON = ["client_name": "x", "resources": ["https://api.loom.example"]]
            let token = try await world.merchantAdmin()
            #expect(try await World.make(world.server, token, "clients", members).status == 201)
            let gone = "/admin/v1/merchants/\(world.merchant)"
            #expect(try await world.server.send("DELETE", gone, bearer: world.admin).status == 204)
            let rival = try await world.merchantAdmin(of: world.rival)
            expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
        }
    }

    @Test(
        "An API's address that is not in normal form is refused by an error that names that form",
        arguments: Backend.available)
    func spellings(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
            let rival = try await world.merchantAdmin(of: world.rival)
            func make(_ administrator: String, _ resource: String) async throws -> Answer {
                try await World.make(
                    world.server, administrator, "clients", ["client_name": "x", "resources": [.string(resource)]])
            }
            for resource in ["https://api.loom.example", "https://api.loom.example/v1", "https://www.loom.example/"] {
                #expect(try await make(token, resource).status == 201)
            }
            for (spelling, normal) in [
                ("HTTPS://api.loom.example", "https://api.loom.example"),
                ("https://API.loom.example", "https://api.loom.example"),
                ("https://api.loom.example:443", "https://api.loom.example"),
                ("https://api.loom.example?", "https://api.loom.example"),
                ("https://api.loom.example/./v1", "https://api.loom.example/v1"),
                ("https://api.loom.example/%761", "https://api.loom.example/v1"),
            ] {
                for administrator in [token, rival, world.admin] {
                    let refused = try await make(administrator, spelling)
                    expectProblem(refused, 400, member: "resources")
                    #expect(refused.json["detail"]?.string?.contains(": \(normal)") == true, "\(refused)")
                }
            }
            for taken in ["https://api.loom.example/", "https://www.loom.example"] {
                expectProblem(try await make(rival, taken), 400, member: "resources")
                #expect(try await make(token, taken).status == 201)
            }
            #expect(try await make(rival, "https://api.loom.example/v1/x").status == 201)
        }
    }

    @Test("No merchant's client can name this server as its API, in any spelling", arguments: Backend.available)
    func ownResources(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
            let initial = try await world.initialToken()
            for resource in [
                "http://spindle.test", "http://spindle.test/", "https://spindle.test", "https://spindle.test/",
                "http://spindle.test/oauth/token", "https://spindle.test/oauth/token", "HTTP://Spindle.test:80/x",
                "http://spindle.test./", "http://spindle.test:443",
            ] {
                let document: JSON = ["client_name": "x", "resources": [.string(resource)]]
                expectProblem(try await World.make(world.server, token, "clients", document), 400, member: "resources")
                let change = try await world.patch(token, "clients/\(world.backend.id)", document)
                expectProblem(change, 400, member: "resources")
                let came = try await world.sendRegistration(["resources": [.string(resource)]], with: initial)
                #expect(came.status == 400 || came.json["resources"] == nil, "\(came)")
            }
            let elsewhere: JSON = ["resources": ["http://spindle.test:9000/api"]]
            #expect(try await world.patch(token, "clients/\(world.backend.id)", elsewhere).status == 200)
            // What the platform grants stays when the merchant changes something else.
            try await world.change("clients", world.backend.id, ["resources": ["http://spindle.test/api"]])
            let again: JSON = ["client_name": "y", "resources": ["http://spindle.test/api"]]
            #expect(try await world.patch(token, "clients/\(world.backend.id)", again).status == 200)
        }
    }

    @Test("A merchant that an API was lent to cannot give it to its other clients", arguments: Backend.available)
    func lentResources(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
            let rival = try await world.merchantAdmin(of: world.rival)
            let members: JSON = ["client_name": "x", "resources": ["https://api.loom.example"]]
            #expect(try await World.make(world.server, token, "clients", members).status == 201)
            try await world.change("clients", world.rivalBackend.id, ["resources": ["https://api.loom.example"]])
            #expect(
                try await world.patch(rival, "clients/\(world.rivalBackend.id)", ["client_name": "y"]).status == 200)
            expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
            #expect(try await World.make(world.server, token, "clients", members).status == 201)
        }
    }

    private static let api: JSON = ["client_name": "x", "resources": ["https://api.loom.example/v1"]]

    private func given(_ members: JSON, to merchant: String) -> JSON {
        .object((members.members ?? []) + [.init("merchant_id", .string(merchant))])
    }

    private func take(_ client: Answer, _ world: World) async throws {
        let path = "/admin/v1/clients/\(try client.require("client_id"))"
        let taken = try await world.server.send("PATCH", path, json: ["resources": []], bearer: world.admin)
        #expect(taken.status == 200, "\(taken)")
    }

    @Test(
        "A merchant that gave a lent API back cannot take the API after its owner stops using it",
        arguments: Backend.available)
    func formerBorrower(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (token, rival) = (try await world.merchantAdmin(), try await world.merchantAdmin(of: world.rival))
            let own = try await World.make(world.server, token, "clients", Self.api)
            let lent = try await World.make(world.server, world.admin, "clients", given(Self.api, to: world.rival))
            #expect(lent.status == 201)
            // The borrower gives it back, once by a change and once with its client.
            let path = "clients/\(try lent.require("client_id"))"
            #expect(try await world.patch(rival, path, ["resources": []]).status == 200)
            let again = try await World.make(world.server, world.admin, "clients", given(Self.api, to: world.rival))
            let gone = "/admin/v1/clients/\(try again.require("client_id"))"
            #expect(try await world.server.send("DELETE", gone, bearer: rival).status == 204)
            try await take(own, world)
            expectProblem(try await World.make(world.server, rival, "clients", Self.api), 400, member: "resources")
            #expect(try await World.make(world.server, token, "clients", Self.api).status == 201, "the owner's still")
        }
    }

    @Test(
        "A merchant that an API at a host's root was lent to cannot take the same address with a slash",
        arguments: Backend.available)
    func twin(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (token, rival) = (try await world.merchantAdmin(), try await world.merchantAdmin(of: world.rival))
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
            // Lent with the slash, which its owner does not name.
            #expect(
                try await World.make(world.server, world.admin, "clients", given(slash, to: world.rival)).status == 201)
            #expect(try await World.make(world.server, token, "clients", root).status == 201)
        }
    }

    @Test(
        "Of other merchants' clients, only the one that an API was lent to may name it, until taken back",
        arguments: Backend.available)
    func secondClient(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (token, rival) = (try await world.merchantAdmin(), try await world.merchantAdmin(of: world.rival))
            #expect(try await World.make(world.server, token, "clients", Self.api).status == 201)
            let lent = try await World.make(world.server, world.admin, "clients", given(Self.api, to: world.rival))
            expectProblem(try await World.make(world.server, rival, "clients", Self.api), 400, member: "resources")
            let second = try await World.make(world.server, world.admin, "clients", given(Self.api, to: world.rival))
            #expect(second.status == 201, "lent to each")
            try await take(lent, world)
            let path = "clients/\(try lent.require("client_id"))"
            let resources = try #require(Self.api["resources"])
            expectProblem(try await world.patch(rival, path, ["resources": resources]), 400, member: "resources")
            expectProblem(try await World.make(world.server, rival, "clients", Self.api), 400, member: "resources")
            // The second client, which the platform chose too, has it until it is taken away.
            let kept = try await world.patch(
                rival, "clients/\(try second.require("client_id"))", ["client_name": "y"])
            #expect(kept.status == 200 && kept.json["resources"] == resources)
            try await take(second, world)
            expectProblem(
                try await world.patch(
                    rival, "clients/\(try second.require("client_id"))", ["resources": resources]),
                400, member: "resources")
        }
    }

    @Test(
        "An API at a host's root stays its owner's after the platform adds a slash to its address",
        arguments: Backend.available)
    func moved(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
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
