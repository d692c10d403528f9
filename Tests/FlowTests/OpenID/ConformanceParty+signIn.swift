import JSON
import TestSupport
import Testing

// The modules of the suite that go to the authorization endpoint twice.
extension ConformanceParty {
    mutating func promptLogin() async throws {
        let first = try await flow()
        world.server.clock.advance(by: .seconds(2))
        let page = try await browser.open(address(["prompt": "login"]))
        #expect(page.formAction == "/login")
        try expectLater(try await check(try await finish(page)), first)
    }

    mutating func promptNoneNotLoggedIn() async throws {
        let answer = try await browser.open(address(["prompt": "none"]))
        expectRefusal(
            try deliver(answer), "login_required", "interaction_required", "account_selection_required",
            "consent_required")
    }

    mutating func promptNoneLoggedIn() async throws {
        let first = try await flow()
        world.server.clock.advance(by: .seconds(2))
        try expectSame(try await silent(["prompt": "none"]), first)
    }

    mutating func maxAge1() async throws {
        let first = try await flow()
        world.server.clock.advance(by: .seconds(2))
        let page = try await browser.open(address(["max_age": "1"]))
        #expect(page.formAction == "/login")
        try expectLater(try await check(try await finish(page)), first)
    }

    mutating func maxAge10000() async throws {
        let first = try await flow(["max_age": "15000"])
        world.server.clock.advance(by: .seconds(2))
        try expectSame(try await silent(["max_age": "10000"]), first)
    }

    mutating func idTokenHint() async throws {
        let first = try await authorize()
        let outcome = try await check(first)
        let token = try first["id_token"] ?? outcome.tokens?.require("id_token") ?? ""
        world.server.clock.advance(by: .seconds(2))
        try expectSame(try await silent(["prompt": "none", "id_token_hint": token]), outcome)
    }

    /// A flow in which the user is asked nothing.
    private func silent(_ changes: KeyValuePairs<String, String>) async throws -> Outcome {
        var silent = self
        let answer = try await silent.browser.open(address(changes))
        return try await check(try deliver(answer, changes), changes)
    }

    private func expectSame(_ second: Outcome, _ first: Outcome) throws {
        for claim in ["sub", "auth_time"] {
            #expect(second.ids.first?[claim] != nil)
            #expect(second.ids.first?[claim] == first.ids.first?[claim], "\(claim)")
        }
    }

    private func expectLater(_ second: Outcome, _ first: Outcome) throws {
        #expect(second.ids.first?["sub"] == first.ids.first?["sub"])
        let times = try [first, second].map { try #require($0.ids.first?["auth_time"]?.integer) }
        #expect(times[0] < times[1])
    }
}
