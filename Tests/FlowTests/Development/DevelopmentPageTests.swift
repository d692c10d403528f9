import JSON
import Storage
import TestSupport
import Testing

@Suite("Development mode is announced on every page, offers errors, and needs --dev")
struct DevelopmentPageTests {
    private static let banners = [
        "en": "anybody can sign in here as anybody, without a password.",
        "nb": "her kan hvem som helst logge inn som hvem som helst, uten passord.",
        "sv": "här kan vem som helst logga in som vem som helst, utan lösenord.",
        "de": "Hier kann sich jeder ohne Passwort als jeder anmelden.",
    ]

    @Test(
        "In development mode every page begins with a banner that says so, in the user's language",
        arguments: banners.keys.sorted())
    func banner(language: String) async throws {
        try await World.with(.sqlite, isDevelopment: true) { world in
            let text = try #require(Self.banners[language])
            var developer = Developer(world)
            var pages = [
                "/login?page=people", "/signup", "/password", "/development/sign-in",
                "/oauth/authorize", "/oauth/authorize?client_id=nobody", "/auth/session/nonsense", "/no-such-page",
            ]
            for isSignedIn in [false, true] {
                if isSignedIn {
                    _ = try await developer.enter(as: "alice", at: world.authorizeAddress())
                    pages = [
                        "/login", "/account", "/account/delete", "/logout",
                        world.authorizeAddress(["prompt": "consent"]),
                    ]
                }
                for path in pages {
                    let page = try await developer.browser.open(
                        path, headers: ["Accept-Language": language, "Accept": "text/html"])
                    #expect(page.isPage, "\(path): \(page.status)")
                    let body = try #require(page.body.split(separator: "<body>\n").last)
                    #expect(body.hasPrefix("<aside class=\"development\" aria-label=\""), "\(path)")
                    #expect(page.body.contains(text), "\(path)")
                }
            }
        }
    }

    private static let errors = [
        "access_denied", "invalid_request", "unauthorized_client", "invalid_scope", "server_error",
        "temporarily_unavailable", "login_required", "interaction_required", "consent_required",
    ]

    @Test(
        "An error chosen on the development sign-in page reaches the app with its state and signs in no user",
        arguments: errors)
    func each(error: String) async throws {
        try await World.with(.sqlite, isDevelopment: true) { world in
            var developer = Developer(world)
            let page = try await developer.page(at: world.authorizeAddress())
            let offered = page.body.matches(of: /<option>([^<]+)<\/option>/).map { String($0.output.1) }
            #expect(offered == Self.errors)
            let answer = try await developer.refuse(world.authorizeAddress(), with: error)
            #expect(answer.status == 302)
            #expect(answer.header("location")?.hasPrefix("https://loom.example/in?error=\(error)&") == true)
            #expect(answer.redirected("error") == error)
            #expect(answer.redirected("state") == "xyz")
            #expect(answer.redirected("iss") == "http://spindle.test")
            let told = error == "invalid_request" ? "User failed authentication" : "Chosen at the development sign-in."
            #expect(answer.redirected("error_description") == told)
            #expect(developer.browser.session == nil)
        }
    }

    @Test(
        "An error chosen on the development page is sent in the response mode of the authorization request",
        arguments: Backend.available)
    func modes(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            var developer = Developer(world)
            let fragment = try await developer.refuse(
                world.authorizeAddress(["response_mode": "fragment"]), with: "access_denied")
            #expect(fragment.fragment["error"] == "access_denied")
            let post = try await developer.refuse(
                world.authorizeAddress(
                    ["response_mode": "form_post", "redirect_uri": World.webview]), with: "login_required")
            #expect(post.formAction == World.webview)
            #expect(post.fields["error"] == "login_required" && post.fields["state"] == "xyz")
        }
    }

    @Test(
        "The development page sends the app only listed errors, and none once the request is no longer valid",
        arguments: Backend.available)
    func others(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            var developer = Developer(world)
            let unknown = try await developer.refuse(world.authorizeAddress(), with: "anything")
            #expect(unknown.status == 400 && unknown.header("location") == nil)
            let page = try await developer.page(at: world.authorizeAddress())
            try await world.change("clients", world.app.id, ["redirect_uris": ["https://loom.example/moved"]])
            let refused = try await developer.browser.submit(page, ["outcome": "error", "error": "access_denied"])
            #expect(refused.status == 400 && refused.header("location") == nil)
            #expect(refused.body.contains("The address to return to is not registered"))
            let nowhere = try await developer.browser.submit(
                page, ["continue": "https://evil.example/", "outcome": "error", "error": "access_denied"])
            #expect(nowhere.status == 400 && nowhere.header("location") == nil)
        }
    }

    @Test(
        "Without --dev there is no development endpoint and no banner, and the login page is the normal one",
        arguments: Backend.available)
    func absent(backend: Backend) async throws {
        try await World.with(backend) { world in
            #expect(try !world.server.routes.contains { $0.contains("development") })
            for path in [Developer.path, "/development/answer"] {
                #expect(try await world.server.get(path).status == 404)
                #expect(try await world.server.post(path, ["username": "alice", "outcome": "sign_in"]).status == 404)
            }
            var browser = Browser(world.server)
            let login = try await browser.open(world.authorizeAddress())
            #expect(login.status == 200 && login.body.contains("name=\"password\""))
            #expect(!login.body.contains("development") && !login.body.contains("username\" value"))
            // The form of development mode, sent to the normal login page.
            for password in ["", World.password] {
                let form = ["username": "alice", "outcome": "sign_in", "email": "alice", "password": password]
                #expect(try await browser.submit(login, form).status == 400)
                #expect(browser.session == nil)
            }
            #expect(try await browser.submit(login, ["username": "x"], to: Developer.path).status == 404)
        }
    }

    @Test(
        "Without --dev a request's development parameters for lifetime and refresh token are ignored",
        arguments: Backend.available)
    func noTrial(backend: Backend) async throws {
        try await World.with(backend) { world in
            for lifetime in ["5", "nonsense"] {
                let code = try await world.authorizationCode([
                    "scope": "openid offline_access", "development_id_token_lifetime": lifetime,
                    "development_refresh_token": "0",
                ])
                let answer = try await world.redeemAuthorization(code)
                let claims = try await world.idToken(in: answer)
                #expect(claims["exp"]?.integer == claims["iat"]?.integer.map { $0 + 3600 })
                #expect(answer.json["refresh_token"] != nil)
            }
            let trials = try await world.server.database.read { db in
                try db.rows("SELECT id FROM token_families WHERE trial IS NOT NULL").count
                    + db.rows("SELECT fingerprint FROM authorization_codes WHERE trial IS NOT NULL").count
            }
            #expect(trials == 0)
        }
    }
}
