import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Sign in with another issuer: when the app requires a fresh sign-in")
struct IdentityProviderFreshnessTests {
    @Test(
        "For prompt=login or max_age an issuer is asked for a fresh sign-in, and its auth_time must show one",
        arguments: Backend.available)
    func anew(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            for wish: KeyValuePairs in [["prompt": "login"], ["max_age": "300"]] {
                var browser = Browser(story.here.server)
                let departure = try await story.leave(&browser, wish)
                #expect(departure.location.contains("prompt=login&max_age=0"))
                story.grant(story.claims(departure))
                let back = try await story.comeBack(departure, in: &browser)
                #expect(try await browser.open(try #require(back.header("location"))).redirected("code") != nil)

                let now = story.here.server.clock.now.seconds
                let old: [KeyValuePairs<String, JSON>] = [
                    ["auth_time": .null], ["auth_time": .integer(now - 61)], ["auth_time": .string("\(now)")],
                    ["auth_time": 0],
                ]
                for changes in old {
                    var browser = Browser(story.here.server)
                    let departure = try await story.leave(&browser, wish)
                    story.grant(story.claims(departure, changes))
                    let stale = try await story.comeBack(departure, in: &browser)
                    story.expect(403, "upstream_stale", stale, browser)
                    #expect(stale.link(to: "/login?continue=")?.hasSuffix("&confirm=1&anew=1") == true)
                }
            }
        }
    }

    @Test("A sign-in at an issuer without auth_time is never fresh enough for max_age", arguments: Backend.available)
    func undated(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            #expect(try await story.signIn(&browser, ["auth_time": .null]).status == 303)
            #expect(try await browser.open(story.here.authorizeAddress()).redirected("code") != nil)
            let asked = try await browser.open(story.here.authorizeAddress(["max_age": "86400"]))
            #expect(asked.status == 200)
            #expect(asked.link(to: "/login/with/\(story.issuer)?")?.hasSuffix("&anew=1") == true)
            let silent = try await browser.open(story.here.authorizeAddress(["max_age": "86400", "prompt": "none"]))
            #expect(silent.redirected("error") == "login_required")
        }
    }

    @Test(
        "An issuer that cannot be asked for a fresh sign-in is not offered for SPiD's acr_values=password",
        arguments: Backend.available)
    func password(backend: Backend) async throws {
        try await World.with(backend, settings: IdentityProviderStory.settings) { here in
            _ = try await here.google(of: here.merchant)
            let site = try await here.spidBackend()
            var browser = Browser(here.server)
            #expect(
                try await browser.open(here.authorizeAddress(for: site)).link(to: "/login/with/") != nil)
            let page = try await browser.open(here.authorizeAddress(["acr_values": "password"], for: site))
            #expect(page.status == 200 && page.link(to: "/login/with/") == nil)
        }
    }

    @Test(
        "An issuer that cannot be asked for a fresh sign-in is not offered with prompt=login or max_age",
        arguments: Backend.available)
    func providers(backend: Backend) async throws {
        try await World.with(backend, settings: IdentityProviderStory.settings) { here in
            _ = try await here.google(of: here.merchant)
            var browser = Browser(here.server)
            #expect(try await browser.open(here.authorizeAddress()).link(to: "/login/with/") != nil)
            for wish: KeyValuePairs in [["prompt": "login"], ["max_age": "300"]] {
                let page = try await browser.open(here.authorizeAddress(wish))
                #expect(page.link(to: "/login/with/") == nil)
                // The page still requires it after a refusal.
                let refused = try await browser.submit(page, ["email": World.email, "password": "a guess"])
                #expect(refused.link(to: "/login/with/") == nil)
                let code = try await browser.submit(page, ["email": "nobody"], to: "/login/code")
                #expect(code.link(to: "/login/with/") == nil)
            }
        }
    }

    @Test(
        "A web view bought after an issuer's sign-in without auth_time is not fresh enough for max_age",
        arguments: Backend.available)
    func bought(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            let cases: [(KeyValuePairs<String, JSON>, String?)] = [
                (["auth_time": .null], "login_required"), ([:], nil),
            ]
            for (changes, error) in cases {
                var browser = Browser(story.here.server)
                let back = try await story.signIn(&browser, changes)
                let answer = try await browser.open(try #require(back.header("location"), "\(back)"))
                let phone = try await story.here.redeemAuthorization(try answer.requireRedirected("code"))
                var webview = Browser(story.here.server)
                _ = try await webview.open("/auth/session/\(try await story.here.sessionCode(of: phone))")
                try await expectSilent(error, story.here.app, story.here, &webview)
            }
        }
    }

    @Test(
        "A web view from an assertion without auth_time, or with an old one, is not fresh enough for max_age",
        arguments: Backend.available)
    func asserted(backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            try await story.trust(host)
            let world = story.world
            let now = world.server.clock.now.seconds
            let cases: [(JSON, String?)] = [
                (.null, "login_required"), (.integer(now - 600), "login_required"), (.integer(now - 10), nil),
            ]
            for (time, error) in cases {
                let token = try await story.signIn(at: host, ["auth_time": time]).require("access_token")
                let code = try await world.exchange(
                    token, for: world.backend, type: "session", redirectURI: world.backend.redirectURI)
                var webview = Browser(world.server)
                _ = try await webview.open("/auth/session/\(try code.require("code"))")
                try await expectSilent(error, world.backend, world, &webview)
            }
            // These families count as opened by the issuer alone, whatever way to sign in the user gives up.
            let ways: [String?] = try await world.server.database.rows(
                "SELECT method FROM token_families WHERE path = id AND issuer_id IS NOT NULL"
            ).map { try $0.get("method") }
            #expect(ways == ["issuer", "issuer", "issuer"])
        }
    }

    /// Expects a code for `client`, and this error when it wants a sign-in of the last five minutes.
    private func expectSilent(
        _ error: String?, _ client: World.Actor, _ world: World, _ browser: inout Browser
    ) async throws {
        let plain = try await browser.open(world.authorizeAddress(["prompt": "none"], for: client))
        #expect(plain.redirected("code") != nil, "\(plain)")
        let fresh = try await browser.open(world.authorizeAddress(["prompt": "none", "max_age": "300"], for: client))
        #expect(fresh.redirected("error") == error && (fresh.redirected("code") != nil) == (error == nil), "\(fresh)")
    }
}
