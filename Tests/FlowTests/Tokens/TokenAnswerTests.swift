import JSON
import TestSupport
import Testing
import Values

@Suite("The token endpoint's answers")
struct TokenAnswerTests {
    @Test("A user's token answer has its six members, no null, and is not cached", arguments: Backend.available)
    func user(backend: Backend) async throws {
        try await World.with(backend) { world in
            let answer = try await world.signIn()
            #expect(answer.status == 200)
            #expect(
                answer.json.members?.map(\.name)
                    == ["access_token", "token_type", "expires_in", "scope", "refresh_token", "user_id"])
            #expect(answer.json["token_type"]?.string == "Bearer")
            #expect(answer.json["expires_in"] == .integer(3600))
            #expect(answer.json["user_id"]?.string == world.user)
            #expect(answer.header("cache-control") == "no-store")
            #expect(answer.header("content-type") == "application/json")
            #expect(!answer.body.contains("null"))
        }
    }

    @Test(
        "A client credentials token belongs to no user and comes without a refresh token",
        arguments: Backend.available)
    func client(backend: Backend) async throws {
        try await World.with(backend) { world in
            let answer = try await world.token(["grant_type": "client_credentials"], as: world.backend)
            #expect(answer.json.members?.map(\.name) == ["access_token", "token_type", "expires_in", "scope"])
            #expect(try await world.server.get("/me", bearer: try answer.require("access_token")).status == 401)
        }
    }

    @Test(
        "Token answers to SPiD-compatible clients have the members that SPiD's SDKs require",
        arguments: Backend.available)
    func spidCompatible(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential(["spid_compatible": true])
            let own = try await world.token(["grant_type": "client_credentials"], as: client)
            #expect(own.json["user_id"] == .bool(false))
            #expect(own.json["is_admin"] == .bool(false))
            #expect(own.json["server_time"] == .integer(world.server.clock.now.seconds))
            let refreshed = try await world.refresh(try own.require("refresh_token"), as: client)
            #expect(refreshed.status == 200)
            #expect(refreshed.json["user_id"] == .bool(false))

            let user = try await world.signIn(with: client)
            #expect(user.json["user_id"]?.string == world.user)
            #expect(user.json["is_admin"] == .bool(false))
        }
    }

    @Test(
        "A token request without scope gets all the client's scopes but openid, offline_access and admin ones",
        arguments: Backend.available)
    func defaultScope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential(
                ["scope": "openid profile admin:merchant offline_access email"])
            let own = try await world.token(["grant_type": "client_credentials"], as: client)
            #expect(own.json["scope"]?.string == "profile email")
            #expect(try await world.signIn(with: client).json["scope"]?.string == "profile email")
            let asked = try await world.signIn(scope: "openid offline_access", with: client)
            #expect(asked.json["scope"]?.string == "openid offline_access")
            let admin = try await world.token(
                ["grant_type": "client_credentials", "scope": "admin:merchant"], as: client)
            #expect(admin.json["scope"]?.string == "admin:merchant")
        }
    }

    @Test("The token endpoint accepts its parameters in a JSON body as in a form body", arguments: Backend.available)
    func jsonBody(backend: Backend) async throws {
        try await World.with(backend) { world in
            let good: JSON = [
                "grant_type": "client_credentials", "client_id": .string(world.backend.id),
                "client_secret": .string(world.backend.secret), "colour": 3, "scope": .null,
            ]
            #expect(try await world.server.send("POST", "/oauth/token", json: good).status == 200)
            for bad: JSON in [
                [:], ["grant_type": 3], ["grant_type": ["password"]], .array([good]), "text",
                ["grant_type": "client_credentials", "grant_type": "password"],
            ] {
                let answer = try await world.server.send("POST", "/oauth/token", json: bad)
                #expect((400...401).contains(answer.status), "\(bad.text)")
                #expect(answer.error == "invalid_request" || answer.error == "invalid_client")
            }
            let torn = try await world.server.send(
                "POST", "/oauth/token", body: Array("{\"grant_type\":".utf8),
                headers: ["Content-Type": "application/json"])
            try await expect(400, "invalid_request", torn)
        }
    }

    @Test("SPiD's token path /api/2/oauth/token answers a client credentials request", arguments: Backend.available)
    func alias(backend: Backend) async throws {
        try await World.with(backend) { world in
            let answer = try await world.server.post(
                "/api/2/oauth/token", ["grant_type": "client_credentials"], basic: world.backend.basic)
            #expect(answer.status == 200)
        }
    }

    @Test(
        "The endpoint /user/{id} answers that user's own token, and a client to which the user is connected",
        arguments: Backend.available)
    func users(backend: Backend) async throws {
        try await World.with(backend) { world in
            let bob = try await world.newcomer("bob@example.com")
            let phone = try await world.signIn().require("access_token")
            #expect(try await world.server.get("/user/\(world.user)", bearer: phone).status == 200)
            #expect(try await world.server.get("/user/\(bob)", bearer: phone).status == 403)
            #expect(try await world.server.get("/user/1", bearer: phone).status == 403)

            let own = try await world.clientToken(world.backend)
            #expect(try await world.server.get("/user/\(world.user)", bearer: own).json["email"]?.string == World.email)
            #expect(try await world.server.get("/user/\(bob)", bearer: own).status == 403)
            let rival = try await world.clientToken(world.rivalBackend)
            #expect(try await world.server.get("/user/\(world.user)", bearer: rival).status == 403)
            let none = try await world.server.get("/user/\(world.user)")
            #expect(none.status == 401)
            #expect(none.header("www-authenticate") == "Bearer realm=\"spindle\"")
        }
    }

    @Test("The endpoints /healthz and /readyz answer with status 200", arguments: Backend.available)
    func health(backend: Backend) async throws {
        try await TestServer.with(backend) { server in
            for path in ["/healthz", "/readyz"] {
                let answer = try await server.get(path)
                #expect(answer.status == 200)
            }
        }
    }
}
