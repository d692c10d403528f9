import JSON
import Storage
import TestSupport
import Testing

@Suite("A merchant administrator sees and changes only its own merchant")
struct MerchantAdministratorTests {
    @Test("A merchant administrator reads and changes only its own merchant's record", arguments: Backend.available)
    func merchants(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
            let list = try await world.server.get("/admin/v1/merchants", bearer: token)
            #expect(list.json["items"]?.array?.compactMap { $0["id"]?.string } == [world.merchant])
            #expect(try await world.server.get("/admin/v1/merchants/\(world.merchant)", bearer: token).status == 200)
            expectProblem(try await world.server.get("/admin/v1/merchants/\(world.rival)", bearer: token), 404)
            expectProblem(try await world.patch(token, "merchants/\(world.rival)", ["name": "Mine"]), 404)
            expectProblem(try await World.make(world.server, token, "merchants", ["name": "New"]), 403)
            expectProblem(try await world.patch(token, "merchants/\(world.merchant)", ["disabled": true]), 403)
            expectProblem(try await world.delete(token, "merchants/\(world.merchant)"), 403)
            #expect(try await world.patch(token, "merchants/\(world.merchant)", ["name": "Loom Ltd"]).status == 200)
        }
    }

    @Test(
        "A merchant administrator sees only its merchant's clients, and gets 404 for any other client",
        arguments: Backend.available)
    func clients(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
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

    @Test("A merchant administrator creates clients of its merchant only", arguments: Backend.available)
    func makesClients(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
            let own = try await World.make(world.server, token, "clients", ["client_name": "Own"])
            #expect(own.status == 201)
            #expect(own.json["merchant_id"]?.string == world.merchant)
            let other = try await World.make(
                world.server, token, "clients", ["client_name": "x", "merchant_id": .string(world.rival)])
            expectProblem(other, 403, member: "merchant_id")
        }
    }

    @Test("A merchant administrator cannot grant admin scopes", arguments: Backend.available)
    func grantsNothing(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
            for scope in ["admin", "admin:merchant", "profile admin:merchant"] {
                let made = try await World.make(
                    world.server, token, "clients", ["client_name": "x", "scope": .string(scope)])
                expectProblem(made, 403, member: "scope")
                let changed = try await world.patch(token, "clients/\(world.backend.id)", ["scope": .string(scope)])
                // A member that no merchant's client may have is refused for every administrator.
                expectProblem(changed, scope == "admin" ? 400 : 403, member: "scope")
            }
            let kept = try await world.server.get("/admin/v1/clients/\(world.backend.id)", bearer: token)
            #expect(kept.json["scope"]?.string == "profile email")
        }
    }

    @Test("A merchant administrator sees only users connected to its clients", arguments: Backend.available)
    func users(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.server.database.change("DELETE FROM connections")
            let token = try await world.merchantAdmin()
            #expect(try await world.server.get("/admin/v1/users", bearer: token).json["items"]?.array?.isEmpty == true)
            for (method, path) in [("GET", world.user), ("PATCH", world.user), ("DELETE", world.user), ("GET", "7")] {
                let answer = try await world.server.send(
                    method, "/admin/v1/users/\(path)", json: ["name": "x"], bearer: token)
                expectProblem(answer, 404)
            }
            _ = try await world.signIn()
            let seen = try await world.server.get("/admin/v1/users/\(world.user)", bearer: token)
            #expect(seen.json["email"]?.string == World.email)
            let rival = try await world.merchantAdmin(of: world.rival)
            expectProblem(try await world.server.get("/admin/v1/users/\(world.user)", bearer: rival), 404)
        }
    }

    @Test(
        "A merchant administrator cannot set a user's email, email_verified, password, attributes or disabled",
        arguments: Backend.available)
    func takeover(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
            _ = try await world.signIn()
            let cases: [(String, JSON)] = [
                ("email", "thief@example.com"), ("password", "a thief's password"), ("email_verified", true),
                ("disabled", true), ("attributes", ["roles": "owner"]),
            ]
            for (member, value) in cases {
                let answer = try await world.patch(token, "users/\(world.user)", .object([.init(member, value)]))
                expectProblem(answer, 403, member: member)
            }
            #expect(try await world.signIn().status == 200)
            #expect(try await world.patch(token, "users/\(world.user)", ["name": "Ada L."]).status == 200)
        }
    }

    @Test(
        "A merchant administrator creates users, and cannot take over an existing user by creating one",
        arguments: Backend.available)
    func makesUsers(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
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
        "A merchant administrator who deletes a user ends the connection to the merchant, not the user",
        arguments: Backend.available)
    func disconnects(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
            let phone = try await world.signIn()
            let elsewhere = try await world.signIn(with: world.rivalBackend)
            #expect(try await world.delete(token, "users/\(world.user)").status == 204)
            #expect(try await !world.isLive(try phone.require("access_token")))
            #expect(try await world.isLive(try elsewhere.require("access_token")))
            expectProblem(try await world.server.get("/admin/v1/users/\(world.user)", bearer: token), 404)
            #expect(try await world.server.get("/admin/v1/users/\(world.user)", bearer: world.admin).status == 200)
        }
    }

    @Test(
        "A code issued before a merchant removed the code's user does not connect the user again",
        arguments: Backend.available)
    func pendingCodes(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
            let phone = try await world.signIn(scope: "profile offline_access")
            let (bought, ticket) = (try await world.code(of: phone), try await world.sessionCode(of: phone))
            let authorized = try await world.authorizationCode()
            // The redemption began a moment before.
            world.server.interruptions.interrupt {
                world.server.clock.advance(by: .milliseconds(5))
                _ = try await world.delete(token, "users/\(world.user)")
            }
            try await expect(400, "invalid_grant", try await world.redeem(bought, as: world.backend))
            #expect(world.server.interruptions.wasInterrupted)
            try await expect(400, "invalid_grant", try await world.redeemAuthorization(authorized))
            var webview = Browser(world.server)
            #expect(try await webview.open("/auth/session/\(ticket)").status == 410)
            #expect(try await world.count("connections") == 0)
        }
    }

    @Test("A merchant administrator gives at most a hundred clients a callback_uri", arguments: Backend.available)
    func told(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
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
            expectProblem(try await world.patch(token, "clients/\(world.app.id)", callback), 400)
            let rename: JSON = ["client_name": "Loom's app"]
            #expect(try await world.patch(token, "clients/\(world.app.id)", rename).status == 200)
            // The platform may set one, and the merchant may change one that is set.
            #expect(try await world.patch(world.admin, "clients/\(world.app.id)", callback).status == 200)
            let moved: JSON = ["callback_uri": "https://loom.example/elsewhere"]
            #expect(try await world.patch(token, "clients/\(world.app.id)", moved).status == 200)
        }
    }

    @Test("No client can register a redirect URI or other address at this server", arguments: Backend.available)
    func ownAddresses(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
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
                        try await world.patch(administrator, "clients/\(world.backend.id)", document), 400,
                        member: member)
                }
                expectProblem(try await World.make(world.server, token, "clients", document), 400, member: member)
            }
        }
    }

    @Test("A merchant administrator cannot give its merchant another merchant's name", arguments: Backend.available)
    func anothersName(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
            let path = "merchants/\(world.merchant)"
            for name in ["Rival", "RIVAL", " rival.", "Ri-val"] {
                expectProblem(try await world.patch(token, path, ["name": .string(name)]), 400, member: "name")
            }
            for name in ["Loom", "loom", "Rivals"] {
                #expect(try await world.patch(token, path, ["name": .string(name)]).status == 200, "\(name)")
            }
            #expect(try await world.patch(world.admin, path, ["name": "Rival"]).status == 200)
        }
    }

    @Test(
        "A link in a user's profile cannot be a javascript:, vbscript: or data: address",
        arguments: Backend.available)
    func scripts(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.merchantAdmin()
            _ = try await world.signIn()
            for member in ["picture", "website", "profile"] {
                for text in [
                    "javascript:alert(1)", "data:text/html,x", " JavaScript:x", "java\tscript:x", "vbscript:x",
                ] {
                    let change = JSON.object([.init(member, .string(text))])
                    expectProblem(try await world.patch(token, "users/\(world.user)", change), 400, member: member)
                }
                for text in ["https://ada.example/a:b", "HTTP://ada.example", "www.ada.example", "/ada?a:b"] {
                    let change = JSON.object([.init(member, .string(text))])
                    #expect(try await world.patch(token, "users/\(world.user)", change).status == 200, "\(text)")
                }
            }
        }
    }
}

extension World {
    /// A token of a new client that administers `merchant`, or Loom.
    func merchantAdmin(of merchant: String? = nil) async throws -> String {
        let client = try await confidential(
            ["scope": "admin:merchant", "grant_types": ["client_credentials"]], of: merchant)
        return try await clientToken(client, scope: "admin:merchant")
    }

    func patch(_ token: String, _ path: String, _ json: JSON) async throws -> Answer {
        try await server.send("PATCH", "/admin/v1/\(path)", json: json, bearer: token)
    }

    func delete(_ token: String, _ path: String) async throws -> Answer {
        try await server.send("DELETE", "/admin/v1/\(path)", bearer: token)
    }
}
