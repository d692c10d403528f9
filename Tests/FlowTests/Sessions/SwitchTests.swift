import JSON
import TestSupport
import Testing

@Suite("A session code in a browser where a user is signed in")
struct SwitchTests {
    @Test(
        "A session code asks another signed-in user first, who may then continue as the code's user",
        arguments: Backend.available)
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

    @Test(
        "A user who refuses a session code's switch keeps the session, and the code is not spent",
        arguments: Backend.available)
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

    @Test(
        "A switch page that named one user asks again if another user signed in meanwhile",
        arguments: Backend.available)
    func oldPage(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("carl@example.com")
            var browser = try await bobsBrowser(world)
            let code = try await world.sessionCode(of: try await world.signIn())
            let page = try await browser.open("/auth/session/\(code)")
            let login = try await browser.open(world.authorizeAddress(["prompt": "login"]))
            _ = try await browser.submit(login, ["email": "carl@example.com", "password": World.password])
            let carls = try #require(browser.session)
            let asked = try await browser.submit(page, ["decision": "allow"])
            #expect(asked.status == 200 && asked.words.contains("carl@example.com"), "\(asked)")
            #expect(browser.session == carls)
            #expect(try await browser.submit(asked, ["decision": "allow"]).header("location") == World.webview)
        }
    }

    @Test(
        "Another site cannot submit the switch page: no session changes, and no code is spent",
        arguments: Backend.available)
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

    @Test("A session code replaces and ends the same user's older bought session", arguments: Backend.available)
    func replaced(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            _ = try await browser.open("/auth/session/\(try await world.sessionCode(of: try await world.signIn()))")
            let old = try #require(browser.session)
            let code = try await world.sessionCode(of: try await world.signIn())
            #expect(try await browser.open("/auth/session/\(code)").status == 302)
            #expect(browser.session != old)
            let replayed = try await world.server.get("/login", cookies: ["spindle_session": old])
            #expect(!replayed.body.contains("You are signed in"))
            #expect(try await browser.isSignedIn())
        }
    }

    @Test("A session code keeps the same user's own sign-in, and is spent", arguments: Backend.available)
    func kept(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            _ = try await browser.submit(
                try await browser.open("/login"),
                ["email": World.email, "password": World.password, "remember": "1"])
            let own = try #require(browser.session)
            let phone = try await world.signIn()
            let code = try await world.sessionCode(of: phone)
            for headers in [[:], ["Sec-Fetch-Site": "cross-site"]] {
                let code = try await world.sessionCode(of: phone)
                let landing = try await browser.open("/auth/session/\(code)", headers: headers)
                #expect(landing.status == 302 && landing.header("location") == World.webview)
                #expect(landing.header("set-cookie") == nil)
                // It was spent all the same.
                #expect(try await world.server.get("/auth/session/\(code)").status == 410)
            }
            #expect(browser.session == own)
            // It does not die with the token, and is good for another merchant's client.
            _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            #expect(try await browser.isSignedIn())
            try await world.introduce(world.user, to: world.rival)
            let theirs = world.authorizeAddress(["prompt": "none"], for: world.rivalBackend)
            #expect(try await browser.open(theirs).redirected("code") != nil)
            #expect(try await world.server.get("/auth/session/\(code)").status == 410)
        }
    }

    @Test(
        "A session-code link on another site asks before it signs in a browser without a session",
        arguments: Backend.available)
    func unasked(backend: Backend) async throws {
        try await World.with(backend) { world in
            for site in ["cross-site", "same-site"] {
                let code = try await world.sessionCode(of: try await world.signIn())
                var victim = Browser(world.server)
                let page = try await victim.open("/auth/session/\(code)", headers: ["Sec-Fetch-Site": site])
                #expect(page.status == 200 && page.isPage)
                #expect(victim.session == nil)
                #expect(page.words.contains("Sign in here?") && page.words.contains(World.email))
                let stayed = try await victim.submit(page, ["decision": "deny"])
                #expect(stayed.header("location") == "/login" && victim.session == nil)
                let landing = try await victim.submit(page, ["decision": "allow"])
                #expect(landing.header("location") == World.webview)
                #expect(try await victim.isSignedIn())
            }
            // What an app opens comes from no site.
            for headers in [["Sec-Fetch-Site": "none"], [:]] {
                var webview = Browser(world.server)
                let code = try await world.sessionCode(of: try await world.signIn())
                #expect(try await webview.open("/auth/session/\(code)", headers: headers).status == 302)
                #expect(try await webview.isSignedIn())
            }
        }
    }

    @Test("A client that registered itself gets no session code", arguments: Backend.available)
    func selfRegistered(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.register().actor
            let token = try await world.signIn().require("access_token")
            let answer = try await world.exchange(
                token, for: stranger, type: "session", redirectURI: stranger.redirectURI)
            #expect(answer.status == 403 && answer.error == "access_denied", "\(answer)")
            #expect(answer.json["code"] == nil)
            let own = try await world.exchange(token, for: world.app, type: "session", redirectURI: World.webview)
            #expect(own.status == 200)
        }
    }

    private func bobsBrowser(_ world: World) async throws -> Browser {
        _ = try await world.person("bob@example.com")
        var browser = Browser(world.server)
        try await browser.signIn(as: "bob@example.com")
        return browser
    }
}
