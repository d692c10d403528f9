import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Sign in with another issuer: a second Spindle")
struct IdentityProviderSignInTests {
    @Test(
        "A first sign-in at an issuer creates a user, and later sign-ins lead to the same user",
        arguments: Backend.available)
    func story(backend: Backend) async throws {
        try await IdentityProviderStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let page = try await browser.open(story.here.authorizeAddress())
            #expect(page.words.contains("Sign in with <bdi>The Mill</bdi>"))
            let departure = try await story.leave(&browser)
            #expect(departure.status == 303)
            #expect(departure.header("cache-control") == "no-store")
            #expect(departure.redirected("code_challenge_method") == "S256")
            #expect(departure.redirected("scope") == "openid email profile")
            #expect(departure.redirected("max_age") == nil)
            var other = Browser(story.there.server)
            let back = try await browser.open(try await story.visit(departure, in: &other))
            #expect(back.status == 303, "\(back)")
            let answer = try await browser.open(try #require(back.header("location"), "\(back)"))
            let tokens = try await story.here.redeemAuthorization(try answer.requireRedirected("code"))
            #expect(tokens.status == 200)
            let userID = try tokens.require("user_id")
            #expect(userID != story.here.user)
            #expect(try await story.here.user(userID)["name"] == "Ada Lovelace")

            var another = Browser(story.here.server)
            let again = try await another.open(try #require(try await story.signIn(&another).header("location")))
            let second = try await story.here.redeemAuthorization(try again.requireRedirected("code"))
            #expect(try second.require("user_id") == userID)
        }
    }

    @Test(
        "After a sign-in at another issuer, the ID token's acr says that an issuer authenticated the user",
        arguments: Backend.available)
    func context(backend: Backend) async throws {
        try await IdentityProviderStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let departure = try await story.leave(&browser, ["scope": "openid"])
            var other = Browser(story.there.server)
            let back = try await browser.open(try await story.visit(departure, in: &other))
            let answer = try await browser.open(try #require(back.header("location"), "\(back)"))
            let tokens = try await story.here.redeemAuthorization(try answer.requireRedirected("code"))
            let claims = try await story.here.idToken(in: tokens)
            #expect(claims["acr"] == "urn:spindle:issuer")
            #expect(claims["amr"] == nil)
            #expect(claims["auth_time"]?.integer == story.there.server.clock.now.seconds)
        }
    }

    @Test(
        "The auth_time of a sign-in at an issuer is when the user signed in there, also by an older session",
        arguments: Backend.available)
    func authTime(backend: Backend) async throws {
        try await IdentityProviderStory.with(backend) { story in
            var other = Browser(story.there.server)
            try await other.signIn()
            let signedInAt = story.there.server.clock.now.seconds
            story.there.server.clock.advance(by: .seconds(600))
            story.here.server.clock.advance(by: .seconds(600))
            var browser = Browser(story.here.server)
            let departure = try await story.leave(&browser, ["scope": "openid"])
            let back = try await browser.open(try await story.visit(departure, in: &other))
            let answer = try await browser.open(try #require(back.header("location"), "\(back)"))
            let tokens = try await story.here.redeemAuthorization(try answer.requireRedirected("code"))
            #expect(try await story.here.idToken(in: tokens)["auth_time"]?.integer == signedInAt)
            // It is too old for an app with a max_age of five minutes.
            #expect(try await browser.open(story.here.authorizeAddress(["max_age": "300"])).status == 200)
            #expect(try await browser.open(story.here.authorizeAddress(["max_age": "1200"])).status == 302)
        }
    }

    @Test("A merchant's own issuer signs users in to that merchant's apps only", arguments: Backend.available)
    func reach(backend: Backend) async throws {
        try await IdentityProviderStory.with(backend) { story in
            var browser = Browser(story.here.server)
            #expect(try await story.signIn(&browser).status == 303)
            #expect(try await browser.open(story.here.authorizeAddress()).redirected("code") != nil)
            let rival = try await browser.open(story.here.authorizeAddress(for: story.here.rivalBackend))
            #expect(rival.status == 200)
            #expect(rival.words.contains("Sign in"))
            let user = try await browser.open("/account")
            #expect(user.header("location") == "/login?continue=%2Faccount")
        }
    }

    @Test(
        "The consent page tells users without an account page to ask the merchant to take access back",
        arguments: Backend.available)
    func consent(backend: Backend) async throws {
        try await IdentityProviderStory.with(backend) { story in
            #expect(try await story.here.change("clients", story.here.app.id, ["first_party": false]).status == 200)
            story.here.server.clock.advance(by: .seconds(1))
            var browser = Browser(story.here.server)
            #expect(try await story.signIn(&browser).status == 303)
            let asked = try await browser.open(story.here.authorizeAddress())
            #expect(asked.words.contains("take it back later by asking"), "\(asked.words)")
            var owner = Browser(story.here.server)
            let page = try await owner.open(story.here.authorizeAddress())
            let signedIn = try await owner.submit(page, ["email": World.email, "password": World.password])
            let own = try await owner.follow(try #require(signedIn.header("location")))
            #expect(own.words.contains("in your account here"), "\(own.words)")
        }
    }

    @Test(
        "The login page shows the enabled issuers of the app's merchant, oldest first, and no others",
        arguments: Backend.available)
    func buttons(backend: Backend) async throws {
        try await IdentityProviderStory.with(backend) { story in
            story.here.server.clock.advance(by: .milliseconds(1))
            let second = try await story.here.issuer(
                discoveredAt: "http://127.0.0.1:9/none",
                [.init("issuer", "https://paper.example"), .init("sign_in_name", "Paper & <Co>")])
            var browser = Browser(story.here.server)
            let waiting = try await story.here.begin(story.here.authorizeAddress(), in: &browser)
            let rivals = try await story.here.begin(
                story.here.authorizeAddress(for: story.here.rivalBackend), in: &browser)
            for path in [story.here.authorizeAddress(), "/signup?continue=\(waiting)"] {
                let page = try await browser.open(path)
                let mill = try #require(page.body.firstRange(of: "/login/with/\(story.issuer)?"))
                let paper = try #require(page.body.firstRange(of: "/login/with/\(second)?"))
                #expect(mill.lowerBound < paper.lowerBound)
                #expect(page.words.contains("Paper &amp; &lt;Co&gt;"))
            }
            for path in ["/login", "/signup", story.here.authorizeAddress(for: story.here.rivalBackend)] {
                #expect(try await browser.open(path).link(to: "/login/with/") == nil, "\(path)")
            }
            try await story.here.change("issuers", second, ["disabled": true])
            let page = try await browser.open(story.here.authorizeAddress())
            #expect(page.link(to: "/login/with/\(second)") == nil)
            // Nor by a kept address, or through another merchant's app.
            let ways = [
                "/login/with/\(second)?continue=\(waiting)",
                "/login/with/\(story.issuer)", "/login/with/\(story.issuer)?continue=/account", "/login/with/none",
                "/login/with/\(story.issuer)?continue=\(rivals)",
            ]
            for path in ways { #expect(try await browser.open(path).status == 404, "\(path)") }
        }
    }

    @Test("The login page still shows the issuers' buttons after a wrong password", arguments: Backend.available)
    func refusal(backend: Backend) async throws {
        try await IdentityProviderStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let page = try await browser.open(story.here.authorizeAddress())
            let refused = try await browser.submit(page, ["email": World.email, "password": "a guess"])
            #expect(refused.link(to: "/login/with/\(story.issuer)?") != nil)
            let code = try await browser.submit(page, ["email": "nobody"], to: "/login/code")
            #expect(code.link(to: "/login/with/\(story.issuer)?") != nil)
        }
    }

    @Test("Each sign-in at an issuer is recorded among the logins with that issuer", arguments: Backend.available)
    func logins(backend: Backend) async throws {
        try await IdentityProviderStory.with(backend) { story in
            var browser = Browser(story.here.server)
            #expect(try await story.signIn(&browser).status == 303)
            let first = browser.session
            let picker = try await browser.open(story.here.authorizeAddress(["prompt": "select_account"]))
            let another = try await browser.submit(picker, ["decision": "another"])
            let page = try await browser.open(try #require(another.header("location")))
            let departure = try await browser.open(try page.requireLink(to: "/login/with/"))
            var other = Browser(story.there.server)
            #expect(try await browser.open(try await story.visit(departure, in: &other)).status == 303)
            #expect(browser.session != first)
            let rows = try await story.here.server.database.read { db in
                try db.rows("SELECT type, provider, succeeded FROM logins ORDER BY created_at").map { row in
                    let (type, provider): (String, String?) = (try row.get("type"), try row.get("provider"))
                    return "\(type) \(provider ?? "")"
                }
            }
            #expect(
                rows == [
                    "thirdparty \(IdentityProviderStory.upstream)", "thirdparty \(IdentityProviderStory.upstream)",
                ])
        }
    }
}
