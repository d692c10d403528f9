import JSON
import TestSupport
import Testing

@Suite("Logout of browsers and devices")
struct LogoutTests {
    @Test("A logout link on another site asks first, and its form ends the session", arguments: Backend.available)
    func asks(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let secret = try #require(browser.session)
            let page = try await browser.open("/logout", headers: ["Sec-Fetch-Site": "cross-site"])
            #expect(page.status == 200)
            #expect(page.body.contains("Sign out?"))
            #expect(try await browser.isSignedIn())

            let out = try await browser.submit(page)
            #expect(out.body.contains("You are signed out"))
            #expect(out.setCookie("spindle_session")?.contains("Max-Age=0") == true)
            let replayed = try await world.server.get("/login", cookies: ["spindle_session": secret])
            #expect(!replayed.body.contains("You are signed in"))
        }
    }

    @Test(
        "A logout while an app or its merchant is disabled still holds after it is enabled again",
        arguments: Backend.available)
    func resting(backend: Backend) async throws {
        try await World.with(backend) { world in
            for (path, isWebView) in [("/logout", false), ("/api/2/logout", false), ("/logout", true)] {
                let phone = try await world.signIn()
                let token = try phone.require("access_token")
                var webview = Browser(world.server)
                _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phone))")
                let secret = try #require(webview.session)
                let (kind, id) = isWebView ? ("merchants", world.merchant) : ("clients", world.app.id)
                try await world.change(kind, id, ["disabled": true])
                if isWebView {
                    let out = try await webview.submit(try await webview.open(path))
                    #expect(out.words.contains("signed out"), "\(out)")
                } else {
                    #expect(try await world.server.get(path, bearer: token).status == 401)
                }
                try await world.change(kind, id, ["disabled": false])
                world.server.clock.advance(by: .seconds(2))
                let again = try await world.server.get("/login", cookies: ["spindle_session": secret])
                #expect(!again.body.contains("You are signed in"), "\(path)")
                // A web view that signs out leaves the phone signed in.
                #expect(try await world.isLive(token) == isWebView, "\(path)")
            }
        }
    }

    @Test("Another site cannot submit the logout form", arguments: Backend.available)
    func crossSite(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open("/logout", headers: ["Sec-Fetch-Site": "cross-site"])
            let foreign = try await browser.submit(page, headers: ["Origin": "https://evil.example"])
            #expect(foreign.status == 403)
            let blind = try await world.server.post("/logout", [:], cookies: browser.cookies, headers: [:])
            #expect(blind.status == 403)
            for answer in [foreign, blind] { #expect(answer.header("set-cookie") == nil) }
            #expect(try await browser.isSignedIn())
        }
    }

    @Test(
        "A logout link signs out at once only from the server's own pages, not from a mail or another site",
        arguments: Backend.available)
    func provable(backend: Backend) async throws {
        try await World.with(backend) { world in
            for site in ["cross-site", "same-site", "none", ""] {
                var browser = Browser(world.server)
                try await browser.signIn()
                let headers = site.isEmpty ? [:] : ["Sec-Fetch-Site": site]
                for path in ["/logout", "/v2/logout", "/logout?client_id=\(world.app.id)"] {
                    #expect(try await browser.open(path, headers: headers).body.contains("Sign out?"), "\(site)")
                }
                #expect(try await browser.isSignedIn())
            }
            var browser = Browser(world.server)
            try await browser.signIn()
            // A merchant's logo is on our page too.
            for part in ["image", "iframe", "empty"] {
                let headers = ["Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": part]
                for path in ["/logout", "/flow/logout", "/v2/logout?client_id=\(world.app.id)"] {
                    _ = try await browser.open(path, headers: headers)
                    #expect(try await browser.isSignedIn(), "\(path) as \(part)")
                }
            }
            let headers = ["Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "document"]
            let out = try await browser.open("/logout", headers: headers)
            #expect(out.body.contains("You are signed out"))
            #expect(browser.session == nil)
        }
    }

    @Test("A logout ends a remembered session too", arguments: Backend.available)
    func remembered(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let login = try await browser.open("/login")
            _ = try await browser.submit(login, ["email": World.email, "password": World.password, "remember": "1"])
            let secret = try #require(browser.session)
            let out = try await browser.submit(try await browser.open("/logout"))
            #expect(out.setCookie("spindle_session")?.contains("Max-Age=0") == true)
            #expect(browser.session == nil)
            let replayed = try await world.server.get("/login", cookies: ["spindle_session": secret])
            #expect(!replayed.body.contains("You are signed in"))
        }
    }

    @Test("A logout form sent twice, or after a logout in another tab, reports success", arguments: Backend.available)
    func twice(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let (one, other) = (try await browser.open("/logout"), try await browser.open("/logout"))
            for page in [one, one, other] {
                let out = try await browser.submit(page)
                #expect(out.status == 200)
                #expect(out.body.contains("You are signed out"))
            }
        }
    }

    @Test(
        "A page's sign-out button asks first if another user has signed in since the page was shown",
        arguments: ["/account", "/login"])
    func stalePage(path: String) async throws {
        try await World.with(.sqlite) { world in
            _ = try await world.person("grace@example.com")
            var browser = Browser(world.server)
            try await browser.signIn()
            let adas = try await browser.open(path)
            browser.forgetSession()
            try await browser.signIn(as: "grace@example.com")
            let asked = try await browser.submit(adas, [:], to: "/logout")
            #expect(asked.words.contains("grace") && !asked.words.contains("You are signed out"), "\(asked)")
            #expect(try await browser.isSignedIn())
            let out = try await browser.submit(try await browser.open(path), [:], to: "/logout")
            #expect(out.words.contains("You are signed out"))
        }
    }

    @Test("Without a session, a logout of one client does not offer to stay signed in elsewhere")
    func nobodyLeft() async throws {
        try await World.with(.sqlite) { world in
            var browser = Browser(world.server)
            let page = try await browser.open("/logout?logout_scope=client&client_id=\(world.app.id)")
            #expect(page.status == 200 && !page.words.contains("elsewhere"), "\(page)")
        }
    }

    @Test(
        "A logout form shown to one user asks again before it signs out another who signed in since",
        arguments: Backend.available)
    func another(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("grace@example.com")
            var browser = Browser(world.server)
            try await browser.signIn()
            let adas = try await browser.open("/logout")
            let login = try await browser.open(world.authorizeAddress(["prompt": "login"]))
            _ = try await browser.submit(login, ["email": "grace@example.com", "password": World.password])
            let asked = try await browser.submit(adas)
            #expect(asked.body.contains("Sign out?"))
            #expect(asked.words.contains("grace@example.com"))
            #expect(try await browser.isSignedIn())
            #expect(try await browser.submit(asked).body.contains("You are signed out"))
        }
    }

    @Test("The logout page tells a browser without a session that it is signed out", arguments: Backend.available)
    func nobody(backend: Backend) async throws {
        try await World.with(backend) { world in
            let page = try await world.server.get("/logout")
            #expect(page.status == 200)
            #expect(page.body.contains("You are signed out"))
        }
    }

    @Test(
        "A device's logout ends all tokens of its token family, by header or oauth_token",
        arguments: Backend.available)
    func device(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let later = try await world.refresh(try phone.require("refresh_token"))
            let out = try await world.server.post(
                "/logout", ["oauth_token": try later.require("access_token")])
            #expect(out.status == 200)
            #expect(out.json["result"]?.string == "OK")
            for answer in [phone, later] {
                #expect(try await !world.isLive(try answer.require("access_token")))
                #expect(try await world.refresh(try answer.require("refresh_token")).error == "invalid_grant")
            }
            let again = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            #expect(again.status == 401)
        }
    }

    @Test("A client's own token cannot log a user out", arguments: Backend.available)
    func clientToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.clientToken(world.backend)
            #expect(try await world.server.get("/logout", bearer: own).status == 401)
            let stranger = try await world.newcomer("bea@example.com")
            #expect(try await world.server.get("/user/\(stranger)", bearer: own).status == 403)
        }
    }

    // MARK: Where it returns to

    private static let bye = "https://loom.example/bye?from=spindle"

    @Test(
        "A logout link asks the user first, and then redirects to the client with the state",
        arguments: Backend.available)
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
        "A logout link redirects at once if there is no session, or if it has a token of the session's user",
        arguments: Backend.available)
    func atOnce(backend: Backend) async throws {
        try await World.with(backend) { world in
            let nobody = try await world.server.get(
                path(["client_id": world.app.id, "redirect_uri": World.webview]))
            #expect(nobody.header("location") == World.webview)

            var browser = Browser(world.server)
            let code = try await world.authorize(in: &browser).requireRedirected("code")
            let token = try await world.redeemAuthorization(code).require("access_token")
            // The token says which client asks.
            let out = try await browser.open(
                path(["oauth_token": token, "redirect_uri": World.webview, "state": "s"]),
                headers: ["Sec-Fetch-Site": "cross-site"])
            #expect(out.header("location") == World.webview + "?state=s")
            #expect(browser.session == nil)
            #expect(try await !world.isLive(token))
        }
    }

    @Test(
        "A logout redirects to no address that is unregistered, another client's, or without a client",
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

    // MARK: Links that the browser prefetches

    private static let purposes = ["prefetch", "prefetch;prerender"]

    @Test(
        "Prefetching a logout link, even a site's with an ID token hint, does not sign the browser out",
        arguments: Backend.available)
    func browser(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website()
            for isOwn in [true, false] {
                var browser = Browser(world.server)
                let hint = try await site.signIn(in: &browser).require("id_token")
                let query = [("id_token_hint", hint), ("post_logout_redirect_uri", Website.bye)]
                let pairs = query.map { "\($0.0)=\(TestServer.encode($0.1))" }.joined(separator: "&")
                let path = isOwn ? "/logout" : "/logout?\(pairs)"
                let headers = ["Sec-Fetch-Site": isOwn ? "same-origin" : "cross-site", "Sec-Fetch-Dest": "document"]
                for purpose in Self.purposes {
                    let early = try await browser.open(path, headers: headers.merging(["Sec-Purpose": purpose]) { $1 })
                    #expect(early.status == 204 && early.header("set-cookie") == nil, "\(early)")
                    #expect(try await browser.isSignedIn(), "\(path)")
                }
                let out = try await browser.open(path, headers: headers)
                #expect(isOwn ? out.status == 200 : out.header("location") == Website.bye, "\(out)")
                #expect(try await !browser.isSignedIn(), "\(path)")
            }
        }
    }

    @Test("Prefetching a logout link does not end the token in it", arguments: Backend.available)
    func token(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let path = "/logout?oauth_token=\(token)"
            let headers = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"]
            for purpose in Self.purposes {
                let early = try await world.server.get(path, headers: headers.merging(["Sec-Purpose": purpose]) { $1 })
                #expect(early.status == 204, "\(early)")
                #expect(try await world.isLive(token))
            }
            #expect(try await world.server.get(path, headers: headers).status == 200)
            #expect(try await !world.isLive(token))
        }
    }
}
