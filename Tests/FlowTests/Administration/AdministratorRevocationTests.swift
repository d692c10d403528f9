import JSON
import TestSupport
import Testing

@Suite("What the platform takes from a merchant administrator stays taken")
struct AdministratorRevocationTests {
    @Test("An admin token loses its rights when its client loses the admin scope", arguments: Backend.available)
    func scope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let platform = try await World.client(
                world.server, world.admin,
                ["client_name": "Second", "scope": "admin profile", "grant_types": ["client_credentials"]])
            let merchant = try await administrator(world)
            let support = try await world.confidential(
                ["scope": "profile admin:support", "grant_types": ["client_credentials"]])
            for (client, scope) in [
                (platform, "admin"), (merchant, "admin:merchant"), (support, "admin:support"),
            ] {
                let token = try await world.clientToken(client, scope: scope)
                #expect(try await world.server.get("/admin/v1/clients", bearer: token).status == 200)
                try await world.change("clients", client.id, ["scope": "profile"])
                expectProblem(try await world.server.get("/admin/v1/clients", bearer: token), 403)
            }
        }
    }

    @Test(
        "A merchant administrator's concurrent change of a client restores no admin scope taken from it",
        arguments: Backend.available)
    func scopeRace(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await administrator(world), scope: "admin:merchant")
            let other = try await administrator(world)
            for _ in 1...10 {
                try await world.change("clients", other.id, ["scope": "profile admin:merchant"])
                async let back = patch(world, token, "clients/\(other.id)", ["scope": "admin:merchant profile"])
                async let taken = world.change("clients", other.id, ["scope": "profile"])
                let (changed, taking) = try await (back, taken)
                #expect([200, 403].contains(changed.status), "\(changed)")
                #expect(taking.status == 200)
                let now = try await world.server.get("/admin/v1/clients/\(other.id)", bearer: world.admin)
                #expect(now.json["scope"]?.string == "profile")
            }
        }
    }

    @Test(
        "A concurrent change of an issuer by its merchant does not undo its disabling by the platform",
        arguments: Backend.available)
    func issuerRace(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await administrator(world), scope: "admin:merchant")
            for number in 1...10 {
                let id = try await issuer(world, number).require("id")
                async let changed = patch(world, token, "issuers/\(id)", ["audiences": ["https://new.example"]])
                async let disabled = world.change("issuers", id, ["disabled": true])
                #expect(try await changed.status == 200)
                #expect(try await disabled.status == 200)
                let now = try await world.server.get("/admin/v1/issuers/\(id)", bearer: world.admin)
                #expect(now.json["disabled"]?.bool == true)
                #expect(now.json["audiences"]?.strings == ["https://new.example"])
            }
        }
    }

    @Test("A merchant cannot enable a client that the platform disabled", arguments: Backend.available)
    func client(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await administrator(world), scope: "admin:merchant")
            let path = "clients/\(world.backend.id)"
            #expect(try await patch(world, token, path, ["disabled": false]).status == 200)
            try await world.change("clients", world.backend.id, ["disabled": true])
            expectProblem(try await patch(world, token, path, ["disabled": false]), 403, member: "disabled")
            let renamed = try await patch(world, token, path, ["client_name": "Renamed"])
            #expect(renamed.status == 200)
            #expect(renamed.json["disabled"]?.bool == true)
            try await world.change("clients", world.backend.id, ["disabled": false])
            #expect(try await world.token(["grant_type": "client_credentials"], as: world.backend).status == 200)
        }
    }

    @Test(
        "A merchant cannot enable or delete an issuer that the platform disabled",
        arguments: Backend.available)
    func issuer(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(try await administrator(world), scope: "admin:merchant")
            let id = try await issuer(world, 1).require("id")
            try await world.change("issuers", id, ["disabled": true])
            expectProblem(try await patch(world, token, "issuers/\(id)", ["disabled": false]), 403, member: "disabled")
            expectProblem(
                try await world.server.send("DELETE", "/admin/v1/issuers/\(id)", bearer: token), 403,
                member: "disabled")
            try await world.change("issuers", id, ["disabled": false])
            #expect(try await world.server.send("DELETE", "/admin/v1/issuers/\(id)", bearer: token).status == 204)
        }
    }

    @Test(
        "A merchant administrator's request is refused if the admin scope is taken away while it runs",
        arguments: Backend.available)
    func removed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await administrator(world)
            let token = try await world.clientToken(own, scope: "admin:merchant")
            func make(_ kind: String, _ json: JSON) async throws -> String {
                let id = try await World.make(world.server, token, kind, json).require("id")
                return "\(kind)/\(id)"
            }
            let (client, merchant) = ("clients/\(world.backend.id)", "merchants/\(world.merchant)")
            let secrets = try await world.server.get("/admin/v1/\(client)/secrets", bearer: token).json["items"]
            let secret = try #require(secrets?.array?.first?["id"]?.string)
            let key: JSON = "a shared secret of at least 32 bytes"
            let trusted = try await make("issuers", ["issuer": "https://one.example", "secret": key])
            let webhook = try await make("webhooks", ["name": "one", "permissions": DittoStory.permissions])
            let initial = try await make("initial-access-tokens", [:])
            let user = try await World.make(world.server, token, "users", ["email": "late@example.com"])
                .require("user_id")
            let deeds: [(method: String, path: String, json: JSON?)] = [
                ("POST", "clients", ["client_name": "Late", "redirect_uris": ["https://late.example/in"]]),
                ("PATCH", client, ["client_name": "Late"]), ("DELETE", client, nil),
                ("POST", "\(client)/secrets", [:]), ("DELETE", "\(client)/secrets/\(secret)", nil),
                ("POST", "issuers", ["issuer": "https://late.example", "secret": key]),
                ("PATCH", trusted, ["audiences": ["https://late.example"]]), ("DELETE", trusted, nil),
                ("POST", "webhooks", ["name": "late", "permissions": DittoStory.permissions]),
                ("PATCH", webhook, ["disabled": true]), ("DELETE", webhook, nil),
                ("POST", "initial-access-tokens", [:]), ("DELETE", initial, nil),
                ("PATCH", merchant, ["name": "Late"]), ("DELETE", "users/\(user)", nil),
            ]
            for (method, path, json) in deeds {
                world.server.interruptions.interrupt {
                    try await world.change("clients", own.id, ["scope": "profile"])
                }
                let address = "/admin/v1/\(path)"
                let answer =
                    if let json {
                        try await world.server.send(method, address, json: json, bearer: token)
                    } else {
                        try await world.server.send(method, address, bearer: token)
                    }
                #expect(world.server.interruptions.wasInterrupted, "\(method) \(path)")
                expectProblem(answer, 403)
                try await world.change("clients", own.id, ["scope": "admin:merchant profile"])
            }
            #expect(try await world.server.get("/admin/v1/\(merchant)", bearer: token).json["name"] == "Loom")
            #expect(try await world.token(["grant_type": "client_credentials"], as: world.backend).status == 200)
        }
    }

    @Test(
        "A platform administrator who loses the admin scope during a request to delete a user deletes none",
        arguments: Backend.available)
    func deletion(backend: Backend) async throws {
        try await World.with(backend) { world in
            let platform = try await World.client(
                world.server, world.admin,
                ["client_name": "Second", "scope": "admin profile", "grant_types": ["client_credentials"]])
            let token = try await world.clientToken(platform, scope: "admin")
            let user = try await World.make(world.server, token, "users", ["email": "late@example.com"])
            let id = try user.require("user_id")
            let path = "/admin/v1/users/\(id)"
            world.server.interruptions.interrupt {
                try await world.change("clients", platform.id, ["scope": "profile"])
            }
            expectProblem(try await world.server.send("DELETE", path, bearer: token), 403)
            #expect(world.server.interruptions.wasInterrupted)
            #expect(try await world.server.get(path, bearer: world.admin).status == 200)
        }
    }

    private func administrator(_ world: World) async throws -> World.Actor {
        try await world.confidential(["scope": "admin:merchant profile", "grant_types": ["client_credentials"]])
    }

    private func issuer(_ world: World, _ number: Int) async throws -> Answer {
        try await World.make(
            world.server, world.admin, "issuers",
            [
                "merchant_id": .string(world.merchant), "issuer": .string("https://\(number).example"),
                "secret": "a shared secret of at least 32 bytes",
            ])
    }

    private func patch(_ world: World, _ token: String, _ path: String, _ json: JSON) async throws -> Answer {
        try await world.server.send("PATCH", "/admin/v1/\(path)", json: json, bearer: token)
    }
}
