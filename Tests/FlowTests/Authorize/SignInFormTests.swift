import JSON
import TestSupport
import Testing

@Suite("Another site cannot sign a user in, or lead them away")
struct SignInFormTests {
    @Test(
        "A sign-in form from another site, without its cookie or with a wrong form token signs in no user",
        arguments: Backend.available)
    func crossSite(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let page = try await browser.open("/login")
            let good = ["email": World.email, "password": World.password]
            let attempts = [
                try await world.server.post(
                    "/login",
                    [
                        "email": World.email, "password": World.password,
                        "form_token": page.fields["form_token"] ?? "",
                    ]),
                try await world.server.post(
                    "/login", ["email": World.email, "password": World.password], cookies: browser.cookies),
                try await browser.submit(page, good.merging(["form_token": "guess"]) { $1 }),
                try await browser.submit(page, good, headers: ["Origin": "https://evil.example"]),
                try await browser.submit(page, good, headers: ["Origin": "null"]),
                try await browser.submit(page, good, headers: ["Sec-Fetch-Site": "cross-site"]),
                try await browser.submit(page, good, headers: ["Sec-Fetch-Site": "same-site"]),
            ]
            for attempt in attempts {
                #expect(attempt.status == 403)
                #expect(attempt.isPage)
                #expect(attempt.cookie("spindle_session") == nil)
            }
            let own = try await browser.submit(
                page, good, headers: ["Origin": "http://spindle.test", "Sec-Fetch-Site": "same-origin"])
            #expect(own.status == 303)
        }
    }

    @Test("A form token of one browser is refused in another", arguments: Backend.available)
    func otherBrowsersToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            var attacker = Browser(world.server)
            var victim = Browser(world.server)
            let theirs = try await attacker.open("/login")
            let own = try await victim.open("/login")
            let refused = try await victim.submit(
                own,
                [
                    "email": World.email, "password": World.password,
                    "form_token": theirs.fields["form_token"] ?? "",
                ])
            #expect(refused.status == 403)
            #expect(victim.session == nil)
        }
    }

    @Test(
        "A sign-in does not continue to another site, to /logout or to a disguised path",
        arguments: Backend.available)
    func openRedirect(backend: Backend) async throws {
        try await World.with(backend) { world in
            for target in [
                "https://evil.example/", "//evil.example/", "/\\evil.example", "/oauth/authorize/../..//evil.example",
                "/oauth/authorize.evil.example?", "javascript:alert(1)", "/logout", "https://loom.example/in",
                "/oauth/authorize?x\r\nLocation: https://evil.example", "/oauth/authorize?\\evil.example",
                "/account/%2e%2e/logout", "/account/%2E%2E%2Flogout", "/verify/%2fevil.example", "/account%3F",
            ] {
                var browser = Browser(world.server)
                let signedIn = try await browser.submit(
                    try await browser.open("/login"),
                    ["email": World.email, "password": World.password, "continue": target])
                #expect(signedIn.status == 303)
                #expect(signedIn.header("location") == "/login", "\(target)")
                #expect(signedIn.headers.filter { $0.name.lowercased() == "location" }.count == 1)
            }
        }
    }

    @Test(
        "A sign-in replaces a session that an attacker planted in the browser, and ends it",
        arguments: Backend.available)
    func fixation(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("mallory@example.com")
            var attacker = Browser(world.server)
            try await attacker.signIn(as: "mallory@example.com")
            let planted = try #require(attacker.session)
            // The victim's browser carries the attacker's session and signs in over it.
            let answer = try await world.authorize(in: &attacker, ["prompt": "login"])
            #expect(answer.redirected("code") != nil)
            #expect(try await attacker.open("/login").words.contains("ada@example.com"))
            let old = try await world.server.get("/login", cookies: ["spindle_session": planted])
            #expect(!old.body.contains("You are signed in"))
        }
    }

    @Test(
        "Parameters of an authorization request appear on pages as text, never as markup",
        arguments: Backend.available)
    func injection(backend: Backend) async throws {
        try await World.with(backend) { world in
            let script = "\"><script>alert(1)</script>"
            let pages = [
                try await world.server.get(world.authorizeAddress(["login_hint": script])),
                try await world.server.get(world.authorizeAddress(["client_id": script])),
                try await world.server.get(world.authorizeAddress(["redirect_uri": "https://x.example/" + script])),
                try await world.server.get(world.authorizeAddress(["state": script])),
            ]
            for page in pages { #expect(!page.body.contains("<script>")) }
        }
    }
}
