import JSON
import TestSupport
import Testing
import Values

@Suite("Sign in with another issuer: when the app requires a fresh sign-in")
struct IdentityProviderFreshnessTests {
    @Test(
        "prompt=login and max_age are passed to the issuer, whose auth_time must show a fresh sign-in",
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

    @Test("a sign-in without auth_time is never fresh enough for max_age", arguments: Backend.available)
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
        "SPiD's acr_values=password is met by an issuer that cannot be asked for a fresh sign-in",
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
        "an issuer that cannot be asked for a fresh sign-in is not offered when one is required",
        arguments: Backend.available)
    func providers(backend: Backend) async throws {
        try await World.with(backend, settings: IdentityProviderStory.settings) { here in
            _ = try await here.google(of: here.merchant)
            var browser = Browser(here.server)
            #expect(try await browser.open(here.authorizeAddress()).link(to: "/login/with/") != nil)
            for wish: KeyValuePairs in [["prompt": "login"], ["max_age": "300"]] {
                let page = try await browser.open(here.authorizeAddress(wish))
                #expect(page.link(to: "/login/with/") == nil)
                // The page still knows after a refusal.
                let refused = try await browser.submit(page, ["email": World.email, "password": "a guess"])
                #expect(refused.link(to: "/login/with/") == nil)
                let code = try await browser.submit(page, ["email": "nobody"], to: "/login/code")
                #expect(code.link(to: "/login/with/") == nil)
            }
        }
    }
}
