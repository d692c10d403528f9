import JSON
import TestSupport
import Testing

@Suite("SPiD's addresses for signing in, signing up and new passwords")
struct EntranceTests {
    /// The query that SPiD's SDK for Java sends.
    private func query(_ client: World.Actor, _ more: String = "") -> String {
        "?client_id=\(client.id)&response_type=code&flow=signup&return_session=1&session_version=1"
            + "&redirect_uri=\(TestServer.encode(client.redirectURI))\(more)"
    }

    private func redeem(_ world: World, _ code: String, _ client: World.Actor) async throws -> Answer {
        let form = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", client.redirectURI)]
        return try await world.server.post("/oauth/token", form: form, basic: client.basic)
    }

    @Test(
        "The path /login with a client_id signs the user in and returns to the client with a code",
        arguments: Backend.available)
    func signIn(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            var browser = Browser(world.server)
            let way = try await browser.open("/login" + query(spid, "&state=s"))
            #expect(way.status == 303)
            let page = try await browser.open(try #require(way.header("location")))
            #expect(page.status == 200 && page.formAction == "/login")
            let signedIn = try await browser.submit(page, ["email": World.email, "password": World.password])
            let back = try await browser.open(try #require(signedIn.header("location")))
            #expect(back.redirected("state") == "s")
            let code = try back.requireRedirected("code")
            #expect(try await redeem(world, code, spid).status == 200)
            // A signed-in user goes on without a password.
            let again = try await browser.open("/login" + query(spid))
            let through = try await browser.open(try #require(again.header("location")))
            #expect(
                try await browser.pick(try #require(through.choices.first), on: through).redirected("code") != nil)
        }
    }

    @Test(
        "The path /signup with a client_id signs the user up and returns to the client with a code",
        arguments: Backend.available)
    func signUp(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            var visitor = BrowserUser(world)
            let way = try await visitor.browser.open("/signup" + query(spid))
            let onward = try await visitor.browser.open(try #require(way.header("location")))
            let asked = try await visitor.fill(
                try #require(onward.header("location")), ["email": "new@example.com", "password": World.password])
            let letter = try await world.server.mail.letter(to: "new@example.com")
            let done = try await visitor.browser.submit(asked, ["code": try #require(letter.code)])
            let back = try await visitor.browser.open(try #require(done.header("location")))
            #expect(try await redeem(world, try back.requireRedirected("code"), spid).status == 200)
        }
    }

    @Test(
        "SPiD's parameter cancel_url is where cancelling leads, if the client registered that address",
        arguments: Backend.available)
    func cancelling(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend(["web_origins": ["https://www.loom.example/news"]])
            let page = "https://www.loom.example/news/today"
            for (address, location) in [(page, page + "?spid_page=login"), ("https://evil.example/", nil)] {
                var browser = Browser(world.server)
                let way = try await browser.open("/login" + query(spid, "&cancel_url=\(TestServer.encode(address))"))
                let shown = try await browser.open(try #require(way.header("location")))
                #expect(shown.status == 200 && shown.body.contains("value=\"cancel\"") == (location != nil))
                guard let location else { continue }
                #expect(try await world.answer(shown, in: browser, "cancel").header("location") == location)
            }
        }
    }

    @Test("A request at /login or /signup that is too long to pass on gets 414, which names the limit")
    func tooLong() async throws {
        try await World.with(.sqlite) { world in
            let spid = try await world.spidBackend()
            for path in ["/login", "/signup"] {
                func get(_ state: String) async throws -> Answer {
                    try await world.server.get(path + query(spid, "&state=" + state))
                }
                #expect(try await get(String(repeating: "a", count: 7000)).status == 303)
                // Each `!` is three bytes when it is passed on.
                let long = try await get(String(repeating: "!", count: 3000))
                #expect(long.status == 414 && long.isPage && long.body.contains("8000"), "\(long)")
            }
        }
    }

    @Test(
        "An unknown client or redirect URI at /login or /signup ends at an error page of this server",
        arguments: Backend.available)
    func refusals(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            for query in [
                "?client_id=nobody&response_type=code&redirect_uri=https%3A%2F%2Fevil.example%2F",
                "?client_id=\(spid.id)&response_type=code&redirect_uri=https%3A%2F%2Fevil.example%2F",
                "?client_id=\(spid.id)&client_id=nobody&response_type=code",
            ] {
                for path in ["/login", "/signup"] {
                    let way = try await world.server.get(path + query)
                    let location = try #require(way.header("location"))
                    #expect(way.status == 303 && location.hasPrefix("/flow\(path)?"))
                    let page = try await world.server.get(location)
                    #expect(page.status == 400 && page.isPage && page.header("location") == nil)
                }
            }
        }
    }

    // MARK: SPiD's own paths

    private static let signIns = ["/flow/login", "/flow/auth", "/flow/signin", "/auth/login"]
    private static let signUps = ["/flow/signup", "/auth/signup"]

    @Test(
        "SPiD's sign-in paths return a code; /flow/login shows a signed-in user the account picker first",
        arguments: Backend.available)
    func signInPaths(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            for path in Self.signIns {
                var browser = Browser(world.server)
                let page = try await browser.open(address(world, path, for: spid))
                #expect(page.status == 200 && page.formAction == "/login", "\(path)")
                let signedIn = try await browser.submit(page, ["email": World.email, "password": World.password])
                let back = try await browser.open(try #require(signedIn.header("location")))
                let code = try back.requireRedirected("code")
                #expect(try await world.redeemAuthorization(code, as: spid).status == 200)
                #expect(back.redirected("state") == "xyz")
                let again = try await browser.open(address(world, path, for: spid))
                guard ["/flow/login", "/flow/signin"].contains(path) else {
                    #expect(again.redirected("code") != nil, "\(path)")
                    continue
                }
                #expect(again.isPicker, "\(path)")
                #expect(try await browser.pick(try #require(again.choices.first), on: again).redirected("code") != nil)
                let silent = try await browser.open(address(world, path, ["prompt": "none"], for: spid))
                #expect(silent.redirected("code") != nil)
                // Other clients are not asked first.
                #expect(try await browser.open(address(world, path)).redirected("code") != nil)
            }
        }
    }

    @Test(
        "The path /flow/login asks nothing of a web view whose session an app bought, and gives a code",
        arguments: Backend.available)
    func webview(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            var webview = Browser(world.server)
            _ = try await webview.open("/session/\(try await world.sessionCode(of: try await world.signIn()))")
            #expect(try await webview.open(address(world, "/flow/login", for: spid)).redirected("code") != nil)
        }
    }

    @Test(
        "The path /flow/signup leads to the sign-up page first, unless the user is signed in",
        arguments: Backend.available)
    func signUpPaths(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            for (number, path) in Self.signUps.enumerated() {
                let email = "new\(number)@example.com"
                var visitor = BrowserUser(world)
                let way = try await visitor.browser.open(address(world, path, for: spid))
                #expect(way.status == 303, "\(path)")
                let onward = try #require(way.header("location"))
                #expect(onward.hasPrefix("/signup?continue="))
                let asked = try await visitor.fill(onward, ["email": email, "password": World.password])
                let letter = try await world.server.mail.letter(to: email)
                let done = try await visitor.browser.submit(asked, ["code": try #require(letter.code)])
                let back = try await visitor.browser.open(try #require(done.header("location")))
                #expect(try await world.redeemAuthorization(try back.requireRedirected("code"), as: spid).status == 200)
                // The user is signed in now.
                let again = try await visitor.browser.open(address(world, path, for: spid))
                #expect(again.redirected("code") != nil)
            }
            let silent = try await world.server.get(address(world, "/flow/signup", ["prompt": "none"], for: spid))
            #expect(silent.redirected("error") == "login_required")
        }
    }

    @Test(
        "Errors at SPiD's sign-in and sign-up paths are reported as at /oauth/authorize", arguments: Backend.available)
    func pathRefusals(backend: Backend) async throws {
        try await World.with(backend) { world in
            for path in Self.signIns + Self.signUps {
                let nobody = try await world.server.get(address(world, path, ["client_id": "nobody"]))
                #expect(nobody.status == 400 && nobody.isPage && nobody.header("location") == nil, "\(path)")
                let elsewhere = try await world.server.get(
                    address(world, path, ["redirect_uri": "https://evil.example/"]))
                #expect(elsewhere.status == 400 && elsewhere.isPage && elsewhere.header("location") == nil)
                let silent = try await world.server.get(address(world, path, ["response_type": ""]))
                #expect(silent.redirected("error") == "invalid_request")
            }
        }
    }

    @Test("SPiD's locale parameter selects the page's language at SPiD's paths, unless ui_locales does")
    func locale() async throws {
        try await World.with(.sqlite) { world in
            let cases: [(KeyValuePairs<String, String>, String)] = [
                (["locale": "nb_NO"], "no"), (["locale": "sv_SE"], "sv"), (["locale": "xx"], "en"),
                (["locale": "nb_NO", "ui_locales": "de"], "de"), ([:], "en"),
            ]
            for (changes, language) in cases {
                let page = try await world.server.get(address(world, "/flow/login", changes))
                #expect(page.header("content-language") == language, "\(changes)")
            }
            // Our own endpoint does not know the parameter.
            let ours = try await world.server.get(world.authorizeAddress(["locale": "nb_NO"]))
            #expect(ours.header("content-language") == "en")
        }
    }

    @Test("A password reset begun at SPiD's paths leads back to the app, without a code", arguments: Backend.available)
    func password(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = "client_id=\(world.app.id)&redirect_uri=loom%3A%2F%2Fsigned-in"
            // One SDK appends its query to an address that has one.
            let doubled = "\(app)%3F?\(app)&response_type=code&grant_type=authorization_code&force=1"
            for (email, path, query) in [
                ("grace@example.com", "/flow/password?", app), ("bob@example.com", "/flow/password?", doubled),
                ("eve@example.com", "/auth/forgotpassword?", app),
            ] {
                _ = try await world.person(email)
                var visitor = BrowserUser(world)
                let way = try await visitor.browser.open(path + query)
                #expect(way.status == 303)
                let onward = try #require(way.header("location"))
                #expect(onward.hasPrefix("/password?continue="))
                let page = try await visitor.browser.open(onward)
                #expect(page.body.contains("Loom"), "it is not dressed as the app's merchant")
                _ = try await visitor.browser.submit(page, ["email": email])
                let letter = try await world.server.mail.letter(to: email)
                let link = try #require(letter.link(containing: "/password/reset/"))
                let form = try await visitor.browser.open(link.replacing("http://spindle.test", with: ""))
                let done = try await visitor.browser.submit(form, ["password": "a brand new loom"])
                let back = try await visitor.browser.open(try #require(done.header("location")))
                #expect(back.status == 302)
                #expect(back.header("location")?.hasPrefix(World.scheme + "?iss=") == true)
                #expect(back.redirected("code") == nil)
            }
            for query in ["", "client_id=nobody", "client_id=\(world.app.id)&redirect_uri=https%3A%2F%2Fevil.example"] {
                let page = try await world.server.get("/flow/password?" + query)
                #expect(page.status == 400 && page.isPage && page.header("location") == nil)
            }
        }
    }

    @Test("A response_type of none returns a signed-in user to the client with state and iss, but no code")
    func nothing() async throws {
        try await World.with(.sqlite) { world in
            let address = world.authorizeAddress(["response_type": "none", "code_challenge": ""])
            let bare = address.replacing("&code_challenge_method=S256", with: "")
            var browser = Browser(world.server)
            #expect(try await browser.open(bare + "&prompt=none").redirected("error") == "login_required")
            #expect(try await browser.open(bare).formAction == "/login")
            try await browser.signIn()
            let back = try await browser.open(bare)
            #expect(back.status == 302)
            #expect(back.header("location") == "https://loom.example/in?state=xyz&iss=http%3A%2F%2Fspindle.test")
        }
    }

    private func address(
        _ world: World, _ path: String, _ changes: KeyValuePairs<String, String> = [:], for client: World.Actor? = nil
    ) -> String {
        path + world.authorizeAddress(changes, for: client).dropFirst("/oauth/authorize".count)
    }
}
