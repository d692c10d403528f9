import JSON
import TestSupport
import Testing

@Suite("A logout returns only to an address of the client that asked")
struct LogoutReturnTests {
    private static let bye = "https://loom.example/bye?from=spindle"

    @Test("A logout asks first, and then returns with the state", arguments: Backend.available)
    func back(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("clients", world.app.id, ["post_logout_redirect_uris": [.string(Self.bye)]])
            let state = "\"><script>alert(1)</script>&x=1"
            let targets = [
                ("redirect_uri", World.webview, World.webview + "?state="), ("returnTo", World.webview, ""),
                ("redirect_uri", "https://loom.example/in", "https://loom.example/in?state="),
                ("post_logout_redirect_uri", Self.bye, Self.bye + "&state="),
            ]
            for (name, target, location) in targets {
                var browser = Browser(world.server)
                try await browser.signIn()
                let page = try await browser.open(
                    path(["client_id": world.app.id, name: target, "state": state]),
                    headers: ["Sec-Fetch-Site": "cross-site"])
                #expect(page.body.contains("Sign out?"))
                #expect(!page.body.contains("<script>"))
                #expect(try await browser.isSignedIn())
                for _ in 1...2 {
                    let out = try await browser.submit(page)
                    #expect(out.status == 302)
                    #expect(out.header("location")?.hasPrefix(location.isEmpty ? target : location) == true)
                    #expect(out.redirected("state") == state)
                    #expect(out.setCookie("spindle_session")?.contains("Max-Age=0") == true)
                }
                #expect(browser.session == nil)
            }
        }
    }

    @Test(
        "A logout returns at once when there is no session or the link has a token of the session's user",
        arguments: Backend.available)
    func atOnce(backend: Backend) async throws {
        try await World.with(backend) { world in
            let nobody = try await world.server.get(
                path(["client_id": world.app.id, "redirect_uri": World.webview]))
            #expect(nobody.header("location") == World.webview)

            var browser = Browser(world.server)
            let code = try await world.authorize(in: &browser).requireRedirected("code")
            let token = try await world.redeemAuthorization(code).require("access_token")
            // The token says whose client asks.
            let out = try await browser.open(
                path(["oauth_token": token, "redirect_uri": World.webview, "state": "s"]),
                headers: ["Sec-Fetch-Site": "cross-site"])
            #expect(out.header("location") == World.webview + "?state=s")
            #expect(browser.session == nil)
            #expect(try await !world.isLive(token))
        }
    }

    @Test(
        "A logout does not return to an address that is unregistered, another client's, or sent without a client",
        arguments: Backend.available)
    func openRedirect(backend: Backend) async throws {
        try await World.with(backend) { world in
            let attempts: [[(String, String)]] =
                [
                    "https://evil.example/", "//evil.example/", "/\\evil.example", World.webview + "/",
                    World.webview + "?x",
                    "https://loom.example@evil.example/",
                    "https://loom.example/webview\r\nLocation: https://evil.example",
                    "javascript:alert(1)", world.backend.redirectURI, "/oauth/authorize",
                ].flatMap { target in
                    ["redirect_uri", "post_logout_redirect_uri", "returnTo"].map {
                        [("client_id", world.app.id), ($0, target)]
                    }
                } + [
                    [("redirect_uri", World.webview)], [("client_id", "nobody"), ("redirect_uri", World.webview)],
                    [
                        ("client_id", world.app.id), ("post_logout_redirect_uri", "https://evil.example/"),
                        ("redirect_uri", World.webview),
                    ],
                ]
            var browser = Browser(world.server)
            for attempt in attempts {
                let nobody = try await world.server.get(path(attempt))
                #expect(nobody.header("location") == nil)
                try await browser.signIn()
                let page = try await browser.open(path(attempt))
                #expect(page.body.contains("Sign out?"))
                let out = try await browser.submit(page)
                #expect(out.status == 200)
                #expect(out.header("location") == nil)
                #expect(out.body.contains("You are signed out"))
            }
        }
    }

    private func path(_ items: KeyValuePairs<String, String>) -> String { path(items.map { ($0.key, $0.value) }) }

    private func path(_ items: [(String, String)]) -> String {
        "/logout?" + items.map { "\($0.0)=\(TestServer.encode($0.1))" }.joined(separator: "&")
    }
}
