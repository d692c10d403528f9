import Cryptography
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Tokens for administration end with the secret or the key that they were got with")
struct AdministratorCredentialTests {
    @Test(
        "An administrator's token is refused after the client secret that it was obtained with has ended",
        arguments: Backend.available)
    func secret(backend: Backend) async throws {
        try await World.with(backend) { world in
            let administrator = try await world.confidential(
                ["scope": "admin:merchant profile", "grant_types": ["client_credentials"]])
            let path = "/admin/v1/clients/\(administrator.id)/secrets"
            let stolen = try await world.clientToken(administrator, scope: "admin:merchant")
            let plain = try await world.clientToken(administrator, scope: "profile")
            world.server.clock.advance(by: .seconds(1))
            let list = try await world.server.get(path, bearer: world.admin)
            let old = try #require(list.json["items"]?.array?.first?["id"]?.string, "\(list)")
            let made = try await world.server.send("POST", path, bearer: world.admin)
            #expect(made.status == 201)
            #expect(try await world.server.send("DELETE", "\(path)/\(old)", bearer: world.admin).status == 204)
            #expect(try await world.server.send("POST", path, bearer: stolen).status == 401)
            #expect(world.server.log.says("secret_ended"))
            let seen = try await world.introspect(plain, as: world.backend)
            #expect(seen.json["active"] == true, "what it does otherwise goes on")
            // As at a node that knew the old secret for a second more.
            world.server.clock.advance(by: .seconds(1))
            let late = World.Actor(
                id: administrator.id, secret: try made.require("client_secret"), redirectURI: administrator.redirectURI)
            let lateToken = try await world.clientToken(late, scope: "admin:merchant")
            #expect(try await world.server.get("/admin/v1/clients", bearer: lateToken).status == 401)
            world.server.clock.advance(by: .milliseconds(1))
            let fresh = World.Actor(
                id: administrator.id, secret: try made.require("client_secret"), redirectURI: administrator.redirectURI)
            let token = try await world.clientToken(fresh, scope: "admin:merchant")
            #expect(try await world.server.get("/admin/v1/clients", bearer: token).status == 200)
        }
    }

    @Test("A node that still caches an ended client secret issues no admin token for it", arguments: Backend.available)
    func secretElsewhere(backend: Backend) async throws {
        try await World.with(backend) { here in
            try await here.server.beside { node in
                let there = here.at(node)
                let administrator = try await here.confidential(
                    ["scope": "admin:merchant profile", "grant_types": ["client_credentials"]])
                // After its first token a client is read once more.
                for _ in 1...2 { _ = try await there.clientToken(administrator, scope: "admin:merchant") }
                let path = "/admin/v1/clients/\(administrator.id)/secrets"
                let list = try await here.server.get(path, bearer: here.admin)
                let old = try #require(list.json["items"]?.array?.first?["id"]?.string, "\(list)")
                #expect(try await here.server.send("DELETE", "\(path)/\(old)", bearer: here.admin).status == 204)
                let late = try await there.token(
                    ["grant_type": "client_credentials", "scope": "admin:merchant"], as: administrator)
                #expect(late.status == 503 && late.header("retry-after") == "1", "\(late)")
                here.server.clock.advance(by: .seconds(1))
                let later = try await there.token(
                    ["grant_type": "client_credentials", "scope": "admin:merchant"], as: administrator)
                #expect(later.status == 401, "\(later)")
            }
        }
    }

    @Test(
        "An administrator's token is refused once its client's key set (JWKS) is replaced",
        arguments: Backend.available)
    func key(backend: Backend) async throws {
        try await World.with(backend) { world in
            let administrator = try await world.signingClient(.generate(.es256), ["scope": "admin:merchant"])
            let stolen = try await administrator.ask(
                nil, ["grant_type": "client_credentials", "scope": "admin:merchant"]
            ).require("access_token")
            let path = "/admin/v1/clients/\(administrator.id)"
            #expect(try await world.server.get(path, bearer: stolen).status == 200)
            let renamed = try await world.server.send("PATCH", path, json: ["client_name": "X"], bearer: world.admin)
            #expect(renamed.status == 200)
            #expect(try await world.server.get(path, bearer: stolen).status == 200, "nothing that it proves itself by")
            let changed = try await world.server.send(
                "PATCH", path, json: ["jwks": SigningClient.keySet(.generate(.es256))], bearer: world.admin)
            #expect(changed.status == 200, "\(changed)")
            #expect(try await world.server.get(path, bearer: stolen).status == 401)
        }
    }
}
