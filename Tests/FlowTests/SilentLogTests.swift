import JSON
import TestSupport
import Testing

@Suite("Secrets stay out of the log, even at level trace")
struct SilentLogTests {
    @Test("A series of valid and invalid requests leaves no secret in the log", arguments: Backend.available)
    func silence(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let code = try await world.code(of: phone)
            let own = try await world.redeem(code, as: world.backend)
            let session = try await world.sessionCode(of: phone)
            var browser = Browser(world.server)
            let landing = try await browser.open("/auth/session/\(session)")
            let authorization = try await world.authorizationCode()
            let app = try await world.redeemAuthorization(authorization)
            let next = try await world.refresh(try app.require("refresh_token"))
            // The same requests, refused in many ways.
            _ = try await world.redeem(code, as: world.backend)
            _ = try await world.redeem(code, as: world.rivalBackend)
            _ = try await world.redeemAuthorization(authorization, ["code_verifier": challenge])
            _ = try await world.server.get("/auth/session/\(session)")
            _ = try await world.refresh(try app.require("refresh_token"), as: world.backend)
            _ = try await world.isLive(try next.require("access_token"))
            _ = try await world.refresh(try app.require("refresh_token"))
            _ = try await world.isLive(try next.require("access_token"))
            _ = try await world.server.get("/me?oauth_token=\(try phone.require("access_token"))")
            _ = try await world.server.get("/nowhere/\(session)?code=\(code)")
            _ = try await world.signIn(password: "wrong \(World.password)")
            // A client that sends its secret as its name.
            let backend = world.backend
            let swapped = World.Actor(id: backend.secret, secret: backend.id, redirectURI: backend.redirectURI)
            _ = try await world.token(["grant_type": "client_credentials"], as: swapped)
            _ = try await world.introspect(try phone.require("access_token"), as: swapped)
            _ = try await world.exchange(try phone.require("access_token"), for: swapped)
            _ = try await world.server.get("/oauth/authorize?client_id=\(backend.secret)&response_type=code")
            _ = try await world.server.get("/logout?client_id=\(backend.secret)")
            _ = try await world.server.post("/passwordless/start", ["client_id": backend.secret])

            let secrets = [
                World.password, world.backend.secret, world.server.adminSecret, world.admin, code, session,
                authorization, verifier, try #require(landing.cookie("spindle_session")),
                try phone.require("access_token"), try phone.require("refresh_token"),
                try own.require("access_token"), try next.require("access_token"), try next.require("refresh_token"),
            ]
            let log = world.server.log.lines.joined(separator: "\n")
            #expect(log.contains("refused"))
            for secret in secrets { #expect(!log.contains(secret)) }

            // A planted secret is found.
            world.server.log.plant(secrets[3])
            #expect(world.server.log.says(secrets[3]))
        }
    }
}
