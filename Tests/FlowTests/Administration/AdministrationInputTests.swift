import JSON
import Storage
import TestSupport
import Testing

@Suite("Administration accepts only members and values that it can store")
struct AdministrationInputTests {
    @Test(
        "An e-mail address changed by administration is unverified, unless the change says otherwise",
        arguments: Backend.available)
    func address(backend: Backend) async throws {
        try await World.with(backend) { world in
            let steps: [(changes: JSON, isVerified: Bool)] = [
                (["email_verified": true], true), (["name": "Ada"], true),
                (["email": .string(World.email.uppercased())], true), (["email": "new@example.com"], false),
                (["email": "newer@example.com", "email_verified": true], true),
            ]
            for (changes, isVerified) in steps {
                let answer = try await world.change("users", world.user, changes)
                #expect(answer.json["email_verified"]?.bool == isVerified, "\(changes.text)")
            }
        }
    }

    @Test("Administration cannot mark a user without an e-mail address as verified", arguments: Backend.available)
    func noAddress(backend: Backend) async throws {
        try await World.with(backend) { world in
            let user = try #require(Int64(world.user))
            try await world.server.database.change("UPDATE users SET email = NULL WHERE id = \(user)")
            func change(_ json: JSON) async throws -> Answer { try await world.change("users", world.user, json) }
            expectProblem(try await change(["email_verified": true]), 400, member: "email_verified")
            #expect(try await change(["email_verified": false, "name": "Ada"]).status == 200)
            let both = try await change(["email": "new@example.com", "email_verified": true])
            #expect(both.status == 200 && both.json["email_verified"] == true, "\(both)")
        }
    }

    @Test(
        "Administration refuses a document's member that cannot be set, names it, and changes nothing",
        arguments: Backend.available)
    func unknownMembers(backend: Backend) async throws {
        try await World.with(backend) { world in
            let documents: [(kind: String, id: String, good: JSON.Member, names: [String])] = [
                (
                    "clients", world.backend.id, .init("client_name", "New"),
                    ["client_nmae", "client_id", "merchant_id", "client_secret", "sign_secret", "updated_at", ""]
                ),
                ("merchants", world.merchant, .init("name", "New"), ["nmae", "id", "number", "created_at"]),
                ("users", world.user, .init("name", "New"), ["nmae", "user_id", "uuid", "updated_at", "merchant_id"]),
            ]
            for (kind, id, good, names) in documents {
                for name in names {
                    for value: JSON in ["x", .null] {
                        let json = JSON.object([good, .init(name, value)])
                        let refused = try await world.change(kind, id, json)
                        #expect(refused.status == 400, "\(kind) \(name): \(refused)")
                        if !name.isEmpty { expectProblem(refused, 400, member: name) }
                        let shown = try await world.server.get("/admin/v1/\(kind)/\(id)", bearer: world.admin)
                        #expect(shown.json[good.name] != good.value, "\(kind) \(name)")
                        if ["nmae", "client_nmae", "updated_at"].contains(name) {
                            let made = try await World.make(world.server, world.admin, kind, json)
                            #expect(made.status == 400, "\(kind) \(name): \(made)")
                        }
                    }
                }
            }
            for kind in ["issuers", "webhooks", "initial-access-tokens"] {
                let made = try await World.make(
                    world.server, world.admin, kind, ["merchant_id": .string(world.merchant), "nmae": "x"])
                expectProblem(made, 400, member: "nmae")
            }
        }
    }

    @Test(
        "A client's shown members can be sent back to administration, except client_id, merchant_id and times",
        arguments: Backend.available)
    func shownMembers(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend()
            let fixed: Set = ["client_id", "merchant_id", "client_id_issued_at", "updated_at"]
            let shown = try await world.server.get("/admin/v1/clients/\(client.id)", bearer: world.admin).json
            for member in shown.members ?? [] {
                let answer = try await world.change("clients", client.id, .object([member]))
                #expect(answer.status == (fixed.contains(member.name) ? 400 : 200), "\(member.name): \(answer)")
            }
        }
    }

    @Test(
        "Administration refuses e-mail addresses that sign-up refuses; users who have one can still sign in",
        arguments: Backend.available)
    func unusualAddresses(backend: Backend) async throws {
        try await World.with(backend) { world in
            let unusual = [
                "ada@example.com.", "ada..b@example.com", "\"ada\"@example.com", "ad\u{200B}a@example.com",
                "\u{430}da@example.com", "ada@example..com",
            ]
            for email in unusual {
                var browser = Browser(world.server)
                let page = try await browser.open("/signup")
                let form = ["email": email, "password": "a quiet loom", "name": "x"]
                #expect(try await browser.submit(page, form).status == 400, "\(email)")
                let made = try await World.make(world.server, world.admin, "users", ["email": .string(email)])
                expectProblem(made, 400, member: "email")
                let changed = try await world.change("users", world.user, ["email": .string(email)])
                expectProblem(changed, 400, member: "email")
            }
            // Addresses stored before this rule.
            for email in unusual {
                try await world.server.database.write { db in
                    _ = try db.execute("UPDATE users SET email = \(email) WHERE email LIKE '%@%'")
                }
                #expect(try await world.signIn(as: email).status == 200, "\(email)")
                let same = try await world.change("users", world.user, ["email": .string(email), "name": "Ada"])
                #expect(same.status == 200, "\(same)")
            }
        }
    }

    @Test("An http redirect URI is accepted only on the loopback interface", arguments: Backend.available)
    func redirectURIs(backend: Backend) async throws {
        try await World.with(backend) { world in
            let bad = [
                "http://shop.example/cb", "HTTP://shop.example/cb", "http://127.0.0.1.shop.example/",
                "http://localhost.shop.example/", "http://localhost@shop.example/", "http://10.0.0.1/",
                "http://0.0.0.0/",
                "http://[::2]/", "http://[fe80::1]/", "http://128.0.0.1/", "http://localhost./",
            ]
            for uri in bad {
                let answer = try await world.change("clients", world.backend.id, ["redirect_uris": [.string(uri)]])
                expectProblem(answer, 400, member: "redirect_uris")
            }
            let good: [JSON] = [
                "http://127.0.0.1:8080/cb", "http://127.9.9.9/cb", "http://[::1]:8080/cb", "http://localhost/cb",
                "HTTP://LOCALHOST:1/cb", "https://shop.example/cb", "com.example.app:/cb", "loom://signed-in",
            ]
            let answer = try await world.change("clients", world.backend.id, ["redirect_uris": .array(good)])
            #expect(answer.status == 200, "\(answer)")
        }
    }

    @Test("Administration refuses a NUL in a cursor, a filter or an id", arguments: Backend.available)
    func nul(backend: Backend) async throws {
        try await World.with(backend) { world in
            for kind in ["merchants", "clients", "users", "issuers"] {
                for query in ["cursor=%00", "cursor=a%00b", "merchant_id=%00"] {
                    expectProblem(try await world.server.get("/admin/v1/\(kind)?\(query)", bearer: world.admin), 400)
                }
                expectProblem(try await world.server.get("/admin/v1/\(kind)/%00", bearer: world.admin), 404)
            }
        }
    }

    @Test("The answer that shows a client's secret says that it does not expire", arguments: Backend.available)
    func secretExpiry(backend: Backend) async throws {
        try await World.with(backend) { world in
            let base: [JSON.Member] = [.init("merchant_id", .string(world.merchant))]
            let made = try await World.make(world.server, world.admin, "clients", .object(base))
            #expect(made.json["client_secret_expires_at"]?.integer == 0)
            let app = try await World.make(
                world.server, world.admin, "clients", .object(base + [.init("token_endpoint_auth_method", "none")]))
            #expect(app.status == 201)
            #expect(app.json["client_secret_expires_at"] == nil)
        }
    }
}
