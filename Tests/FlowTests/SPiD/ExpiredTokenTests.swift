import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Expired tokens: SPiD's clients get expired_token for them, and invalid_token for dead ones")
struct ExpiredTokenTests {
    private static let description =
        "401 Unauthorized access! Reason: \"expired_token\" (OAuth realm: \"Service\", Scope: \"\")"

    private func answers(_ world: World, _ token: String) async throws -> [Answer] {
        [
            try await world.server.get("/me", bearer: token),
            try await world.server.get("/me?oauth_token=\(token)"),
            try await world.server.get("/user/\(world.user)", bearer: token),
            try await world.server.get("/userinfo", bearer: token),
            try await world.exchange(token, for: world.backend),
            try await world.server.post(
                "/oauth/exchange", ["clientId": world.backend.id, "type": "code", "oauth_token": token]),
        ]
    }

    @Test(
        "A SPiD client's expired token gets expired_token outside SPiD's API too, so that its SDK refreshes it",
        arguments: Backend.available)
    func compatible(_ backend: Backend) async throws {
        for settings in [[:], ["basic_realm": "Loom"]] {
            try await World.with(backend, settings: settings) { world in
                let loom = try await world.spidBackend(["scope": "openid profile email"])
                let token = try await world.signIn(scope: "openid profile", with: loom).require("access_token")
                for answer in try await answers(world, token) { #expect(answer.status == 200) }
                world.server.clock.advance(by: .hours(1))
                for answer in try await answers(world, token) {
                    #expect(answer.status == 401 && answer.error == "expired_token", "\(answer)")
                    #expect(answer.json["error_code"] == 401 && answer.json["type"] == "OAuthException")
                    #expect(answer.json["error_description"] == .string(Self.description))
                    // The challenge stays that of RFC 6750, or the realm's.
                    #expect(answer.header("www-authenticate") != nil)
                }
            }
        }
    }

    @Test(
        "Once its lifetime has passed, a deleted or forged token gets expired_token, except at userinfo",
        arguments: Backend.available)
    func deleted(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend(["scope": "openid profile", "access_token_lifetime": 10])
            let token = try await world.signIn(scope: "openid profile", with: loom).require("access_token")
            try await world.server.database.write { db in _ = try db.execute("DELETE FROM access_tokens") }
            world.server.clock.advance(by: .milliseconds(9999))
            for answer in try await answers(world, token) {
                #expect(answer.status == 401 && answer.error == "invalid_token", "\(answer)")
            }
            world.server.clock.advance(by: .milliseconds(1))
            // A forged token that seems as old gets the same answer, so it reveals nothing.
            let forged = String(token.prefix(12)) + String(repeating: "A", count: 43)
            for dead in [token, forged] {
                for (index, answer) in try await answers(world, dead).enumerated() {
                    let isUserinfo = index == 3
                    #expect(answer.status == 401, "\(answer)")
                    #expect(answer.error == (isUserinfo ? "invalid_token" : "expired_token"), "\(index): \(answer)")
                    #expect(answer.header("www-authenticate")?.contains("error=\"invalid_token\"") == true)
                }
            }
            let unordered = String(repeating: "A", count: 43)
            for answer in try await answers(world, unordered) { #expect(answer.error == "invalid_token") }
        }
    }

    @Test("A revoked token of a SPiD client gets invalid_token, not expired_token", arguments: Backend.available)
    func ended(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend(["scope": "openid profile email"])
            let token = try await world.signIn(scope: "openid", with: loom).require("access_token")
            _ = try await world.server.post("/oauth/revoke", ["token": token], basic: loom.basic)
            for dead in [token, "unknown"] {
                for answer in try await answers(world, dead) {
                    #expect(answer.status == 401 && answer.error == "invalid_token", "\(answer)")
                    #expect(answer.json["type"] == nil)
                }
            }
        }
    }

    @Test(
        "An expired token of a client that is not SPiD-compatible gets invalid_token, as RFC 6750 has it",
        arguments: Backend.available)
    func others(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn(scope: "openid").require("access_token")
            world.server.clock.advance(by: .hours(1))
            for answer in try await answers(world, token) {
                #expect(answer.status == 401 && answer.error == "invalid_token", "\(answer)")
                #expect(answer.json["type"] == nil && answer.json["error_code"] == nil)
            }
        }
    }
}
