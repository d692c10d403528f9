import JSON
import Storage
import TestSupport
import Testing

@Suite("Only a client with an admin scope administers, by a short-lived token")
struct AdministratorTests {
    private static let paths = ["merchants", "clients", "users", "issuers"]

    @Test("Administration answers only requests with a token that has the admin scope", arguments: Backend.available)
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

    @Test("A token has the admin scope only if the token request names that scope", arguments: Backend.available)
    func byName(backend: Backend) async throws {
        try await World.with(backend) { world in
            let admin = World.Actor(id: world.server.adminID, secret: world.server.adminSecret, redirectURI: "")
            let plain = try await world.clientToken(admin)
            expectProblem(try await world.server.get("/admin/v1/clients", bearer: plain), 403)
        }
    }

    @Test("An admin token is refused once its client is disabled", arguments: Backend.available)
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

    @Test("A merchant's client, or a public one, cannot have the platform's admin scope", arguments: Backend.available)
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

    @Test(
        "A client with a redirect URI of an app cannot have an admin scope, even if it has a secret",
        arguments: Backend.available)
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

    @Test(
        "Two clients without a merchant can neither buy codes for each other nor introspect each other's tokens",
        arguments: Backend.available)
    func withoutMerchant(backend: Backend) async throws {
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
        "A merchant's client cannot administer the platform even if its database row has the admin scope",
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

    @Test("An admin token lives an hour at most, whatever token lifetime its client has", arguments: Backend.available)
    func lifetime(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential([
                "scope": "profile admin:merchant", "access_token_lifetime": 86400,
                "grant_types": ["client_credentials"],
            ])
            let plain = try await world.token(["grant_type": "client_credentials"], as: client)
            #expect(plain.json["expires_in"]?.integer == 86400)
            let admin = try await world.token(
                ["grant_type": "client_credentials", "scope": "admin:merchant"], as: client)
            #expect(admin.json["expires_in"]?.integer == 3600)
            let token = try admin.require("access_token")
            world.server.clock.advance(by: .seconds(3599))
            #expect(try await world.server.get("/admin/v1/clients", bearer: token).status == 200)
            world.server.clock.advance(by: .seconds(1))
            expectProblem(try await world.server.get("/admin/v1/clients", bearer: token), 401)
        }
    }

    @Test(
        "A client credentials token, or one with a refresh token, lives at most a day; others as configured",
        arguments: Backend.available)
    func own(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential([
                "access_token_lifetime": 31_536_000, "grant_types": ["password"],
            ])
            #expect(try await world.signIn(with: client).json["expires_in"]?.integer == 31_536_000)
            let grants: JSON = ["password", "refresh_token", "client_credentials"]
            #expect(try await world.change("clients", client.id, ["grant_types": grants]).status == 200)
            let own = try await world.token(["grant_type": "client_credentials"], as: client)
            #expect(own.json["expires_in"]?.integer == 86400)
            let refreshable = try await world.signIn(with: client)
            #expect(refreshable.json["expires_in"]?.integer == 86400)
            let refreshed = try await world.refresh(try refreshable.require("refresh_token"), as: client)
            #expect(refreshed.json["expires_in"]?.integer == 86400)
        }
    }

    @Test(
        "An admin token lives less than an hour if its client's token lifetime is shorter",
        arguments: Backend.available)
    func shorter(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential(["scope": "admin:merchant", "access_token_lifetime": 60])
            let admin = try await world.token(
                ["grant_type": "client_credentials", "scope": "admin:merchant"], as: client)
            #expect(admin.json["expires_in"]?.integer == 60)
        }
    }

    @Test("An admin token comes without a refresh token, even for SPiD's SDKs", arguments: Backend.available)
    func refresh(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential([
                "scope": "profile admin:merchant", "spid_compatible": true,
                "grant_types": ["client_credentials", "refresh_token"],
            ])
            let plain = try await world.token(["grant_type": "client_credentials"], as: client)
            #expect(plain.json["refresh_token"] != nil)
            for scope in ["admin:merchant", "profile admin:merchant"] {
                let admin = try await world.token(["grant_type": "client_credentials", "scope": scope], as: client)
                #expect(admin.status == 200)
                #expect(admin.json["refresh_token"] == nil)
            }
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
