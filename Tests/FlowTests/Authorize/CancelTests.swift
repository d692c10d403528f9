import JSON
import TestSupport
import Testing

@Suite("A user who cancels the sign-in goes back to the app")
struct CancelTests {
    @Test("without a registered cancel address the app gets access_denied", arguments: Backend.available)
    func told(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let page = try await browser.open(world.authorizeAddress())
            #expect(page.body.contains("value=\"cancel\""))
            for _ in 1...2 {
                let answer = try await world.answer(page, in: browser, "cancel")
                #expect(answer.status == 302)
                #expect(answer.header("location")?.hasPrefix("https://loom.example/in?error=access_denied") == true)
                #expect(answer.redirected("state") == "xyz")
                #expect(answer.redirected("iss") == "http://spindle.test")
            }
        }
    }

    @Test("a cancelled sign-in leads to the registered cancel address", arguments: Backend.available)
    func address(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let page = try await browser.open(world.authorizeAddress(["cancel_redirect_uri": World.webview]))
            let refused = try await browser.submit(page, ["email": World.email, "password": "a guess"])
            for page in [page, refused] {
                let answer = try await world.answer(page, in: browser, "cancel")
                #expect(answer.header("location") == World.webview)
            }
            // It is for cancelling: a sign-in leads to the redirect URI.
            let signedIn = try await browser.submit(page, ["email": World.email, "password": World.password])
            let answer = try await browser.open(try #require(signedIn.header("location")))
            #expect(answer.header("location")?.hasPrefix("https://loom.example/in?code=") == true)
        }
    }

    @Test(
        "an unregistered cancel address gets a page that says which of the two addresses is wrong",
        arguments: Backend.available)
    func unregistered(backend: Backend) async throws {
        try await World.with(backend) { world in
            for bad in [
                "https://evil.example/", "https://loom.example/in/", World.webview + "?x=1", "javascript:alert(1)",
            ] {
                let page = try await world.server.get(world.authorizeAddress(["cancel_redirect_uri": bad]))
                #expect(page.status == 400)
                #expect(page.isPage)
                #expect(page.header("location") == nil)
                #expect(page.body.contains("The address to cancel to is not registered"))
            }
            let both = try await world.server.get(
                world.authorizeAddress(["cancel_redirect_uri": "https://evil.example/", "redirect_uri": "x://y"]))
            #expect(both.body.contains("The address to return to is not registered"))
        }
    }

    @Test("the page about an unregistered address names the likeliest slip", arguments: Backend.available)
    func nearMiss(backend: Backend) async throws {
        try await World.with(backend) { world in
            let cases = [
                ("https://loom.example/in/", "the slash at its end"), ("Loom://signed-in", "letter case"),
                ("http://loom.example/webview", "scheme"), ("https://loom.example:8443/webview", "port"),
                (World.webview + "?x=1", "query"), (World.webview + "#x", "fragment"),
            ]
            for name in ["redirect_uri", "cancel_redirect_uri"] {
                for (text, slip) in cases {
                    let page = try await world.server.get(world.authorizeAddress([name: text]))
                    #expect(page.body.contains("differs from a registered address only in: \(slip)."), "\(text)")
                }
                let far = try await world.server.get(world.authorizeAddress([name: "https://evil.example/webview"]))
                #expect(!far.body.contains("differs from"))
                #expect(!far.body.contains("loom.example"))
            }
        }
    }
}
