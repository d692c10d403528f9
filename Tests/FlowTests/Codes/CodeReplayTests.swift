import TestSupport
import Testing

@Suite("A code is redeemed once, and a replay ends the tokens that it gave")
struct CodeReplayTests {
    @Test(
        "A replayed exchange code ends the tokens that it gave the backend, and not the phone's tokens",
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

    @Test("A replayed authorization code ends the tokens of its first redemption", arguments: Backend.available)
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

    @Test(
        "An exchange code replayed half an hour later still ends the tokens that it gave",
        arguments: Backend.available)
    func lateReplay(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            let first = try await world.redeem(code, as: world.backend)
            world.server.clock.advance(by: .seconds(1800))
            #expect(try await world.redeem(code, as: world.backend).error == "invalid_grant")
            #expect(try await !world.isLive(try first.require("access_token")))
        }
    }

    @Test("A code replayed with a wrong secret, client or redirect URI ends no tokens", arguments: Backend.available)
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

    @Test("A replayed exchange code does not end the tokens that another code gave", arguments: Backend.available)
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

    @Test("Only one of fifty concurrent redemptions of an exchange code succeeds", arguments: Backend.available)
    func exchangeCode(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            let answers = try await race(50) { try await world.redeem(code, as: world.backend) }
            #expect(answers.filter { $0.status == 200 }.count == 1)
            #expect(answers.filter { $0.error == "invalid_grant" }.count == 49)
        }
    }

    @Test("Only one of fifty concurrent redemptions of an authorization code succeeds", arguments: Backend.available)
    func authorizationCode(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode()
            let answers = try await race(50) { try await world.redeemAuthorization(code) }
            #expect(answers.filter { $0.status == 200 }.count == 1)
            #expect(answers.filter { $0.error == "invalid_grant" }.count == 49)
        }
    }

    @Test("One of twenty web views that open the same session code is signed in", arguments: Backend.available)
    func sessionCode(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            let answers = try await race(20) { try await world.server.get("/auth/session/\(code)") }
            #expect(answers.filter { $0.status == 302 }.count == 1)
            #expect(answers.filter { $0.cookie("spindle_session") != nil }.count == 1)
            #expect(answers.filter { $0.status == 410 }.count == 19)
        }
    }
}

/// The answers to `count` requests that start at once.
func race(_ count: Int, _ run: @escaping @Sendable () async throws -> Answer) async throws -> [Answer] {
    try await withThrowingTaskGroup(of: Answer.self) { runners in
        for _ in 0..<count { runners.addTask { try await run() } }
        return try await runners.reduce(into: []) { $0.append($1) }
    }
}
