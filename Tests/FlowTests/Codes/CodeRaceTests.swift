import TestSupport
import Testing

@Suite("Concurrent redemptions of one code")
struct CodeRaceTests {
    @Test("of fifty concurrent redemptions of an exchange code exactly one gets tokens", arguments: Backend.available)
    func exchangeCode(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            let answers = try await race(50) { try await world.redeem(code, as: world.backend) }
            #expect(answers.filter { $0.status == 200 }.count == 1)
            #expect(answers.filter { $0.error == "invalid_grant" }.count == 49)
        }
    }

    @Test(
        "of fifty concurrent redemptions of an authorization code exactly one gets tokens", arguments: Backend.available
    )
    func authorizationCode(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode()
            let answers = try await race(50) { try await world.redeemAuthorization(code) }
            #expect(answers.filter { $0.status == 200 }.count == 1)
            #expect(answers.filter { $0.error == "invalid_grant" }.count == 49)
        }
    }

    @Test("of twenty webviews that open one session code exactly one is signed in", arguments: Backend.available)
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
