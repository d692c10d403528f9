import JSON
import Storage
import TestSupport
import Testing

@testable import Directory

/// What a merchant's administrator must not do to other merchants, and to this server.
extension MerchantAdministratorTests {
    @Test("no client of any merchant has an address at this server", arguments: Backend.available)
    func ownAddresses(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            let own = "http://spindle.test"
            let cases: [(String, JSON)] = [
                ("redirect_uris", [.string("\(own)/auth/session/code")]),
                ("redirect_uris", ["HTTP://Spindle.Test:80/logout"]),
                ("post_logout_redirect_uris", [.string("\(own)/logout")]), ("web_origins", [.string(own)]),
                ("callback_uri", .string("\(own)/x")), ("backchannel_logout_uri", .string("\(own)/x")),
                ("jwks_uri", .string("\(own)/oauth/jwks")), ("request_uris", [.string("\(own)/x")]),
            ]
            for (member, value) in cases {
                let document: JSON = .object([.init("client_name", "x"), .init(member, value)])
                for administrator in [token, world.admin] {
                    expectProblem(
                        try await patch(world, administrator, "clients/\(world.backend.id)", document), 400,
                        member: member)
                }
                expectProblem(try await World.make(world.server, token, "clients", document), 400, member: member)
            }
        }
    }

    @Test("a merchant cannot name itself as another one", arguments: Backend.available)
    func anothersName(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            let path = "merchants/\(world.merchant)"
            for name in ["Rival", "RIVAL", " rival.", "Ri-val"] {
                expectProblem(try await patch(world, token, path, ["name": .string(name)]), 400, member: "name")
            }
            for name in ["Loom", "loom", "Rivals"] {
                #expect(try await patch(world, token, path, ["name": .string(name)]).status == 200, "\(name)")
            }
            #expect(try await patch(world, world.admin, path, ["name": "Rival"]).status == 200)
        }
    }

    @Test("a user's profile links do not run as scripts at other merchants", arguments: Backend.available)
    func scripts(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            _ = try await world.signIn()
            for member in ["picture", "website", "profile"] {
                for text in [
                    "javascript:alert(1)", "data:text/html,x", " JavaScript:x", "java\tscript:x", "vbscript:x",
                ] {
                    let change = JSON.object([.init(member, .string(text))])
                    expectProblem(try await patch(world, token, "users/\(world.user)", change), 400, member: member)
                }
                for text in ["https://ada.example/a:b", "HTTP://ada.example", "www.ada.example", "/ada?a:b"] {
                    let change = JSON.object([.init(member, .string(text))])
                    #expect(try await patch(world, token, "users/\(world.user)", change).status == 200, "\(text)")
                }
            }
        }
    }

    @Test(
        "a client is neither created for another merchant's API nor changed to reach it", arguments: Backend.available)
    func resources(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            let rival = try await merchantAdmin(world, of: world.rival)
            let members: JSON = ["client_name": "x", "resources": ["https://api.loom.example"]]
            #expect(try await World.make(world.server, token, "clients", members).status == 201)
            let second = try await World.make(world.server, token, "clients", members)
            #expect(second.status == 201)
            expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
            let change: JSON = ["resources": ["https://api.rival.example", "https://api.loom.example"]]
            let changed = try await patch(world, rival, "clients/\(world.rivalBackend.id)", change)
            expectProblem(changed, 400, member: "resources")
            // A refused change leaves nothing behind: the rival's own name is still free.
            #expect(try await patch(world, token, "clients/\(second.require("client_id"))", change).status == 200)
        }
    }

    @Test("a merchant's API is another's as soon as its client is deleted, or renamed", arguments: Backend.available)
    func formerResources(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            let rival = try await merchantAdmin(world, of: world.rival)
            let members: JSON = ["client_name": "x", "resources": ["https://api.loom.example"]]
            for isDeleted in [false, true] {
                let made = try await World.make(world.server, token, "clients", members)
                #expect(made.status == 201)
                let path = "clients/\(try made.require("client_id"))"
                let gone =
                    isDeleted
                    ? try await world.server.send("DELETE", "/admin/v1/\(path)", bearer: token)
                    : try await patch(world, token, path, ["resources": []])
                #expect(gone.status == (isDeleted ? 204 : 200))
                expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
            }
            #expect(try await World.make(world.server, token, "clients", members).status == 201)
            // There is an end to what is kept for a merchant.
            let (merchant, most) = (world.merchant, ClientResources.most)
            try await world.server.database.write { db in
                for number in 2...most {
                    try db.enqueue(
                        """
                        INSERT INTO merchant_resources (resource, merchant_id)
                        VALUES (\("https://\(number).example"), \(merchant))
                        """)
                }
            }
            let another: JSON = ["client_name": "x", "resources": ["https://more.loom.example"]]
            expectProblem(try await World.make(world.server, token, "clients", another), 400, member: "resources")
            let known: JSON = ["client_name": "x", "resources": ["https://2.example"]]
            #expect(try await World.make(world.server, token, "clients", known).status == 201)
            // The platform lends it still.
            var lent = members.members ?? []
            lent.append(.init("merchant_id", .string(world.rival)))
            let answer = try await World.make(world.server, world.admin, "clients", .object(lent))
            #expect(answer.status == 201, "\(answer)")
        }
    }

    @Test("an API that the platform lent stays lent after the platform took it back", arguments: Backend.available)
    func takenBack(backend: Backend) async throws {
        try await World.with(backend) { world in
            let members: JSON = ["client_name": "x", "resources": ["https://api.loom.example"]]
            let token = try await merchantAdmin(world)
            #expect(try await World.make(world.server, token, "clients", members).status == 201)
            let lent = JSON.object((members.members ?? []) + [.init("merchant_id", .string(world.rival))])
            let made = try await World.make(world.server, world.admin, "clients", lent)
            #expect(made.status == 201)
            let rival = try await merchantAdmin(world, of: world.rival)
            let others = try await World.make(world.server, world.admin, "clients", lent)
            #expect(others.status == 201, "lent to another client")
            for client in [made, others] {
                let path = "/admin/v1/clients/\(try client.require("client_id"))"
                let taken = try await world.server.send("PATCH", path, json: ["resources": []], bearer: world.admin)
                #expect(taken.status == 200)
            }
            expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
            #expect(try await World.make(world.server, token, "clients", members).status == 201, "the owner's still")
            // Deleting what it was lent to takes it back, too.
            let again = try await World.make(world.server, world.admin, "clients", lent)
            let path = "/admin/v1/clients/\(try again.require("client_id"))"
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
        }
    }

    @Test(
        "an API of the platform's becomes a merchant's when the platform's client is gone", arguments: Backend.available
    )
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
            let rival = try await merchantAdmin(world, of: world.rival)
            expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
            #expect(try await World.make(world.server, world.admin, "clients", platforms).status == 201)
        }
    }

    @Test(
        "a merchant that was first to name another's API has it after the platform took it",
        arguments: Backend.available)
    func squatter(backend: Backend) async throws {
        try await World.with(backend) { world in
            let members: JSON = ["client_name": "x", "resources": ["https://api.loom.example"]]
            let rival = try await merchantAdmin(world, of: world.rival)
            let squat = try await World.make(world.server, rival, "clients", members)
            #expect(squat.status == 201)
            let given = JSON.object((members.members ?? []) + [.init("merchant_id", .string(world.merchant))])
            let owner = try await World.make(world.server, world.admin, "clients", given)
            #expect(owner.status == 201)
            let path = "/admin/v1/clients/\(try squat.require("client_id"))"
            #expect(
                try await world.server.send("PATCH", path, json: ["resources": []], bearer: world.admin).status == 200)
            expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
            // It is the other's own from then on.
            let theirs = "/admin/v1/clients/\(try owner.require("client_id"))"
            #expect(try await world.server.send("DELETE", theirs, bearer: world.admin).status == 204)
            let token = try await merchantAdmin(world)
            #expect(try await World.make(world.server, token, "clients", members).status == 201)
        }
    }

    @Test("the API of a merchant that is gone becomes another's", arguments: Backend.available)
    func resourcesOfGone(backend: Backend) async throws {
        try await World.with(backend) { world in
            let members: JSON = ["client_name": "x", "resources": ["https://api.loom.example"]]
            let token = try await merchantAdmin(world)
            #expect(try await World.make(world.server, token, "clients", members).status == 201)
            let gone = "/admin/v1/merchants/\(world.merchant)"
            #expect(try await world.server.send("DELETE", gone, bearer: world.admin).status == 204)
            let rival = try await merchantAdmin(world, of: world.rival)
            expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
        }
    }

    @Test(
        "another merchant's API is refused in another spelling, too, by an error that names the normal form",
        arguments: Backend.available)
    func spellings(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            let rival = try await merchantAdmin(world, of: world.rival)
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

    @Test(
        "no merchant's client gets tokens for this server by another spelling of its name", arguments: Backend.available
    )
    func ownResources(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            let initial = try await world.initialToken()
            for resource in [
                "http://spindle.test", "http://spindle.test/", "https://spindle.test", "https://spindle.test/",
                "http://spindle.test/oauth/token", "https://spindle.test/oauth/token", "HTTP://Spindle.test:80/x",
                "http://spindle.test./", "http://spindle.test:443",
            ] {
                let document: JSON = ["client_name": "x", "resources": [.string(resource)]]
                expectProblem(try await World.make(world.server, token, "clients", document), 400, member: "resources")
                let change = try await patch(world, token, "clients/\(world.backend.id)", document)
                expectProblem(change, 400, member: "resources")
                let came = try await world.sendRegistration(["resources": [.string(resource)]], with: initial)
                #expect(came.status == 400 || came.json["resources"] == nil, "\(came)")
            }
            let elsewhere: JSON = ["resources": ["http://spindle.test:9000/api"]]
            #expect(try await patch(world, token, "clients/\(world.backend.id)", elsewhere).status == 200)
            // What the platform grants stays when the merchant changes something else.
            try await world.change("clients", world.backend.id, ["resources": ["http://spindle.test/api"]])
            let again: JSON = ["client_name": "y", "resources": ["http://spindle.test/api"]]
            #expect(try await patch(world, token, "clients/\(world.backend.id)", again).status == 200)
        }
    }

    @Test(
        "a merchant's administrator gives an API that the platform lent to one client to others",
        arguments: Backend.available)
    func lentResources(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            let rival = try await merchantAdmin(world, of: world.rival)
            let members: JSON = ["client_name": "x", "resources": ["https://api.loom.example"]]
            #expect(try await World.make(world.server, token, "clients", members).status == 201)
            try await world.change("clients", world.rivalBackend.id, ["resources": ["https://api.loom.example"]])
            #expect(
                try await patch(world, rival, "clients/\(world.rivalBackend.id)", ["client_name": "y"]).status == 200)
            expectProblem(try await World.make(world.server, rival, "clients", members), 400, member: "resources")
            #expect(try await World.make(world.server, token, "clients", members).status == 201)
        }
    }
}
