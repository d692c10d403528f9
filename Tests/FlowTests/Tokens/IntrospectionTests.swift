import JSON
import TestSupport
import Testing
import Values

@Suite("A client introspects the tokens of its merchant (RFC 7662)")
struct IntrospectionTests {
    @Test("A backend introspects its merchant's tokens", arguments: Backend.available)
    func own(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let told = try await world.introspect(try phone.require("access_token"), as: world.backend)
            #expect(told.status == 200)
            #expect(told.json["active"]?.bool == true)
            #expect(told.json["client_id"]?.string == world.app.id)
            #expect(told.json["sub"]?.string == world.user)
            #expect(told.json["scope"]?.string == "profile email")
            let now = world.server.clock.now.seconds
            #expect(told.json["iat"]?.integer == now)
            #expect(told.json["exp"]?.integer == now + 3600)
            #expect(told.json["iss"]?.string == "http://spindle.test")
            #expect(told.header("cache-control") == "no-store")

            let client = try await world.introspect(try await world.clientToken(world.backend), as: world.backend)
            #expect(client.json["sub"]?.string == world.backend.id)
            #expect(client.json["user_id"] == nil)
        }
    }

    @Test(
        "With introspection_cache a caller may cache an introspection answer, but not beyond the token's end",
        arguments: Backend.available)
    func kept(backend: Backend) async throws {
        try await World.with(backend, settings: ["introspection_cache": "300"]) { world in
            let token = try await world.signIn().require("access_token")
            let told = try await world.introspect(token, as: world.backend)
            #expect(told.header("cache-control") == "private, max-age=300" && told.header("pragma") == nil)
            world.server.clock.advance(by: .seconds(3500))
            let late = try await world.introspect(token, as: world.backend)
            #expect(late.header("cache-control") == "private, max-age=100")
            world.server.clock.advance(by: .milliseconds(99_500))
            for last in [token, "unknown"] {
                let told = try await world.introspect(last, as: world.backend)
                #expect(told.header("cache-control") == "no-store")
            }
            let refused = try await world.introspect(token, as: world.backend.with(secret: "wrong"))
            #expect(refused.status == 401 && refused.header("cache-control") == "no-store")
        }
    }

    @Test(
        "Introspection reports a token that is unknown, expired, revoked or another merchant's as inactive",
        arguments: Backend.available)
    func inactive(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let token = try phone.require("access_token")
            let foreign = try await world.introspect(token, as: world.rivalBackend)
            #expect(foreign.status == 200)
            #expect(foreign.body == "{\"active\":false}")
            #expect(try await world.introspect("unknown", as: world.backend).body == foreign.body)
            let platform = World.Actor(id: world.server.adminID, secret: world.server.adminSecret, redirectURI: "")
            #expect(try await world.introspect(token, as: platform).body == foreign.body)
            #expect(try await world.introspect(world.admin, as: platform).body == foreign.body)
            // A refresh token cannot be introspected.
            let refresh = try await world.introspect(try phone.require("refresh_token"), as: world.backend)
            #expect(refresh.body == foreign.body)

            world.server.clock.advance(by: .seconds(3600))
            #expect(try await world.introspect(token, as: world.backend).body == foreign.body)
            let fresh = try await world.signIn().require("access_token")
            _ = try await world.server.get("/logout", bearer: fresh)
            #expect(try await world.introspect(fresh, as: world.backend).body == foreign.body)
        }
    }

    @Test("A public client and an unauthenticated request cannot introspect", arguments: Backend.available)
    func publicClient(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let app = try await world.server.post("/oauth/introspect", ["token": token, "client_id": world.app.id])
            try await expect(401, "invalid_client", app)
            try await expect(401, "invalid_client", try await world.server.post("/oauth/introspect", ["token": token]))
            let guess = try await world.introspect(token, as: world.backend.with(secret: "guess"))
            try await expect(401, "invalid_client", guess)
            try await expect(400, "invalid_request", try await world.introspect("", as: world.backend))
        }
    }

    @Test(
        "A self-registered client can neither introspect nor revoke its merchant's other tokens",
        arguments: Backend.available)
    func selfRegistered(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register()
            let phone = try await world.signIn()
            for name in ["access_token", "refresh_token"] {
                let token = try phone.require(name)
                #expect(try await world.introspect(token, as: made.actor).body == "{\"active\":false}")
                let revoked = try await world.server.post("/oauth/revoke", ["token": token], basic: made.actor.basic)
                #expect(revoked.status == 200)
            }
            #expect(try await world.isLive(try phone.require("access_token")))
            #expect(try await world.refresh(try phone.require("refresh_token")).status == 200)

            let own = try await world.signInToRegistered(made.actor).require("access_token")
            #expect(try await world.introspect(own, as: made.actor).json["active"] == true)
            // The merchant's backend, which administration registered, sees the merchant's tokens.
            #expect(try await world.introspect(own, as: world.backend).json["active"] == true)
            _ = try await world.server.post("/oauth/revoke", ["token": own], basic: made.actor.basic)
            #expect(try await world.introspect(own, as: made.actor).json["active"] == false)
        }
    }
}
