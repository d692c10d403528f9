import JSON
import TestSupport
import Testing

@Suite("Only the platform gives a client the name of another merchant") struct ClientNameTests {
    @Test(
        "A merchant's client, or a self-registered one, cannot have another merchant's or this server's name",
        arguments: Backend.available)
    func anothers(backend: Backend) async throws {
        try await World.with(backend) { world in
            let administrator = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let initial = try await world.initialToken()
            let made = try await world.register(["client_name": "Ravel"])
            func patch(_ name: String) async throws -> Answer {
                try await world.server.send(
                    "PATCH", "/admin/v1/clients/\(world.backend.id)", json: ["client_name": .string(name)],
                    bearer: administrator)
            }
            for name in ["Rival", "RIVAL", " rival.", "R\u{456}val", "Spindle", "spindle.test"] {
                let document: JSON = ["client_name": .string(name)]
                expectProblem(
                    try await World.make(world.server, administrator, "clients", document), 400, member: "client_name")
                expectProblem(try await patch(name), 400, member: "client_name")
                let registered = try await world.sendRegistration(["client_name": .string(name)], with: initial)
                try await expect(400, "invalid_client_metadata", registered, name)
                let changed = try await made.send("PUT", made.update(["client_name": .string(name)]))
                try await expect(400, "invalid_client_metadata", changed, name)
            }
            let merchants = try await world.sendRegistration(["client_name": "Loom"], with: initial)
            try await expect(400, "invalid_client_metadata", merchants, "it would pass for the merchant itself")
            for name in ["Loom", "Rivals", "Loom for Rival"] {
                let document: JSON = ["client_name": .string(name)]
                #expect(try await World.make(world.server, administrator, "clients", document).status == 201, "\(name)")
                #expect(try await patch(name).status == 200, "\(name)")
            }
            #expect(try await world.change("clients", world.backend.id, ["client_name": "Rival"]).status == 200)
            #expect(try await patch("Rival").status == 200, "what the platform gave stays")
        }
    }

    @Test(
        "A merchant cannot take a deleted merchant's name, unless the platform gives it that name",
        arguments: Backend.available)
    func former(backend: Backend) async throws {
        try await World.with(backend) { world in
            let administrator = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let gone = "/admin/v1/merchants/\(world.rival)"
            #expect(try await world.server.send("DELETE", gone, bearer: world.admin).status == 204)
            let rival: JSON = ["client_name": "Rival"]
            expectProblem(
                try await World.make(world.server, administrator, "clients", rival), 400, member: "client_name")
            let own = "/admin/v1/merchants/\(world.merchant)"
            expectProblem(
                try await world.server.send("PATCH", own, json: ["name": "Rival"], bearer: administrator), 400,
                member: "name")
            // The platform gives it, and then it is the merchant's own.
            let given = try await world.server.send("PATCH", own, json: ["name": "Rival"], bearer: world.admin)
            #expect(given.status == 200)
            #expect(try await World.make(world.server, administrator, "clients", rival).status == 201)
        }
    }

    @Test(
        "A merchant cannot take a deleted merchant's name, even after a new merchant got its number",
        arguments: Backend.available)
    func formerNumber(backend: Backend) async throws {
        try await World.with(backend) { world in
            let administrator = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let gone = "/admin/v1/merchants/\(world.rival)"
            let number = try #require(try await world.server.get(gone, bearer: world.admin).json["number"]?.integer)
            #expect(try await world.server.send("DELETE", gone, bearer: world.admin).status == 204)
            let heir: JSON = ["name": "Heir", "number": .integer(number)]
            #expect(try await World.make(world.server, world.admin, "merchants", heir).status == 201)
            let own = "/admin/v1/merchants/\(world.merchant)"
            expectProblem(
                try await world.server.send("PATCH", own, json: ["name": "Rival"], bearer: administrator), 400,
                member: "name")
        }
    }

    @Test(
        "A merchant cannot take a name that another merchant had before that one was renamed",
        arguments: Backend.available)
    func renamed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let administrator = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let own = "/admin/v1/merchants/\(world.merchant)"
            func rename(_ name: String) async throws -> Answer {
                try await world.server.send("PATCH", own, json: ["name": .string(name)], bearer: administrator)
            }
            #expect(try await world.change("merchants", world.rival, ["name": "Emulous"]).status == 200)
            expectProblem(try await rename("Rival"), 400, member: "name")
            for name in ["Loomery", "Loom"] {
                #expect(try await rename(name).status == 200, "it takes back its own: \(name)")
            }
        }
    }

    @Test(
        "A merchant cannot take the name that unnamed clients are shown by, and these can always register",
        arguments: Backend.available)
    func unnamed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let administrator = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let own = "/admin/v1/merchants/\(world.merchant)"
            for name in ["Unnamed client", "UNNAMED CLIENT."] {
                let answer = try await world.server.send(
                    "PATCH", own, json: ["name": .string(name)], bearer: administrator)
                expectProblem(answer, 400, member: "name")
            }
            // If the platform gives a merchant this name, unnamed clients can still register.
            #expect(try await world.change("merchants", world.rival, ["name": "Unnamed client"]).status == 200)
            let registered = try await world.sendRegistration(with: try await world.initialToken())
            #expect(registered.status == 201, "\(registered)")
            let nameless: JSON = ["redirect_uris": ["https://loom.example/in"]]
            #expect(try await World.make(world.server, administrator, "clients", nameless).status == 201)
        }
    }

    @Test(
        "A client's name that changes only in spelling is not compared with the merchants' names again",
        arguments: Backend.available)
    func spelling(backend: Backend) async throws {
        try await World.with(backend) { world in
            let administrator = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            func statements(_ name: String) async throws -> Int {
                let before = world.server.interruptions.statementsWritten
                let answer = try await world.server.send(
                    "PATCH", "/admin/v1/clients/\(world.backend.id)", json: ["client_name": .string(name)],
                    bearer: administrator)
                #expect(answer.status == 200, "\(answer)")
                return world.server.interruptions.statementsWritten - before
            }
            let other = try await statements("Weaver")
            #expect(try await statements("WEAVER.") < other)
        }
    }

    @Test(
        "A name that looks like another merchant's or this server's is refused even if it replaces a similar name",
        arguments: Backend.available)
    func twoSteps(backend: Backend) async throws {
        try await World.with(backend) { world in
            let administrator = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            #expect(try await World.make(world.server, world.admin, "merchants", ["name": "Acme"]).status == 201)
            let made = try await world.register(["client_name": "Ravel"])
            func patch(_ path: String, _ member: String, _ name: String) async throws -> Answer {
                try await world.server.send(
                    "PATCH", "/admin/v1/\(path)", json: .object([.init(member, .string(name))]), bearer: administrator)
            }
            let named = [
                ("clients/\(world.backend.id)", "client_name"), ("merchants/\(world.merchant)", "name"),
            ]
            for (letters, sign) in [("AcmeTM", "Acme™"), ("Spindle2", "Spindle²")] {
                let first = try await made.send("PUT", made.update(["client_name": .string(letters)]))
                #expect(first.status == 200, "\(first)")
                let second = try await made.send("PUT", made.update(["client_name": .string(sign)]))
                try await expect(400, "invalid_client_metadata", second, sign)
                for (path, member) in named {
                    #expect(try await patch(path, member, letters).status == 200, "\(path) \(letters)")
                    expectProblem(try await patch(path, member, sign), 400, member: member)
                    #expect(try await patch(path, member, letters.uppercased()).status == 200, "the same to the eye")
                }
            }
        }
    }
}
