import JSON
import TestSupport
import Testing

@Suite("A phone's code gives its backend tokens")
struct MainJobTests {
    @Test(
        "An exchange code that a phone bought gives its backend a different token for the same user",
        arguments: Backend.available)
    func exchangeForCode(backend: Backend) async throws {
        try await TestServer.with(backend) { server in
            let world = try await World(server)
            let phone = try await world.signIn()
            #expect(phone.status == 200)
            #expect(phone.json["user_id"]?.string == world.user)
            #expect(phone.json["expires_in"]?.integer == 3600)
            #expect(phone.json["token_type"]?.string == "Bearer")
            #expect(phone.header("cache-control") == "no-store")

            let code = try await world.exchange(try phone.require("access_token"), for: world.backend)
            #expect(code.json["expires_in"]?.integer == 30)
            #expect(code.json["type"]?.string == "code")

            let own = try await world.redeem(try code.require("code"), as: world.backend)
            #expect(own.status == 200)
            #expect(own.json["user_id"]?.string == world.user)
            let token = try own.require("access_token")
            #expect(token != phone.json["access_token"]?.string)

            let me = try await server.get("/me", bearer: token)
            #expect(me.json["user_id"]?.string == world.user)
            #expect(me.json["email"]?.string == World.email)
            #expect(try await server.get("/user/\(world.user)", bearer: token).status == 200)
        }
    }

    @Test("A device that logs out ends its own tokens and not its backend's", arguments: Backend.available)
    func deviceLogout(backend: Backend) async throws {
        try await TestServer.with(backend) { server in
            let world = try await World(server)
            let phone = try await world.signIn()
            let phoneToken = try phone.require("access_token")
            let code = try await world.exchange(phoneToken, for: world.backend).require("code")
            let backendToken = try await world.redeem(code, as: world.backend).require("access_token")

            let logout = try await server.get("/logout", bearer: phoneToken)
            #expect(logout.status == 200)
            #expect(logout.json["result"]?.string == "OK")
            #expect(try await server.get("/me", bearer: phoneToken).status == 401)
            let refreshed = try await world.refresh(try phone.require("refresh_token"), as: world.app)
            #expect(refreshed.status == 400)
            #expect(refreshed.error == "invalid_grant")
            #expect(try await world.isLive(backendToken))
        }
    }
}
