import JSON
import TestSupport
import Testing

@Suite("The login page on the way to an app")
struct SignInPageTests {
    @Test("A user signs in on the login page, and the app redeems the code for tokens", arguments: Backend.available)
    func story(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let page = try await browser.open(world.authorizeAddress(["state": "a b&c=d/é"]))
            #expect(page.status == 200)
            #expect(page.isPage)
            #expect(page.body.contains("Loom for phones"))
            #expect(page.header("cache-control") == "no-store")
            #expect(page.header("x-frame-options") == "DENY")
            #expect(page.header("content-security-policy")?.contains("frame-ancestors 'none'") == true)

            let signedIn = try await browser.submit(page, ["email": World.email, "password": World.password])
            #expect(signedIn.status == 303)
            let back = try #require(signedIn.header("location"))
            #expect(back.hasPrefix("/oauth/authorize?"))
            let answer = try await browser.open(back)
            #expect(answer.status == 302)
            #expect(answer.header("location")?.hasPrefix("https://loom.example/in?code=") == true)
            #expect(answer.redirected("state") == "a b&c=d/é")
            #expect(answer.header("cache-control") == "no-store")
            #expect(answer.header("referrer-policy") == "no-referrer")
            #expect(try await world.redeemAuthorization(try answer.requireRedirected("code")).status == 200)
        }
    }

    @Test(
        "A login with a wrong password opens no session, and its page still continues the same request",
        arguments: Backend.available)
    func wrongPassword(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let page = try await browser.open(world.authorizeAddress())
            let refused = try await browser.submit(page, ["email": World.email, "password": "a guess"])
            #expect(refused.status == 400)
            #expect(refused.body.contains("The e-mail address or the password is wrong."))
            #expect(refused.words.contains(World.email))
            #expect(!refused.body.contains("a guess"))
            #expect(browser.session == nil)
            let signedIn = try await browser.submit(refused, ["email": World.email, "password": World.password])
            #expect(signedIn.header("location")?.hasPrefix("/oauth/authorize?") == true)
        }
    }

    @Test(
        "An authorization request of a user who is signed in already gets a code without a page",
        arguments: Backend.available)
    func signedIn(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            #expect(try await browser.open(world.authorizeAddress()).redirected("code") != nil)
        }
    }

    @Test("A request with prompt=login asks a signed-in user once to sign in again", arguments: Backend.available)
    func promptLogin(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            #expect(try await browser.open(world.authorizeAddress(["prompt": "login"])).status == 200)
            let answer = try await world.authorize(in: &browser, ["prompt": "login"])
            #expect(answer.redirected("code") != nil)
        }
    }

    @Test(
        "An authorization request with prompt=none is answered by a redirect, never by a page",
        arguments: Backend.available)
    func promptNone(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let nobody = try await browser.open(world.authorizeAddress(["prompt": "none"]))
            #expect(nobody.status == 302)
            #expect(nobody.redirected("error") == "login_required")
            #expect(nobody.redirected("state") == "xyz")
            try await browser.signIn()
            #expect(try await browser.open(world.authorizeAddress(["prompt": "none"])).redirected("code") != nil)
            let both = try await browser.open(world.authorizeAddress(["prompt": "none login"]))
            #expect(both.redirected("error") == "invalid_request")
        }
    }

    @Test(
        "A request with max_age asks for a new sign-in if the last one is older, by even a millisecond",
        arguments: Backend.available)
    func maxAge(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            world.server.clock.advance(by: .seconds(300))
            #expect(try await browser.open(world.authorizeAddress(["max_age": "300"])).redirected("code") != nil)
            world.server.clock.advance(by: .milliseconds(1))
            #expect(try await browser.open(world.authorizeAddress(["max_age": "300"])).status == 200)
            let again = try await world.authorize(in: &browser, ["max_age": "300"])
            #expect(again.redirected("code") != nil)
            for bad in ["-1", "soon", "99999999999999999999"] {
                let refused = try await browser.open(world.authorizeAddress(["max_age": bad]))
                #expect(refused.redirected("error") == "invalid_request")
            }
        }
    }

    @Test("A request with max_age=0 asks for a new sign-in once, and does not loop", arguments: Backend.available)
    func maxAgeZero(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            world.server.clock.advance(by: .seconds(1))
            let page = try await browser.open(world.authorizeAddress(["max_age": "0"]))
            #expect(page.status == 200)
            let signedIn = try await browser.submit(page, ["email": World.email, "password": World.password])
            // Even when the way back takes a moment.
            world.server.clock.advance(by: .milliseconds(250))
            let answer = try await browser.open(try #require(signedIn.header("location")))
            #expect(answer.redirected("code") != nil)
        }
    }

    @Test("The authorization endpoint also answers at SPiD's paths", arguments: Backend.available)
    func aliases(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            for path in ["/authorize", "/flow/login", "/flow/auth", "/flow/signup", "/flow/signin"] {
                let address = world.authorizeAddress().replacing("/oauth/authorize", with: path)
                #expect(try await browser.open(address).redirected("code") != nil, "\(path)")
            }
        }
    }

    @Test(
        "The page to confirm a sign-in still names the same user after a wrong password",
        arguments: Backend.available)
    func confirmation(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open("/login?confirm=1&continue=/account")
            let wrong = try await browser.submit(page, ["email": World.email, "password": "not this one"])
            #expect(wrong.status == 400 || wrong.status == 401, "\(wrong)")
            #expect(wrong.body.contains("readonly") && !wrong.body.contains("name=\"remember\""))
            let again = try await browser.submit(wrong, ["email": World.email, "password": World.password])
            #expect(again.header("location") == "/account")
        }
    }

    @Test(
        "A cancelled sign-in sends access_denied to the app if its request named no cancel address",
        arguments: Backend.available)
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

    @Test(
        "A cancelled sign-in leads to the registered cancel address that its request named",
        arguments: Backend.available)
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
        "An unregistered redirect URI, or a non-SPiD client's cancel URI, gets a page that says which one is wrong",
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

    @Test(
        "The page about an unregistered redirect or cancel URI names the part that differs, if only one does",
        arguments: Backend.available)
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
