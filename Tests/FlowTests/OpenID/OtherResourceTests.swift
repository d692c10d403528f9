import JSON
import TestSupport
import Testing

@Suite("Access tokens for another resource, which open nothing at this server")
struct OtherResourceTests {
    static let resource = "https://api.example/orders"

    private func client(_ world: World, _ changes: KeyValuePairs<String, JSON> = [:]) async throws -> World.Actor {
        let client = try await world.confidential(["resources": [.string(Self.resource)], "scope": "openid email"])
        let members = changes.map { JSON.Member($0.key, $0.value) }
        if !members.isEmpty { try await world.change("clients", client.id, .object(members)) }
        return client
    }

    private func tokens(_ world: World, _ client: World.Actor) async throws -> Answer {
        let asked: KeyValuePairs<String, String> = ["resource": Self.resource, "scope": "openid email"]
        return try await world.redeemAuthorization(try await world.authorizationCode(asked, for: client), as: client)
    }

    @Test(
        "A token for another resource can neither read its user at this server nor buy a code or session",
        arguments: Backend.available,
        ["opaque", "jwt"])
    func nothingHere(backend: Backend, format: String) async throws {
        try await World.with(backend) { world in
            let client = try await client(world, ["access_token_format": .string(format)])
            let token = try await tokens(world, client).require("access_token")
            for path in [
                "/me", "/user/\(world.user)", "/oauth/userinfo", "/userinfo", "/api/2/me", "/api/2/user/\(world.user)",
                "/api/2/user/\(world.user)/logins", "/api/2/terms", "/admin/v1/clients",
            ] {
                let answer = try await world.server.get(path, bearer: token)
                #expect(answer.status == 401, "\(path): \(answer)")
                #expect(answer.header("www-authenticate")?.contains("error=\"invalid_token\"") == true, "\(path)")
            }
            let posted = try await world.server.post("/oauth/userinfo", ["access_token": token])
            try await expect(401, "invalid_token", posted)
            #expect(posted.json["error_description"]?.string?.contains("resource") == true)
            try await expect(401, "invalid_token", try await world.exchange(token, for: world.backend))
            let session = try await world.exchange(
                token, for: world.app, type: "session", redirectURI: World.webview)
            try await expect(401, "invalid_token", session)
            let inSPiD = try await world.api("oauth/exchange", token, ["clientId": world.backend.id, "type": "code"])
            #expect(inSPiD.status == 401)
            // The resource server can introspect it.
            #expect(try await world.introspect(token, as: world.backend).json["active"] == true)
        }
    }

    @Test(
        "A token for another resource cannot sign its user out; its client can revoke it", arguments: Backend.available)
    func ended(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await client(world)
            func isLive(_ token: String) async throws -> Bool {
                try await world.introspect(token, as: world.backend).json["active"] == true
            }
            for way in ["/logout", "/api/2/logout"] {
                let signIn = try await tokens(world, client)
                let token = try signIn.require("access_token")
                #expect(try await isLive(token))
                let refused = try await world.server.get(way, bearer: token)
                #expect(refused.status == 401 && refused.error == "invalid_token", "\(way) \(refused)")
                #expect(try await isLive(token), "\(way)")
            }
            // The client itself can revoke it.
            let token = try await tokens(world, client).require("access_token")
            _ = try await world.server.post("/oauth/revoke", ["token": token], basic: client.basic)
            #expect(try await !isLive(token))
        }
    }

    @Test(
        "A client credentials token for another resource cannot use the administration API",
        arguments: Backend.available)
    func administration(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential([
                "resources": [.string(Self.resource)], "scope": "admin:merchant", "access_token_format": "jwt",
            ])
            let form: KeyValuePairs = ["grant_type": "client_credentials", "scope": "admin:merchant"]
            let own = try await world.token(form, as: client).require("access_token")
            #expect(try await world.server.get("/admin/v1/clients", bearer: own).status == 200)
            let aimed = try await world.token(
                ["grant_type": "client_credentials", "scope": "admin:merchant", "resource": Self.resource], as: client
            ).require("access_token")
            #expect(try await world.server.get("/admin/v1/clients", bearer: aimed).status == 401)
            let told = try await world.introspect(aimed, as: client).json
            #expect(told["active"] == true && told["aud"] == .string(Self.resource))
        }
    }

    @Test(
        "Once a client loses a resource, tokens for it are inactive; refreshes and codes get invalid_target",
        arguments: Backend.available)
    func withdrawn(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await client(world)
            let tokens = try await tokens(world, client)
            let (token, refresh) = (try tokens.require("access_token"), try tokens.require("refresh_token"))
            #expect(try await world.introspect(token, as: client).json["active"] == true)
            #expect(try await world.refresh(refresh, as: client).status == 200)
            let code = try await world.authorizationCode(["resource": Self.resource], for: client)
            try await world.change("clients", client.id, ["resources": []])
            world.server.clock.advance(by: .seconds(1))
            try await expect(400, "invalid_target", try await world.refresh(refresh, as: client))
            try await expect(400, "invalid_target", try await world.redeemAuthorization(code, as: client))
            #expect(try await world.introspect(token, as: client).json["active"] == false)
            try await world.change("clients", client.id, ["resources": [.string(Self.resource)]])
            world.server.clock.advance(by: .seconds(1))
            #expect(try await world.refresh(refresh, as: client).status == 200)
        }
    }
}
