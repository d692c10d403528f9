import JSON
import Storage
import TestSupport
import Testing

@Suite("Who may administer")
struct AdministratorTests {
    private static let paths = ["merchants", "clients", "users", "issuers"]

    @Test("without an admin token administration shows nothing", arguments: Backend.available)
    func needed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn().require("access_token")
            let own = try await world.clientToken(world.backend)
            for path in Self.paths {
                let none = try await world.server.get("/admin/v1/\(path)")
                expectProblem(none, 401)
                #expect(none.header("www-authenticate") == "Bearer realm=\"spindle\"")
                expectProblem(try await world.server.get("/admin/v1/\(path)", bearer: "unknown"), 401)
                expectProblem(try await world.server.get("/admin/v1/\(path)", bearer: phone), 403)
                expectProblem(try await world.server.get("/admin/v1/\(path)", bearer: own), 403)
                #expect(try await world.server.get("/admin/v1/\(path)", bearer: world.admin).status == 200)
            }
        }
    }

    @Test("a token carries the admin scope only when the request names it", arguments: Backend.available)
    func byName(backend: Backend) async throws {
        try await World.with(backend) { world in
            let admin = World.Actor(id: world.server.adminID, secret: world.server.adminSecret, redirectURI: "")
            let plain = try await world.clientToken(admin)
            expectProblem(try await world.server.get("/admin/v1/clients", bearer: plain), 403)
        }
    }

    @Test("an admin token dies with the client that got it", arguments: Backend.available)
    func disabledAdmin(backend: Backend) async throws {
        try await World.with(backend) { world in
            let second = try await World.client(
                world.server, world.admin,
                ["client_name": "Second", "scope": "admin", "grant_types": ["client_credentials"]])
            let token = try await world.clientToken(second, scope: "admin")
            #expect(try await world.server.get("/admin/v1/clients", bearer: token).status == 200)
            try await world.change("clients", second.id, ["disabled": true])
            expectProblem(try await world.server.get("/admin/v1/clients", bearer: token), 401)
        }
    }

    @Test("a merchant's client, or a public one, cannot have the platform's admin scope", arguments: Backend.available)
    func grants(backend: Backend) async throws {
        try await World.with(backend) { world in
            let merchants = try await World.make(
                world.server, world.admin, "clients",
                ["client_name": "x", "merchant_id": .string(world.merchant), "scope": "admin"])
            expectProblem(merchants, 400, member: "scope")
            let publicAdmin = try await World.make(
                world.server, world.admin, "clients",
                ["client_name": "x", "scope": "admin", "token_endpoint_auth_method": "none"])
            expectProblem(publicAdmin, 400, member: "scope")
            expectProblem(
                try await world.change("clients", world.backend.id, ["scope": "profile admin"]), 400, member: "scope")
            let token = try await world.token(
                ["grant_type": "client_credentials", "scope": "admin"], as: world.backend)
            #expect(token.error == "invalid_scope")
        }
    }

    @Test("an app that has a secret, which is in each copy of it, administers", arguments: Backend.available)
    func apps(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site: JSON = ["https://loom.example/in"]
            for (scope, merchant) in [("admin:merchant", world.merchant), ("admin", nil)] as [(String, String?)] {
                func make(_ addresses: JSON) async throws -> Answer {
                    try await World.make(
                        world.server, world.admin, "clients",
                        .members([
                            "client_name": "Steward", "scope": .string(scope), "redirect_uris": addresses,
                            "grant_types": ["authorization_code", "client_credentials"],
                            "merchant_id": merchant.map { .string($0) },
                        ]))
                }
                for app: JSON in [["com.loom.books:/in"], ["https://loom.example/in", "com.loom.books:/in"]] {
                    expectProblem(try await make(app), 400, member: "scope")
                    let made = try await make(site)
                    #expect(made.status == 201, "\(made)")
                    let client = World.Actor(
                        id: try made.require("client_id"), secret: try made.require("client_secret"), redirectURI: "")
                    let path = "/admin/v1/clients/\(client.id)"
                    let change: JSON = ["redirect_uris": app]
                    let own = try await world.clientToken(client, scope: scope)
                    for token in [world.admin, own] {
                        let changed = try await world.server.send("PATCH", path, json: change, bearer: token)
                        expectProblem(changed, 400, member: "scope")
                        #expect(try await world.server.get(path, bearer: token).json["redirect_uris"] == site)
                    }
                }
            }
            let app = try await world.confidential(["redirect_uris": ["com.loom.books:/in"]])
            expectProblem(
                try await world.change("clients", app.id, ["scope": "profile admin:merchant"]), 400, member: "scope")
        }
    }

    @Test("two clients without a merchant are not siblings of one merchant", arguments: Backend.available)
    func nobodysMerchant(backend: Backend) async throws {
        try await World.with(backend) { world in
            let registration: JSON = [
                "client_name": "Platform's", "scope": "admin profile", "redirect_uris": ["https://platform.example/"],
                "grant_types": ["password", "authorization_code"],
            ]
            let first = try await World.client(world.server, world.admin, registration)
            let second = try await World.client(world.server, world.admin, registration)
            let token = try await world.signIn(with: first).require("access_token")
            #expect(try await world.exchange(token, for: second).status == 403)
            #expect(try await world.exchange(token, for: first).status == 403)
            #expect(try await world.introspect(token, as: second).json["active"]?.bool == false)
        }
    }

    @Test(
        "a merchant's client cannot administer the platform even when its row has the scope",
        arguments: Backend.available)
    func merchantsAdminScope(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.server.database.write { db in
                _ = try db.execute("UPDATE clients SET scope = \("admin") WHERE id = \(world.backend.id)")
            }
            world.server.clock.advance(by: .seconds(2))
            let token = try await world.clientToken(world.backend, scope: "admin")
            expectProblem(try await world.server.get("/admin/v1/clients", bearer: token), 403)
        }
    }
}

/// Expects a problem document (RFC 9457) that names `member`.
func expectProblem(
    _ answer: Answer, _ status: Int, member: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(answer.status == status, "\(answer)", sourceLocation: sourceLocation)
    #expect(answer.header("content-type") == "application/problem+json", sourceLocation: sourceLocation)
    #expect(answer.json["status"]?.integer == Int64(status), sourceLocation: sourceLocation)
    #expect(answer.json["title"]?.string?.isEmpty == false, sourceLocation: sourceLocation)
    #expect(answer.json["detail"]?.string?.isEmpty == false, sourceLocation: sourceLocation)
    if let member {
        #expect(answer.json["member"]?.string == member, "\(answer)", sourceLocation: sourceLocation)
    }
}
