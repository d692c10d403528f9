import JSON
import TestSupport
import Testing

@Suite("A code lives exactly its lifetime, to the millisecond")
struct CodeLifetimeTests {
    @Test("an exchange code is accepted at 29.999 seconds", arguments: Backend.available)
    func exchangeCodeInTime(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            world.server.clock.advance(by: .milliseconds(29_999))
            #expect(try await world.redeem(code, as: world.backend).status == 200)
        }
    }

    @Test("an exchange code is refused at 30.000 seconds", arguments: Backend.available)
    func exchangeCodeLate(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            world.server.clock.advance(by: .seconds(30))
            let late = try await world.redeem(code, as: world.backend)
            #expect(late.status == 400)
            #expect(late.error == "invalid_grant")
        }
    }

    @Test("a session code is accepted at 59.999 seconds", arguments: Backend.available)
    func sessionCodeInTime(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            world.server.clock.advance(by: .milliseconds(59_999))
            #expect(try await world.server.get("/auth/session/\(code)").status == 302)
        }
    }

    @Test("a session code is refused at 60.000 seconds", arguments: Backend.available)
    func sessionCodeLate(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            world.server.clock.advance(by: .seconds(60))
            #expect(try await world.server.get("/auth/session/\(code)").status == 410)
        }
    }

    @Test("an authorization code is accepted at 59.999 seconds", arguments: Backend.available)
    func authorizationCodeInTime(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode()
            world.server.clock.advance(by: .milliseconds(59_999))
            #expect(try await world.redeemAuthorization(code).status == 200)
        }
    }

    @Test("an authorization code is refused at 60.000 seconds", arguments: Backend.available)
    func authorizationCodeLate(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode()
            world.server.clock.advance(by: .seconds(60))
            #expect(try await world.redeemAuthorization(code).error == "invalid_grant")
        }
    }

    @Test("the answer states how long a code lives", arguments: Backend.available)
    func announcedLifetimes(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let code = try await world.exchange(token, for: world.backend)
            #expect(code.json["expires_in"]?.integer == 30)
            let session = try await world.exchange(
                token, for: world.app, type: "session", redirectURI: World.webview)
            #expect(session.json["expires_in"]?.integer == 60)
            #expect(session.json["type"]?.string == "session")
            #expect(session.header("cache-control") == "no-store")
        }
    }
}
