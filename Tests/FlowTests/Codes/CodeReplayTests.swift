import TestSupport
import Testing

@Suite("A code that is redeemed twice")
struct CodeReplayTests {
    @Test(
        "a second redemption revokes the tokens of the first, and leaves the phone's alone",
        arguments: Backend.available)
    func exchangeCodeReplayed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let code = try await world.code(of: phone)
            let first = try await world.redeem(code, as: world.backend)
            #expect(try await world.isLive(try first.require("access_token")))

            let second = try await world.redeem(code, as: world.backend)
            #expect(second.status == 400)
            #expect(second.error == "invalid_grant")
            #expect(world.server.log.says("code_replayed"))
            #expect(try await !world.isLive(try first.require("access_token")))
            let refreshed = try await world.refresh(try first.require("refresh_token"), as: world.backend)
            #expect(refreshed.error == "invalid_grant")

            #expect(try await world.isLive(try phone.require("access_token")))
            #expect(try await world.refresh(try phone.require("refresh_token")).status == 200)
        }
    }

    @Test("a replayed authorization code revokes the tokens of the first redemption", arguments: Backend.available)
    func authorizationCodeReplayed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode()
            let first = try await world.redeemAuthorization(code)
            #expect(try await world.isLive(try first.require("access_token")))
            #expect(try await world.redeemAuthorization(code).error == "invalid_grant")
            #expect(try await !world.isLive(try first.require("access_token")))
            #expect(try await world.refresh(try first.require("refresh_token")).error == "invalid_grant")
        }
    }

    @Test("a replay revokes even long after the code expired", arguments: Backend.available)
    func lateReplay(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            let first = try await world.redeem(code, as: world.backend)
            world.server.clock.advance(by: .seconds(1800))
            #expect(try await world.redeem(code, as: world.backend).error == "invalid_grant")
            #expect(try await !world.isLive(try first.require("access_token")))
        }
    }

    @Test("a replay without the backend's secret revokes nothing", arguments: Backend.available)
    func foreignReplay(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            let first = try await world.redeem(code, as: world.backend)
            let token = try first.require("access_token")

            let guesser = world.backend.with(secret: "guess")
            #expect(try await world.redeem(code, as: guesser).error == "invalid_client")
            #expect(try await world.redeem(code, as: world.rivalBackend).error == "invalid_grant")
            let elsewhere = try await world.redeem(
                code, as: world.backend, redirectURI: "https://backend.example/other")
            #expect(elsewhere.error == "invalid_grant")
            #expect(try await world.isLive(token))
            #expect(try await world.refresh(try first.require("refresh_token"), as: world.backend).status == 200)
        }
    }

    @Test("a replay does not reach the tokens of another code", arguments: Backend.available)
    func onlyItsOwn(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let code = try await world.code(of: phone)
            _ = try await world.redeem(code, as: world.backend)
            let other = try await world.redeem(try await world.code(of: phone), as: world.backend)
            _ = try await world.redeem(code, as: world.backend)
            #expect(try await world.isLive(try other.require("access_token")))
        }
    }
}
