import JSON
import TestSupport
import Testing

@Suite("The state that an app sends when it buys a session comes back") struct ExchangeStateTests {
    private static let state = "a b&c=d/æ?#%"

    private func code(_ world: World, path: String, state: String?, redirectURI: String = World.webview) async throws
        -> String
    {
        let token = try await world.signIn().require("access_token")
        let form = [
            ("clientId", world.app.id), ("type", "session"), ("redirectUri", redirectURI),
        ]
        let answer = try await world.server.post(
            path, form: form + (state.map { [("state", $0)] } ?? []), bearer: token)
        #expect(answer.status == 200, "\(answer)")
        return try #require((answer.json["data"] ?? answer.json)["code"]?.string)
    }

    @Test("at both endpoints and both addresses of the code", arguments: Backend.available)
    func comesBack(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            for path in ["/oauth/exchange", "/api/2/oauth/exchange"] {
                for place in ["/session/", "/auth/session/"] {
                    let bought = try await code(world, path: path, state: Self.state)
                    let landing = try await world.server.get(place + bought)
                    #expect(landing.status == 302 && landing.redirected("state") == Self.state)
                    #expect(landing.header("location")?.hasPrefix(World.webview + "?state=") == true)
                }
                // None, where none or an empty one was sent.
                for none in [nil, ""] {
                    let bought = try await code(world, path: path, state: none)
                    #expect(try await world.server.get("/session/\(bought)").header("location") == World.webview)
                }
            }
        }
    }

    @Test(
        "beside the query of the redirect URI, and after the question who is to be signed in",
        arguments: Backend.available)
    func asked(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let page = World.webview + "?from=app"
            let registered = try await world.change(
                "clients", world.app.id, ["redirect_uris": [.string(page), .string(World.webview)]])
            try #require(registered.status == 200)
            _ = try await world.person("bob@example.com")
            var browser = Browser(world.server)
            try await browser.signIn(as: "bob@example.com")
            let bought = try await code(world, path: "/oauth/exchange", state: Self.state, redirectURI: page)
            let question = try await browser.open("/session/\(bought)")
            #expect(question.status == 200)
            let landing = try await browser.submit(question, ["decision": "allow"])
            #expect(landing.status == 302 && landing.redirected("state") == Self.state)
            #expect(landing.redirected("from") == "app")
        }
    }

    @Test("a state that is too long is refused, and a code for a backend has none", arguments: Backend.available)
    func limits(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            func buy(_ type: String, _ state: String) async throws -> Answer {
                try await world.server.post(
                    "/oauth/exchange",
                    [
                        "clientId": type == "code" ? world.backend.id : world.app.id, "type": type, "state": state,
                        "redirectUri": type == "code" ? "" : World.webview,
                    ], bearer: token)
            }
            #expect(try await buy("session", String(repeating: "x", count: 2048)).status == 200)
            let long = try await buy("session", String(repeating: "x", count: 2049))
            #expect(long.status == 400 && long.error == "invalid_request")
            let nul = try await buy("session", "a\u{0}b")
            #expect(nul.status == 400)
            #expect(try await buy("code", String(repeating: "x", count: 3000)).status == 200)
        }
    }
}
