import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Logout with an id_token_hint")
struct LogoutHintTests {
    @Test(
        "An expired ID token is accepted as a logout hint, whatever algorithm signed it",
        arguments: Backend.available)
    func expired(backend: Backend) async throws {
        try await World.with(backend) { world in
            // The sites are made first, since the administrator's token does not live as long.
            var sites: [(algorithm: String, site: Website)] = []
            for algorithm in ["RS256", "ES256", "PS256", "EdDSA"] {
                let site = try await world.website([
                    "id_token_signed_response_alg": JSON.string(algorithm), "id_token_lifetime": JSON.integer(60),
                ])
                sites.append((algorithm, site))
            }
            for (algorithm, site) in sites {
                var browser = Browser(world.server)
                let hint = try await site.signIn(in: &browser).require("id_token")
                #expect(try TakenApart(hint).header["alg"]?.string == algorithm)
                world.server.clock.advance(by: .minutes(90))
                let out = try await browser.logOut([
                    "id_token_hint": hint, "post_logout_redirect_uri": Website.bye,
                ])
                #expect(out.header("location") == Website.bye, "\(algorithm)")
                #expect(try await !browser.isSignedIn())
            }
        }
    }

    @Test(
        "A logout hint with a pairwise subject identifies the user, who is signed out without a question",
        arguments: Backend.available)
    func pairwise(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website(["subject_type": "pairwise"])
            var browser = Browser(world.server)
            let hint = try await site.signIn(in: &browser).require("id_token")
            #expect(try TakenApart(hint).claims["sub"]?.string != world.user)
            let out = try await browser.logOut(["id_token_hint": hint, "client_id": site.actor.id, "ui_locales": "sv"])
            #expect(out.words.contains("Du är utloggad"))
            #expect(browser.session == nil)
        }
    }

    @Test(
        "A logout hint of another user or another browser's session ends nothing before the user confirms",
        arguments: Backend.available)
    func another(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("grace@example.com")
            let site = try await world.website()
            var hers = Browser(world.server)
            var elsewhere = Browser(world.server)
            let other = try await site.signIn(in: &elsewhere).require("id_token")
            try await hers.signIn(as: "grace@example.com")
            let page = try await hers.logOut([
                "id_token_hint": other, "post_logout_redirect_uri": Website.bye, "state": "s", "ui_locales": "de",
                "logout_hint": "ada@example.com",
            ])
            #expect(page.status == 200 && page.header("location") == nil)
            #expect(page.words.contains("grace@example.com"))
            #expect(try await hers.isSignedIn())
            // After the question the browser returns to the site.
            #expect(try await hers.submit(page).header("location") == Website.bye + "?state=s")

            var here = Browser(world.server)
            try await here.signIn()
            let asked = try await here.logOut(["id_token_hint": other])
            #expect(asked.words.contains("Sign out?"))
            #expect(try await here.isSignedIn())
            #expect(try await elsewhere.isSignedIn())
        }
    }

    @Test(
        "A new sign-in of the same user in the same browser leaves the sid in ID tokens as it is",
        arguments: Backend.available)
    func anew(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website()
            var browser = Browser(world.server)
            let first = try await site.signIn(in: &browser).require("id_token")
            let secret = try #require(browser.session)
            let page = try await browser.open(world.authorizeAddress(["prompt": "login"]))
            _ = try await browser.submit(page, ["email": World.email, "password": World.password])
            #expect(browser.session != secret, "the secret is another")
            let replayed = try await world.server.get("/login", cookies: ["spindle_session": secret])
            #expect(!replayed.words.contains("You are signed in"))
            let second = try await site.signIn(in: &browser).require("id_token")
            #expect(try TakenApart(first).claims["sid"] == TakenApart(second).claims["sid"])
            let out = try await browser.logOut(["id_token_hint": first])
            #expect(out.words.contains("You are signed out"))
        }
    }

    @Test("A logout hint redirects to the site at once when the browser has no session", arguments: Backend.available)
    func nobody(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website()
            var browser = Browser(world.server)
            let hint = try await site.signIn(in: &browser).require("id_token")
            var stranger = Browser(world.server)
            let link: KeyValuePairs = ["id_token_hint": hint, "post_logout_redirect_uri": Website.bye]
            #expect(try await stranger.logOut(link).header("location") == Website.bye)
            #expect(try await browser.isSignedIn())
            // A disabled client's hint leads nowhere.
            try await world.change("clients", site.actor.id, ["disabled": true])
            #expect(try await stranger.logOut(link).header("location") == nil)
        }
    }

    @Test(
        "A logout hint of an expired session ends the site's tokens of that session, and of no other",
        arguments: Backend.available, [false, true])
    func idle(backend: Backend, isSwept: Bool) async throws {
        try await World.with(backend) { world in
            let site = try await world.website()
            var browser = Browser(world.server)
            let idle = try await site.signIn(in: &browser)
            world.server.clock.advance(by: .hours(3))
            if isSwept {
                try await world.server.database.write { db in _ = try db.execute("DELETE FROM sessions") }
            }
            var elsewhere = Browser(world.server)
            let live = try await site.signIn(in: &elsewhere)
            for tokens in [live, idle] {
                let hint = try tokens.require("id_token")
                let out = try await browser.logOut(["id_token_hint": hint, "post_logout_redirect_uri": Website.bye])
                #expect(out.header("location") == Website.bye)
            }
            let ended = try await world.refresh(try idle.require("refresh_token"), as: site.actor)
            #expect(ended.error == "invalid_grant", "\(ended)")
            #expect(try await elsewhere.isSignedIn(), "another browser's session lives")
            #expect(try await world.refresh(try live.require("refresh_token"), as: site.actor).status == 200)
        }
    }

    @Test(
        "After a new sign-in, an expired session's logout hint ends that session's tokens once confirmed",
        arguments: Backend.available)
    func idleBefore(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website()
            var browser = Browser(world.server)
            let idle = try await site.signIn(in: &browser)
            world.server.clock.advance(by: .hours(3))
            _ = try await site.signIn(in: &browser)
            let page = try await browser.logOut([
                "id_token_hint": try idle.require("id_token"), "post_logout_redirect_uri": Website.bye,
            ])
            #expect(page.words.contains("Sign out?"))
            #expect(try await world.refresh(try idle.require("refresh_token"), as: site.actor).status == 200)
            #expect(try await browser.submit(page).header("location") == Website.bye)
            let ended = try await world.refresh(try idle.require("refresh_token"), as: site.actor)
            #expect(ended.error == "invalid_grant", "\(ended)")
        }
    }

    @Test(
        "A logout hint of one client with the client_id of another redirects to neither client's address",
        arguments: Backend.available)
    func otherClient(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (site, other) = (try await world.website(), try await world.website())
            var browser = Browser(world.server)
            let hint = try await site.signIn(in: &browser).require("id_token")
            for client in [other.actor.id, "nobody"] {
                let page = try await browser.logOut([
                    "id_token_hint": hint, "client_id": client, "post_logout_redirect_uri": Website.bye,
                ])
                #expect(page.words.contains("Sign out?"))
            }
            let page = try await browser.logOut([
                "id_token_hint": hint, "client_id": other.actor.id, "post_logout_redirect_uri": Website.bye,
            ])
            let out = try await browser.submit(page)
            #expect(out.status == 200 && out.header("location") == nil)
        }
    }

    @Test(
        "Only an unaltered ID token of this server counts as a logout hint; its access tokens do not",
        arguments: Backend.available)
    func forgeries(backend: Backend) async throws {
        try await World.with(backend) { world in
            // Its access tokens are signed JWTs of ours too, of the same type.
            let site = try await world.website(["access_token_format": "jwt", "access_token_typ": "JWT"])
            var browser = Browser(world.server)
            let answer = try await site.signIn(in: &browser)
            let hint = try answer.require("id_token")
            let parts = try TakenApart(hint)
            let forgeries = [
                parts.unsigned, parts.forged(), parts.forged(["sub": .string(world.user)], type: "at+jwt"),
                String(hint.dropLast(6)) + "AAAAAA", try answer.require("access_token"), "a.b.c", "..", "null",
                String(repeating: "a", count: 5000),
            ]
            for forgery in forgeries {
                let page = try await browser.logOut([
                    "id_token_hint": forgery, "client_id": site.actor.id,
                    "post_logout_redirect_uri": Website.bye,
                ])
                #expect(page.words.contains("Sign out?"), "\(forgery.prefix(40))")
                #expect(page.header("location") == nil)
                // Without a session it leads nowhere either.
                let nobody = try await world.server.get(
                    "/logout?client_id=\(site.actor.id)&id_token_hint=\(TestServer.encode(forgery))"
                        + "&post_logout_redirect_uri=\(TestServer.encode(Website.bye))")
                #expect(nobody.status == 200 && nobody.header("location") == nil)
            }
            #expect(try await browser.isSignedIn())
        }
    }

    @Test(
        "A site's POST to the logout endpoint is redirected to GET, with which the browser sends its cookies",
        arguments: Backend.available)
    func form(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website()
            var browser = Browser(world.server)
            let hint = try await site.signIn(in: &browser).require("id_token")
            let headers = ["Origin": "https://site.example", "Sec-Fetch-Site": "cross-site"]
            let led = try await world.server.post(
                "/logout",
                ["id_token_hint": hint, "post_logout_redirect_uri": Website.bye, "state": "s"], headers: headers)
            #expect(led.status == 303)
            #expect(led.header("set-cookie") == nil)
            let location = try #require(led.header("location"))
            #expect(location.hasPrefix("/logout?id_token_hint="))
            let out = try await browser.open(location, headers: headers)
            #expect(out.header("location") == Website.bye + "?state=s")

            let long = try await world.server.post(
                "/logout", ["id_token_hint": String(repeating: "a", count: 9000)], headers: headers)
            #expect(long.status == 400 && long.isPage)
        }
    }

    @Test("Auth0's /v2/logout takes returnTo with client_id or with an id_token_hint", arguments: Backend.available)
    func auth0(backend: Backend) async throws {
        try await World.with(backend) { world in
            let site = try await world.website()
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.logOut(
                ["client_id": site.actor.id, "returnTo": Website.bye, "federated": ""], at: "/v2/logout")
            #expect(page.words.contains("Sign out?"))
            #expect(try await browser.submit(page).header("location") == Website.bye)

            let hint = try await site.signIn(in: &browser).require("id_token")
            let out = try await browser.logOut(["id_token_hint": hint, "returnTo": Website.bye], at: "/v2/logout")
            #expect(out.header("location") == Website.bye)
            let elsewhere = try await browser.logOut(
                ["client_id": site.actor.id, "returnTo": Website.bye + "/"], at: "/v2/logout")
            #expect(elsewhere.status == 200 && elsewhere.header("location") == nil)
        }
    }

    // MARK: Hints that are not verified yet

    private static func token(for audience: String) -> String {
        let claims: JSON = [
            "iss": .string(SigningClient.issuer), "aud": .string(audience), "sub": "1", "exp": 4_000_000_000, "iat": 1,
        ]
        return SigningClient.hs256(claims, key: Array("a guess".utf8))
    }

    @Test(
        "An unverified ID token whose audience has U+0000 is treated as an unknown one, and logs no error",
        arguments: Backend.available)
    func audience(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            let site = try await world.relyingClient()
            var browser = Browser(world.server)
            try await browser.signIn()
            func silent(_ hint: String) async throws -> Answer {
                let asked: KeyValuePairs = ["scope": "openid", "prompt": "none", "id_token_hint": hint]
                return try await world.server.get(world.authorizeAddress(asked, for: site))
            }
            let unknown = Self.token(for: "nobody")
            for odd in [Self.token(for: "a\u{0}b"), Self.token(for: "\u{0}")] {
                let refused = try await ditto.ask(odd)
                expectRefused(refused)
                let usual = try await ditto.ask(unknown)
                #expect(refused.body == usual.body)
                for path in ["/logout?id_token_hint=", "/v2/logout?id_token_hint="] {
                    let page = try await world.server.get(path + odd)
                    let other = try await world.server.get(path + unknown)
                    #expect(page.status == 200 && page.isPage, "\(page)")
                    #expect(page.status == other.status && page.body == other.body, "\(page) \(other)")
                }
                let asked = try await browser.logOut(["id_token_hint": odd])
                #expect(asked.isPage && asked.words.contains("Sign out?"), "\(asked)")
                let (answer, other) = (try await silent(odd), try await silent(unknown))
                #expect(answer.status == other.status && answer.redirected("error") == other.redirected("error"))
            }
            #expect(!world.server.log.lines.contains { $0.hasPrefix("error ") })
        }
    }
}
