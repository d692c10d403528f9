import JSON
import TestSupport
import Testing

@Suite("A client administers what its scope's role allows")
struct RoleTests {
    struct Role: Hashable {
        let scope: String
        let isOfMerchant: Bool
    }

    private static let roles = [
        Role(scope: "admin", isOfMerchant: false), Role(scope: "admin:merchant", isOfMerchant: true),
        Role(scope: "admin:support", isOfMerchant: false), Role(scope: "admin:support", isOfMerchant: true),
        Role(scope: "admin:audit", isOfMerchant: false), Role(scope: "admin:audit", isOfMerchant: true),
    ]

    /// A token of a new client with the role.
    private static func token(of role: Role, in world: World) async throws -> String {
        var document: [JSON.Member] = [
            .init("client_name", "Steward"), .init("grant_types", ["client_credentials"]),
            .init("scope", .string(role.scope)),
        ]
        if role.isOfMerchant { document.append(.init("merchant_id", .string(world.merchant))) }
        let client = try await World.client(world.server, world.admin, .object(document))
        return try await world.clientToken(client, scope: role.scope)
    }

    /// The important cells, apart from the declarations: who may call a route, each other role may not.
    private static let expected: KeyValuePairs<String, [Role]> = [
        "POST /admin/v1/merchants": [roles[0]],
        "DELETE /admin/v1/merchants/{id}": [roles[0]],
        "PATCH /admin/v1/merchants/{id}": [roles[0], roles[1]],
        "GET /admin/v1/merchants": roles,
        "POST /admin/v1/clients": [roles[0], roles[1]],
        "PATCH /admin/v1/clients/{id}": [roles[0], roles[1]],
        "DELETE /admin/v1/clients/{id}": [roles[0], roles[1]],
        "POST /admin/v1/clients/{id}/secrets": [roles[0], roles[1]],
        "DELETE /admin/v1/clients/{id}/secrets/{sid}": [roles[0], roles[1]],
        "GET /admin/v1/clients": roles,
        "POST /admin/v1/initial-access-tokens": [roles[0], roles[1]],
        "POST /admin/v1/users": [roles[0], roles[1]],
        "GET /admin/v1/users": [roles[0], roles[1], roles[2], roles[3]],
        "GET /admin/v1/users/{id}": [roles[0], roles[1], roles[2], roles[3]],
        "PATCH /admin/v1/users/{id}": [roles[0], roles[1], roles[2]],
        "DELETE /admin/v1/users/{id}": [roles[0], roles[1]],
        "GET /admin/v1/users/{id}/data": [roles[0]],
        "GET /admin/v1/users/{id}/sessions": [roles[0], roles[1], roles[2], roles[3]],
        "DELETE /admin/v1/users/{id}/sessions": [roles[0], roles[1], roles[2], roles[3]],
        "DELETE /admin/v1/users/{id}/consents/{part}": [roles[0], roles[1], roles[2], roles[3]],
        "DELETE /admin/v1/users/{id}/identities/{part}": [roles[0], roles[1]],
        "POST /admin/v1/users/{id}/unlock": [roles[0], roles[1], roles[2], roles[3]],
        "POST /admin/v1/users/{id}/mails": [roles[0], roles[1], roles[2], roles[3]],
        "POST /admin/v1/users/{id}/deletion": [roles[0], roles[2]],
        "POST /admin/v1/keys": [roles[0]],
        "DELETE /admin/v1/keys/{kid}": [roles[0]],
        "DELETE /admin/v1/deliveries/{id}": [roles[0]],
        "PATCH /admin/v1/issuers/{id}": [roles[0], roles[1]],
        "PATCH /admin/v1/webhooks/{id}": [roles[0], roles[1]],
        "GET /admin/v1/issuers": roles,
    ]

    @Test(
        "Each route of administration answers the roles that it declares, and refuses each other one with 403",
        arguments: Backend.available)
    func matrix(backend: Backend) async throws {
        try await World.with(backend) { world in
            var tokens: [Role: String] = [:]
            for role in Self.roles { tokens[role] = try await Self.token(of: role, in: world) }
            let paths = try await world.server.get("/openapi.json").json["paths"]?.members ?? []
            var seen: Set<String> = []
            for path in paths where path.name.hasPrefix("/admin/v1/") {
                for method in path.value.members ?? [] {
                    let route = "\(method.name.uppercased()) \(path.name)"
                    seen.insert(route)
                    let declared = method.value["x-scopes"]
                    let expected = Self.expected.first { $0.key == route }?.value
                    for role in Self.roles {
                        let scopes = declared?[role.isOfMerchant ? "merchant" : "platform"]?.strings ?? []
                        let isAllowed = scopes.contains(role.scope)
                        #expect(expected.map { $0.contains(role) == isAllowed } ?? true, "\(route): \(role)")
                        // The parameter is refused after the role, and before anything is done.
                        let answer = try await world.server.send(
                            method.name.uppercased(), path.name.replacing(/\{[^}]*\}/, with: "x") + "?surplus=1",
                            bearer: tokens[role])
                        expectProblem(answer, isAllowed ? 400 : 403)
                        #expect((answer.json["parameter"] != nil) == isAllowed, "\(route): \(role): \(answer)")
                    }
                }
            }
            let routes = try world.server.routes.filter { $0.contains(" /admin/v1/") }
            #expect(seen == Set(routes))
            #expect(Set(Self.expected.map(\.key)).subtracting(routes).sorted() == [])
        }
    }

    @Test("A refusal for lack of a role names the scope that the call needs", arguments: Backend.available)
    func named(backend: Backend) async throws {
        try await World.with(backend) { world in
            for (role, method, path, scope) in [
                (Self.roles[4], "GET", "users", "admin:support"), (Self.roles[5], "GET", "users", "admin:support"),
                (Self.roles[2], "POST", "clients", "admin"), (Self.roles[3], "POST", "clients", "admin:merchant"),
                (Self.roles[2], "POST", "merchants", "admin"),
            ] {
                let token = try await Self.token(of: role, in: world)
                let answer = try await world.server.send(method, "/admin/v1/\(path)", bearer: token)
                expectProblem(answer, 403)
                #expect(answer.json["detail"] == .string("The access token lacks the scope '\(scope)'."))
            }
            let token = try await Self.token(of: Self.roles[1], in: world)
            let answer = try await world.server.send("POST", "/admin/v1/merchants", json: [:], bearer: token)
            #expect(answer.json["detail"] == "Only the platform's administrator may make a merchant.")
        }
    }

    @Test(
        "The platform's support disables a user, and changes nothing else of one: no enabling, address or password",
        arguments: Backend.available)
    func support(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await Self.token(of: Self.roles[2], in: world)
            func change(_ changes: JSON) async throws -> Answer {
                try await world.server.send("PATCH", "/admin/v1/users/\(world.user)", json: changes, bearer: token)
            }
            for changes in [
                ["email": "x@example.com"], ["email_verified": true], ["password": "correct horse battery"],
                ["phone_number": "+4712345678"], ["phone_number_verified": false], ["attributes": ["a": "b"]],
                ["name": "Eve"], ["name": .null], ["disabled": false], ["disabled": true, "name": "Eve"],
                [:],
            ] as [JSON] {
                expectProblem(try await change(changes), 403)
            }
            let disabled = try await change(["disabled": true])
            #expect(disabled.status == 200 && disabled.json["disabled"] == true, "\(disabled)")
            expectProblem(try await change(["disabled": false]), 403)
        }
    }

    @Test("A merchant's support and audit see that merchant's users and clients alone", arguments: Backend.available)
    func reach(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.newcomer("grace@example.com")
            for role in [Self.roles[3], Self.roles[5]] {
                let token = try await Self.token(of: role, in: world)
                func get(_ path: String) async throws -> Answer {
                    try await world.server.get("/admin/v1/\(path)", bearer: token)
                }
                let clients = try await get("clients").json["items"]?.array ?? []
                #expect(Set(clients.map { $0["merchant_id"]?.string }) == [world.merchant])
                expectProblem(try await get("clients/\(world.rivalBackend.id)"), 404)
                expectProblem(try await get("merchants/\(world.rival)"), 404)
                guard role.scope == "admin:support" else { continue }
                #expect(try await get("users/\(world.user)").status == 200)
                expectProblem(try await get("users/\(stranger)"), 404)
            }
        }
    }

    @Test("Only the platform grants an admin scope, and no token has one that did not ask for it by name")
    func grants() async throws {
        try await World.with(.sqlite) { world in
            let steward = try await Self.token(of: Self.roles[1], in: world)
            for scope in ["admin", "admin:merchant", "admin:support", "admin:audit"] {
                let granted = try await world.server.send(
                    "PATCH", "/admin/v1/clients/\(world.backend.id)", json: ["scope": .string("profile \(scope)")],
                    bearer: steward)
                expectProblem(granted, scope == "admin" ? 400 : 403, member: "scope")
                let app = try await World.make(
                    world.server, world.admin, "clients",
                    [
                        "client_name": "x", "merchant_id": .string(world.merchant), "scope": .string(scope),
                        "token_endpoint_auth_method": "none",
                    ])
                expectProblem(app, 400, member: "scope")
            }
            let client = try await world.confidential([
                "scope": "profile email admin:support admin:audit", "grant_types": ["client_credentials", "password"],
            ])
            let plain = try await world.clientToken(client)
            expectProblem(try await world.server.get("/admin/v1/clients", bearer: plain), 403)
            let user = try await world.token(
                [
                    "grant_type": "password", "username": World.email, "password": World.password,
                    "scope": "admin:support",
                ], as: client)
            #expect(user.error == "invalid_scope")
        }
    }

    @Test(
        "The last client that can administer the platform cannot be deleted, disabled, or lose scope, grant or secret",
        arguments: Backend.available)
    func last(backend: Backend) async throws {
        try await World.with(backend) { world in
            let path = "/admin/v1/clients/\(world.server.adminID)"
            func change(_ changes: JSON) async throws -> Answer {
                try await world.server.send("PATCH", path, json: changes, bearer: world.admin)
            }
            let secrets = try await world.server.get("\(path)/secrets", bearer: world.admin)
            let secret = try #require(secrets.json["items"]?.array?.first?["id"]?.string)
            func attempts() async throws -> [Answer] {
                [
                    try await change(["disabled": true]), try await change(["scope": "admin:support"]),
                    try await change(["grant_types": ["authorization_code"]]),
                    try await world.server.send("DELETE", "\(path)/secrets/\(secret)", bearer: world.admin),
                    try await world.server.send("DELETE", path, bearer: world.admin),
                ]
            }
            for answer in try await attempts() { expectProblem(answer, 409) }
            let kept = try await change(["client_name": "Still here"])
            #expect(kept.status == 200 && kept.json["scope"] == "admin", "\(kept)")

            // Clients that could not take over do not count.
            let helper = try await World.client(
                world.server, world.admin,
                ["client_name": "Helper", "scope": "admin:support", "grant_types": ["client_credentials"]])
            let second = try await World.client(
                world.server, world.admin,
                ["client_name": "Second", "scope": "admin", "grant_types": ["client_credentials"]])
            try await world.change("clients", second.id, ["disabled": true])
            for answer in try await attempts() { expectProblem(answer, 409) }

            try await world.change("clients", second.id, ["disabled": false])
            #expect(helper.id != second.id)
            #expect(try await change(["scope": "admin:support"]).status == 200)
        }
    }

    @Test("Support begins no deletion that the user has less than a day to cancel", arguments: Backend.available)
    func deletionAtOnce(backend: Backend) async throws {
        try await World.with(backend, settings: ["deletion_grace": "0"]) { world in
            let token = try await Self.token(of: Self.roles[2], in: world)
            let path = "/admin/v1/users/\(world.user)"
            expectProblem(try await world.server.send("POST", "\(path)/deletion", bearer: token), 403)
            let user = try await world.server.get(path, bearer: world.admin)
            #expect(user.status == 200 && user.json["deletion_due_at"]?.integer == nil)
        }
    }
}
