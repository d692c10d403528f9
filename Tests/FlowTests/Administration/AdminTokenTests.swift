import JSON
import TestSupport
import Testing

@Suite("A token with the admin scope is short-lived and has no refresh token")
struct AdminTokenTests {
    @Test("an admin token lives an hour at most, whatever its client's setting", arguments: Backend.available)
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
        "a client's own token, and one that can be refreshed, live a day at most, others as long as the client says",
        arguments: Backend.available)
    func own(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential(["access_token_lifetime": 31_536_000])
            let own = try await world.token(["grant_type": "client_credentials"], as: client)
            #expect(own.json["expires_in"]?.integer == 86400)
            let refreshable = try await world.signIn(with: client)
            #expect(refreshable.json["expires_in"]?.integer == 86400)
            let refreshed = try await world.refresh(try refreshable.require("refresh_token"), as: client)
            #expect(refreshed.json["expires_in"]?.integer == 86400)
            try await world.change("clients", client.id, ["grant_types": ["password"]])
            #expect(try await world.signIn(with: client).json["expires_in"]?.integer == 31_536_000)
        }
    }

    @Test("an admin token lives shorter when its client's setting is shorter", arguments: Backend.available)
    func shorter(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential(["scope": "admin:merchant", "access_token_lifetime": 60])
            let admin = try await world.token(
                ["grant_type": "client_credentials", "scope": "admin:merchant"], as: client)
            #expect(admin.json["expires_in"]?.integer == 60)
        }
    }

    @Test("an admin token comes without a refresh token, even for SPiD's SDKs", arguments: Backend.available)
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
