import JSON
import TestSupport
import Testing

@Suite("ID tokens that are not verified yet")
struct UnverifiedHintTests {
    private static func token(for audience: String) -> String {
        let claims: JSON = [
            "iss": .string(SigningClient.issuer), "aud": .string(audience), "sub": "1", "exp": 4_000_000_000, "iat": 1,
        ]
        return SigningClient.hs256(claims, key: Array("a guess".utf8))
    }

    @Test(
        "An unverified ID token with U+0000 as audience is treated like any other unknown one, and logs no error",
        arguments: Backend.available)
    func audience(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            let site = try await world.relyingClient()
            var browser = Browser(world.server)
            try await browser.signIn()
            func silent(_ hint: String) async throws -> Answer {
                let asked: KeyValuePairs = ["scope": "openid", "prompt": "none", "id_token_hint": hint]
                return try await world.server.get(world.authorizeAddress(asked, for: site))
            }
            let unknown = Self.token(for: "nobody")
            for odd in [Self.token(for: "a\u{0}b"), Self.token(for: "\u{0}")] {
                let refused = try await ditto.ask(odd)
                expectRefused(refused)
                let usual = try await ditto.ask(unknown)
                #expect(refused.body == usual.body)
                for path in ["/logout?id_token_hint=", "/v2/logout?id_token_hint="] {
                    let page = try await world.server.get(path + odd)
                    let other = try await world.server.get(path + unknown)
                    #expect(page.status == 200 && page.isPage, "\(page)")
                    #expect(page.status == other.status && page.body == other.body, "\(page) \(other)")
                }
                let asked = try await browser.logOut(["id_token_hint": odd])
                #expect(asked.isPage && asked.words.contains("Sign out?"), "\(asked)")
                let (answer, other) = (try await silent(odd), try await silent(unknown))
                #expect(answer.status == other.status && answer.redirected("error") == other.redirected("error"))
            }
            #expect(!world.server.log.lines.contains { $0.hasPrefix("error ") })
        }
    }
}
