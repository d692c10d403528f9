import JSON
import TestSupport
import Testing

@Suite("What administration accepts")
struct AdministrationInputTests {
    @Test("a changed address does not inherit the old one's verification", arguments: Backend.available)
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

    @Test("an http redirect URI is accepted only when it leads to the machine itself", arguments: Backend.available)
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

    @Test("a NUL in a cursor or an id is refused without asking the database", arguments: Backend.available)
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

    @Test("the answer that shows a secret says that the secret does not expire", arguments: Backend.available)
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
