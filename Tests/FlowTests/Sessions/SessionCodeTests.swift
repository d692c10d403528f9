import JSON
import TestSupport
import Testing

@Suite("Session codes: what spends them, whom they sign in, and where they lead")
struct SessionCodeTests {
    @Test(
        "Spent, expired and unknown session codes get an error page, no cookie and no redirect",
        arguments: Backend.available)
    func dead(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let spent = try await world.sessionCode(of: phone)
            _ = try await world.server.get("/auth/session/\(spent)")
            let late = try await world.sessionCode(of: phone)
            #expect(try await world.server.get("/auth/session/\(spent)").status == 410)
            world.server.clock.advance(by: .seconds(60))
            for (code, status) in [(spent, 410), (late, 410), ("unknown", 404), ("%00", 404), ("a%20b", 404)] {
                let page = try await world.server.get("/auth/session/\(code)")
                #expect(page.status == status, "\(code)")
                #expect(page.isPage)
                #expect(page.header("set-cookie") == nil)
                #expect(page.header("location") == nil)
                #expect(page.header("cache-control") == "no-store")
            }
        }
    }

    @Test(
        "A session code opened twice is refused the second time, and the first session lives on",
        arguments: Backend.available)
    func replay(backend: Backend) async throws {
        try await World.with(backend) { world in
            var webview = Browser(world.server)
            let code = try await world.sessionCode(of: try await world.signIn())
            _ = try await webview.open("/auth/session/\(code)")
            #expect(try await world.server.get("/auth/session/\(code)").status == 410)
            #expect(try await webview.isSignedIn())
        }
    }

    @Test("A frame, image or script on another page does not spend a session code", arguments: Backend.available)
    func embedded(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            for destination in ["iframe", "image", "script", "empty", "embed", "object"] {
                let refused = try await world.server.get(
                    "/auth/session/\(code)", headers: ["Sec-Fetch-Dest": destination])
                #expect(refused.status == 403)
                #expect(refused.header("set-cookie") == nil)
                #expect(refused.header("location") == nil)
            }
            let opened = try await world.server.get("/auth/session/\(code)", headers: ["Sec-Fetch-Dest": "document"])
            #expect(opened.status == 302)
        }
    }

    @Test("A browser's prefetch does not spend a session code", arguments: Backend.available)
    func prefetch(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            for headers in [
                ["Sec-Purpose": "prefetch"], ["Sec-Purpose": "prefetch;prerender"], ["Purpose": "prefetch"],
                ["X-Moz": "prefetch"],
            ] {
                let ahead = try await world.server.get("/auth/session/\(code)", headers: headers)
                #expect(ahead.status != 302, "\(headers)")
                #expect(ahead.header("set-cookie") == nil)
            }
            #expect(try await world.server.get("/auth/session/\(code)").status == 302)
        }
    }

    @Test("HEAD and other methods than GET do not spend a session code", arguments: Backend.available)
    func otherMethods(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            for method in ["HEAD", "OPTIONS", "PUT", "DELETE", "POST"] {
                let answer = try await world.server.send(method, "/auth/session/\(code)")
                #expect((400..<500).contains(answer.status), "\(method)")
                #expect(answer.header("set-cookie") == nil)
            }
            #expect(try await world.server.get("/auth/session/\(code)").status == 302)
        }
    }

    @Test("A third party's token cannot be exchanged for a session code", arguments: Backend.available)
    func thirdParty(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.confidential(["first_party": false])
            let token = try await world.signIn(with: stranger).require("access_token")
            let code = try await world.exchange(token, for: world.app, type: "session", redirectURI: World.webview)
            #expect(code.status == 403)
            #expect(code.json["code"] == nil)
        }
    }

    // MARK: Where it leads

    @Test(
        "A session code signs its user in to a web view by a cookie, and redirects to its redirect URI",
        arguments: Backend.available)
    func story(backend: Backend) async throws {
        try await World.with(backend) { world in
            var webview = Browser(world.server)
            let code = try await world.sessionCode(of: try await world.signIn())
            let landing = try await webview.open("/auth/session/\(code)")
            #expect(landing.status == 302)
            #expect(landing.header("location") == World.webview)
            #expect(landing.header("cache-control") == "no-store")
            #expect(landing.header("referrer-policy") == "no-referrer")

            let login = try await webview.open("/login")
            #expect(login.status == 200)
            #expect(login.body.contains("You are signed in"))
            #expect(login.words.contains(World.email))

            let authorized = try await webview.open(world.authorizeAddress(["prompt": "none"]))
            #expect(authorized.status == 302)
            let tokens = try await world.redeemAuthorization(try authorized.requireRedirected("code"))
            #expect(tokens.json["user_id"]?.string == world.user)

            _ = try await webview.submit(try await webview.open("/logout"))
            #expect(webview.session == nil)
            #expect(try await !webview.isSignedIn())
        }
    }

    @Test("The session cookie is HttpOnly and SameSite=Lax, for the server's host alone", arguments: Backend.available)
    func cookie(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            let landing = try await world.server.get("/session/\(code)")
            let cookie = try #require(landing.setCookie("spindle_session"))
            #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Lax"))
            #expect(!cookie.contains("Domain"))
            #expect(landing.headers.filter { $0.name.lowercased() == "set-cookie" }.count == 1)
        }
    }

    @Test("Under an https issuer the session cookie is Secure and has the __Host- prefix", arguments: Backend.available)
    func secureCookie(backend: Backend) async throws {
        try await World.with(backend, settings: ["issuer": "https://spindle.test"]) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            let landing = try await world.server.get("/auth/session/\(code)")
            let cookie = try #require(landing.setCookie("__Host-spindle_session"))
            #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Lax; Secure"))
            #expect(landing.setCookie("spindle_session") == nil)

            let secret = try #require(landing.cookie("__Host-spindle_session"))
            let planted = try await world.server.get("/login", cookies: ["spindle_session": secret])
            #expect(!planted.body.contains("You are signed in"))
            let own = try await world.server.get("/login", cookies: ["__Host-spindle_session": secret])
            #expect(own.body.contains("You are signed in"))
        }
    }

    @Test("The session cookie can be SameSite=None, for web apps of other sites", arguments: Backend.available)
    func sameSiteNone(backend: Backend) async throws {
        let settings = ["issuer": "https://spindle.test", "session_samesite": "none"]
        try await World.with(backend, settings: settings) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            let landing = try await world.server.get("/auth/session/\(code)")
            #expect(landing.setCookie("__Host-spindle_session")?.hasSuffix("; SameSite=None; Secure") == true)
        }
    }

    @Test("A session code leads to a redirect URI with a query exactly as registered", arguments: Backend.available)
    func redirectURIWithQuery(backend: Backend) async throws {
        try await World.with(backend) { world in
            let uri = "https://two.example/landing?campaign=a%20b&x=1"
            let client = try await world.confidential(["redirect_uris": [.string(uri)]])
            let token = try await world.signIn().require("access_token")
            let code = try await world.exchange(token, for: client, type: "session", redirectURI: uri).require("code")
            #expect(try await world.server.get("/auth/session/\(code)").header("location") == uri)
        }
    }

    // MARK: In a browser where a user is signed in

    @Test(
        "In another user's browser a session code asks first, and if allowed replaces that user's session",
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
            // Bob's session has ended.
            let old = try await world.server.get("/login", cookies: ["spindle_session": bobs])
            #expect(!old.body.contains("You are signed in"))
        }
    }

    @Test(
        "A user who declines another user's session code stays signed in, and the code is not spent",
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
        "A session code's switch page that named one user asks again if another user signed in meanwhile",
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
        "Another site cannot submit a session code's switch page: no session changes, and no code is spent",
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

    @Test(
        "A session code keeps a session in which the same user signed in by hand, and is spent",
        arguments: Backend.available)
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
                // The code was spent.
                #expect(try await world.server.get("/auth/session/\(code)").status == 410)
            }
            #expect(browser.session == own)
            // The session does not end with the token, and is good at another merchant's client.
            _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            #expect(try await browser.isSignedIn())
            try await world.introduce(world.user, to: world.rival)
            let theirs = world.authorizeAddress(["prompt": "none"], for: world.rivalBackend)
            #expect(try await browser.open(theirs).redirected("code") != nil)
            #expect(try await world.server.get("/auth/session/\(code)").status == 410)
        }
    }

    @Test(
        "A session code's link on another site asks before it signs the user in to a browser",
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
            // A link that an app opens comes from no site.
            for headers in [["Sec-Fetch-Site": "none"], [:]] {
                var webview = Browser(world.server)
                let code = try await world.sessionCode(of: try await world.signIn())
                #expect(try await webview.open("/auth/session/\(code)", headers: headers).status == 302)
                #expect(try await webview.isSignedIn())
            }
        }
    }

    @Test(
        "A first-party app's access token buys no session code for a self-registered client",
        arguments: Backend.available)
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
