import JSON
import Storage
import TestSupport
import Testing

@Suite("A merchant's administrator sees and touches its own merchant only")
struct MerchantAdministratorTests {
    @Test("a merchant's administrator reads and changes its own merchant only", arguments: Backend.available)
    func merchants(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            let list = try await world.server.get("/admin/v1/merchants", bearer: token)
            #expect(list.json["items"]?.array?.compactMap { $0["id"]?.string } == [world.merchant])
            #expect(try await world.server.get("/admin/v1/merchants/\(world.merchant)", bearer: token).status == 200)
            expectProblem(try await world.server.get("/admin/v1/merchants/\(world.rival)", bearer: token), 404)
            expectProblem(try await patch(world, token, "merchants/\(world.rival)", ["name": "Mine"]), 404)
            expectProblem(try await World.make(world.server, token, "merchants", ["name": "New"]), 403)
            expectProblem(try await patch(world, token, "merchants/\(world.merchant)", ["disabled": true]), 403)
            expectProblem(try await delete(world, token, "merchants/\(world.merchant)"), 403)
            #expect(try await patch(world, token, "merchants/\(world.merchant)", ["name": "Loom Ltd"]).status == 200)
        }
    }

    @Test("a merchant's administrator sees its own clients; others answer 404", arguments: Backend.available)
    func clients(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            let list = try await world.server.get("/admin/v1/clients", bearer: token)
            let owners = Set(list.json["items"]?.array?.compactMap { $0["merchant_id"]?.string } ?? [])
            #expect(owners == [world.merchant])
            for other in [world.rivalBackend.id, world.server.adminID, "nobody"] {
                for (method, path) in [
                    ("GET", other), ("PATCH", other), ("DELETE", other), ("GET", "\(other)/secrets"),
                    ("POST", "\(other)/secrets"), ("DELETE", "\(other)/secrets/x"),
                ] {
                    let answer = try await world.server.send(
                        method, "/admin/v1/clients/\(path)", json: ["client_name": "Mine"], bearer: token)
                    expectProblem(answer, 404)
                }
            }
            #expect(try await world.token(["grant_type": "client_credentials"], as: world.rivalBackend).status == 200)
        }
    }

    @Test("a merchant's administrator creates clients of its own merchant only", arguments: Backend.available)
    func makesClients(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            let own = try await World.make(world.server, token, "clients", ["client_name": "Own"])
            #expect(own.status == 201)
            #expect(own.json["merchant_id"]?.string == world.merchant)
            let other = try await World.make(
                world.server, token, "clients", ["client_name": "x", "merchant_id": .string(world.rival)])
            expectProblem(other, 403, member: "merchant_id")
        }
    }

    @Test("a merchant's administrator cannot grant administration", arguments: Backend.available)
    func grantsNothing(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            for scope in ["admin", "admin:merchant", "profile admin:merchant"] {
                let made = try await World.make(
                    world.server, token, "clients", ["client_name": "x", "scope": .string(scope)])
                expectProblem(made, 403, member: "scope")
                let changed = try await patch(world, token, "clients/\(world.backend.id)", ["scope": .string(scope)])
                // A member that no merchant's client may have is refused for every administrator.
                expectProblem(changed, scope == "admin" ? 400 : 403, member: "scope")
            }
            let kept = try await world.server.get("/admin/v1/clients/\(world.backend.id)", bearer: token)
            #expect(kept.json["scope"]?.string == "profile email")
        }
    }

    @Test("a merchant's administrator sees only users connected to its clients", arguments: Backend.available)
    func people(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.server.database.change("DELETE FROM connections")
            let token = try await merchantAdmin(world)
            #expect(try await world.server.get("/admin/v1/users", bearer: token).json["items"]?.array?.isEmpty == true)
            for (method, path) in [("GET", world.user), ("PATCH", world.user), ("DELETE", world.user), ("GET", "7")] {
                let answer = try await world.server.send(
                    method, "/admin/v1/users/\(path)", json: ["name": "x"], bearer: token)
                expectProblem(answer, 404)
            }
            _ = try await world.signIn()
            let seen = try await world.server.get("/admin/v1/users/\(world.user)", bearer: token)
            #expect(seen.json["email"]?.string == World.email)
            let rival = try await merchantAdmin(world, of: world.rival)
            expectProblem(try await world.server.get("/admin/v1/users/\(world.user)", bearer: rival), 404)
        }
    }

    @Test("a merchant's administrator cannot set a user's address, password or flags", arguments: Backend.available)
    func takeover(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            _ = try await world.signIn()
            let cases: [(String, JSON)] = [
                ("email", "thief@example.com"), ("password", "a thief's password"), ("email_verified", true),
                ("disabled", true), ("attributes", ["roles": "owner"]),
            ]
            for (member, value) in cases {
                let answer = try await patch(world, token, "users/\(world.user)", .object([.init(member, value)]))
                expectProblem(answer, 403, member: member)
            }
            #expect(try await world.signIn().status == 200)
            #expect(try await patch(world, token, "users/\(world.user)", ["name": "Ada L."]).status == 200)
        }
    }

    @Test(
        "a merchant's administrator creates users, and cannot take over an existing one that way",
        arguments: Backend.available)
    func makesPeople(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            let taken = try await World.make(world.server, token, "users", ["email": .string(World.email)])
            expectProblem(taken, 409, member: "email")
            for email in [World.email, "new@example.com"] {
                let known = try await World.make(
                    world.server, token, "users", ["email": .string(email), "password": "a thief's password"])
                expectProblem(known, 403, member: "password")
                #expect(known.json["detail"]?.string?.contains("/password") == true)
            }
            let verified = try await World.make(
                world.server, token, "users", ["email": "new@example.com", "email_verified": true])
            expectProblem(verified, 403, member: "email_verified")
            let new = try await World.make(world.server, token, "users", ["email": "new@example.com"])
            #expect(new.status == 201)
            #expect(new.json["email_verified"]?.bool == false)
            let id = try new.require("user_id")
            #expect(try await world.server.get("/admin/v1/users/\(id)", bearer: token).status == 200)
        }
    }

    @Test(
        "deleting a user as a merchant's administrator ends the connection, not the user", arguments: Backend.available)
    func disconnects(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            let phone = try await world.signIn()
            let elsewhere = try await world.signIn(with: world.rivalBackend)
            #expect(try await delete(world, token, "users/\(world.user)").status == 204)
            #expect(try await !world.isLive(try phone.require("access_token")))
            #expect(try await world.isLive(try elsewhere.require("access_token")))
            expectProblem(try await world.server.get("/admin/v1/users/\(world.user)", bearer: token), 404)
            #expect(try await world.server.get("/admin/v1/users/\(world.user)", bearer: world.admin).status == 200)
        }
    }

    @Test(
        "a code that waits when a merchant disconnects its user does not connect the user again",
        arguments: Backend.available)
    func pendingCodes(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            let phone = try await world.signIn(scope: "profile offline_access")
            let (bought, ticket) = (try await world.code(of: phone), try await world.sessionCode(of: phone))
            let authorized = try await world.authorizationCode()
            // The redemption began a moment before.
            world.server.interruptions.interrupt {
                world.server.clock.advance(by: .milliseconds(5))
                _ = try await delete(world, token, "users/\(world.user)")
            }
            try await expect(400, "invalid_grant", try await world.redeem(bought, as: world.backend))
            #expect(world.server.interruptions.wasInterrupted)
            try await expect(400, "invalid_grant", try await world.redeemAuthorization(authorized))
            var webview = Browser(world.server)
            #expect(try await webview.open("/auth/session/\(ticket)").status == 410)
            #expect(try await world.count("connections") == 0)
        }
    }

    @Test(
        "each change of a user by a merchant's administrator stores messages for any number of the merchant's clients",
        arguments: Backend.available)
    func told(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await merchantAdmin(world)
            let told = { (number: Int) -> JSON in
                [
                    "client_name": .string("Client \(number)"), "redirect_uris": ["https://loom.example/in"],
                    "grant_types": ["authorization_code"], "callback_uri": "https://loom.example/told",
                ]
            }
            for number in 1...100 {
                let made = try await world.server.send("POST", "/admin/v1/clients", json: told(number), bearer: token)
                #expect(made.status == 201, "\(made.body)")
            }
            let beyond = try await world.server.send("POST", "/admin/v1/clients", json: told(101), bearer: token)
            expectProblem(beyond, 400)
            #expect(beyond.body.contains("callback_uri"))
            let callback: JSON = ["callback_uri": "https://loom.example/told"]
            expectProblem(try await patch(world, token, "clients/\(world.app.id)", callback), 400)
            let rename: JSON = ["client_name": "Loom's app"]
            #expect(try await patch(world, token, "clients/\(world.app.id)", rename).status == 200)
            // The platform may, and who has one may change it.
            #expect(try await patch(world, world.admin, "clients/\(world.app.id)", callback).status == 200)
            let moved: JSON = ["callback_uri": "https://loom.example/elsewhere"]
            #expect(try await patch(world, token, "clients/\(world.app.id)", moved).status == 200)
        }
    }

    func merchantAdmin(_ world: World, of merchant: String? = nil) async throws -> String {
        let client = try await world.confidential(
            ["scope": "admin:merchant", "grant_types": ["client_credentials"]], of: merchant)
        return try await world.clientToken(client, scope: "admin:merchant")
    }

    func patch(_ world: World, _ token: String, _ path: String, _ json: JSON) async throws -> Answer {
        try await world.server.send("PATCH", "/admin/v1/\(path)", json: json, bearer: token)
    }

    func delete(_ world: World, _ token: String, _ path: String) async throws -> Answer {
        try await world.server.send("DELETE", "/admin/v1/\(path)", bearer: token)
    }
}
