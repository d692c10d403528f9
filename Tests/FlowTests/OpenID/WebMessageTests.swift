import JSON
import TestSupport
import Testing

@Suite("The response mode web_message: only the page around gets the answer")
struct WebMessageTests {
    private static let origin = "https://suite.example"
    private static let mode: KeyValuePairs<String, String> = ["response_mode": "web_message"]

    @Test(
        "The web_message page posts the answer to the client's origin, and only that origin may frame it",
        arguments: Backend.available)
    func page(backend: Backend) async throws {
        try await World.with(backend) { world in
            var party = try await ConformanceParty(world, type: "code", ["web_origins": [.string(Self.origin)]])
            try await party.browser.signIn()
            let page = try await party.browser.open(party.address(Self.mode))
            #expect(page.status == 200)
            #expect(page.header("location") == nil)
            #expect(page.header("cache-control") == "no-store")
            #expect(page.body.contains("data-origin=\"\(Self.origin)\""))
            #expect(page.body.contains("src=\"/assets/message.js\""))
            let policy = try #require(page.header("content-security-policy"))
            #expect(policy.contains("frame-ancestors \(Self.origin)"))
            #expect(policy.contains("script-src 'self'"))
            #expect(policy.contains("form-action 'self'"))
            #expect(!policy.contains("unsafe"))
            #expect(page.fields["state"] == "some state")
            #expect(page.fields["iss"] == "http://spindle.test")
            #expect(try await party.redeem(try #require(page.fields["code"])).status == 200)
            let script = try await world.server.get("/assets/message.js")
            #expect(script.header("content-type")?.hasPrefix("text/javascript") == true)
            #expect(script.body.contains("authorization_response"))
        }
    }

    @Test(
        "A silent web_message request without a session gets login_required by a web_message page",
        arguments: Backend.available)
    func silent(backend: Backend) async throws {
        try await World.with(backend) { world in
            let party = try await ConformanceParty(world, type: "code", ["web_origins": [.string(Self.origin)]])
            let page = try await world.server.get(party.address(["response_mode": "web_message", "prompt": "none"]))
            #expect(page.status == 200)
            #expect(page.fields["error"] == "login_required")
            #expect(page.fields["state"] == "some state")
            #expect(page.header("content-security-policy")?.contains("frame-ancestors \(Self.origin)") == true)
        }
    }

    @Test(
        "A web_message request is refused unless the redirect URI's origin is a web origin of the client",
        arguments: Backend.available)
    func foreign(backend: Backend) async throws {
        try await World.with(backend) { world in
            for origins: [JSON] in [[], ["https://other.example"], ["https://suite.example:8443"]] {
                let party = try await ConformanceParty(world, type: "code", ["web_origins": .array(origins)])
                let answer = try await world.server.get(party.address(Self.mode))
                #expect(answer.redirected("error") == "invalid_request")
            }
        }
    }

    @Test(
        "A third party may frame the silent web_message answer, but no page on which the user can click",
        arguments: Backend.available)
    func thirdParty(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await ConformanceParty(
                world, type: "code", ["web_origins": [.string(Self.origin)], "first_party": false])
            func policy(_ changes: KeyValuePairs<String, String>) async throws -> String {
                let page = try await world.server.get(stranger.address(changes))
                #expect(page.status == 200)
                return page.header("content-security-policy") ?? ""
            }
            let silent = try await policy(["response_mode": "web_message", "prompt": "none"])
            #expect(silent.contains("frame-ancestors \(Self.origin);"))
            // A page with something to click stays unframed.
            #expect(try await policy(Self.mode).contains("frame-ancestors 'none'"))
        }
    }
}
