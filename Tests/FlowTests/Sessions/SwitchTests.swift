import JOSE
import TestSupport
import Testing

@Suite("A session code in a browser where somebody is signed in")
struct SwitchTests {
    @Test("another person is asked first, and may continue", arguments: Backend.available)
    func asks(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = try await bobsBrowser(world)
            let bobs = try #require(browser.session)
            let code = try await world.sessionCode(of: try await world.signIn())
            let page = try await browser.open("/auth/session/\(code)")
            #expect(page.status == 200)
            #expect(page.isPage)
            #expect(page.header("location") == nil)
            #expect(page.words.contains("bob@example.com"))
            #expect(page.words.contains(World.email))
            #expect(browser.session == bobs)

            let landing = try await browser.submit(page, ["decision": "allow"])
            #expect(landing.status == 302)
            #expect(landing.header("location") == World.webview)
            #expect(try await browser.open("/login").words.contains(World.email))
            // Bob's session ended: it is not left lying about.
            let old = try await world.server.get("/login", cookies: ["spindle_session": bobs])
            #expect(!old.body.contains("You are signed in"))
        }
    }

    @Test("a person who stays keeps the session, and the code is not spent", arguments: Backend.available)
    func stays(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = try await bobsBrowser(world)
            let code = try await world.sessionCode(of: try await world.signIn())
            let page = try await browser.open("/auth/session/\(code)")
            let stayed = try await browser.submit(page, ["decision": "deny"])
            #expect(stayed.header("location") == "/login")
            #expect(try await browser.open("/login").words.contains("bob@example.com"))
            #expect(try await world.server.get("/auth/session/\(code)").status == 302)
        }
    }

    @Test("another site cannot send the answer: nobody is switched, nothing is spent", arguments: Backend.available)
    func crossSite(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = try await bobsBrowser(world)
            let code = try await world.sessionCode(of: try await world.signIn())
            let page = try await browser.open("/auth/session/\(code)")
            let path = "/auth/session/\(code)"
            let attempts = [
                try await browser.submit(page, ["decision": "allow"], headers: ["Origin": "https://evil.example"]),
                try await browser.submit(page, ["decision": "allow"], headers: ["Sec-Fetch-Site": "cross-site"]),
                try await browser.submit(page, ["decision": "allow", "form_token": "guess"]),
                try await world.server.post(path, ["decision": "allow"], cookies: browser.cookies),
                try await world.server.post(
                    path, ["decision": "allow", "form_token": page.fields["form_token"] ?? ""]),
            ]
            for attempt in attempts {
                #expect(attempt.status == 403)
                #expect(attempt.header("set-cookie") == nil)
                #expect(attempt.header("location") == nil)
            }
            #expect(try await browser.open("/login").words.contains("bob@example.com"))
            #expect(try await browser.submit(page, ["decision": "allow"]).status == 302)
        }
    }

    @Test("the same person's older session is replaced, and dead", arguments: Backend.available)
    func replaced(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let old = try #require(browser.session)
            let code = try await world.sessionCode(of: try await world.signIn())
            #expect(try await browser.open("/auth/session/\(code)").status == 302)
            #expect(browser.session != old)
            let replayed = try await world.server.get("/login", cookies: ["spindle_session": old])
            #expect(!replayed.body.contains("You are signed in"))
            #expect(try await browser.isSignedIn())
        }
    }

    private func bobsBrowser(_ world: World) async throws -> Browser {
        _ = try await world.person("bob@example.com")
        var browser = Browser(world.server)
        try await browser.signIn(as: "bob@example.com")
        return browser
    }
}
