import JSON
import TestSupport
import Testing

/// The plan `oidcc-rp-initiated-logout-certification-test-plan` of OpenID's conformance suite, a test for each module.
@Suite("RP-initiated logout: oidcc-rp-initiated-logout-certification-test-plan")
struct LogoutModuleTests {
    private struct Story {
        let site: Website
        var browser: Browser
        let hint: String
    }

    /// Runs `story` after a sign-in.
    private func signedIn(_ backend: Backend, _ story: (inout Story) async throws -> Void) async throws {
        try await World.with(backend) { world in
            let site = try await world.website()
            var browser = Browser(world.server)
            let hint = try await site.signIn(in: &browser).require("id_token")
            var told = Story(site: site, browser: browser, hint: hint)
            #expect(try await site.silentError(in: &told.browser) == nil)
            try await story(&told)
        }
    }

    /// The user is asked, stays signed in until then, and is not redirected.
    private func expectAsked(_ page: Answer, _ story: inout Story) async throws {
        #expect(page.status == 200 && page.isPage)
        #expect(page.words.contains("Sign out?"))
        #expect(page.header("location") == nil)
        #expect(try await story.browser.isSignedIn())
        let out = try await story.browser.submit(page)
        #expect(out.status == 200 && out.header("location") == nil)
        #expect(out.words.contains("You are signed out"))
        #expect(try await story.site.silentError(in: &story.browser) == "login_required")
    }

    @Test("oidcc-rp-initiated-logout-discovery-endpoint-verification")
    func discovery() async throws {
        try await TestServer.with(.sqlite) { server in
            let metadata = try await server.get("/.well-known/openid-configuration").json
            #expect(metadata["end_session_endpoint"]?.string == "http://spindle.test/logout")
        }
    }

    @Test("oidcc-rp-initiated-logout", arguments: Backend.available)
    func logout(backend: Backend) async throws {
        try await signedIn(backend) { story in
            let old = try #require(story.browser.session)
            let out = try await story.browser.logOut([
                "id_token_hint": story.hint, "post_logout_redirect_uri": Website.bye, "state": "a b&c",
            ])
            #expect(out.status == 302)
            #expect(out.header("location") == Website.bye + "?state=a%20b%26c")
            #expect(out.header("cache-control") == "no-store")
            #expect(out.setCookie("spindle_session")?.contains("Max-Age=0") == true)
            #expect(try await story.site.silentError(in: &story.browser) == "login_required")
            let replayed = try await story.site.world.server.get("/login", cookies: ["spindle_session": old])
            #expect(!replayed.words.contains("You are signed in"))
        }
    }

    @Test("oidcc-rp-initiated-logout-bad-post-logout-redirect-uri", arguments: Backend.available)
    func badAddress(backend: Backend) async throws {
        try await signedIn(backend) { story in
            let page = try await story.browser.logOut([
                "id_token_hint": story.hint, "post_logout_redirect_uri": "https://evil.example/", "state": "s",
            ])
            try await expectAsked(page, &story)
        }
    }

    @Test("oidcc-rp-initiated-logout-modified-id-token-hint", arguments: Backend.available)
    func modifiedHint(backend: Backend) async throws {
        try await signedIn(backend) { story in
            let page = try await story.browser.logOut([
                "id_token_hint": try TakenApart(story.hint).unsigned, "post_logout_redirect_uri": Website.bye,
                "state": "s",
            ])
            try await expectAsked(page, &story)
        }
    }

    @Test("oidcc-rp-initiated-logout-no-id-token-hint", arguments: Backend.available)
    func noHint(backend: Backend) async throws {
        try await signedIn(backend) { story in
            let page = try await story.browser.logOut(["post_logout_redirect_uri": Website.bye, "state": "s"])
            try await expectAsked(page, &story)
        }
    }

    @Test("oidcc-rp-initiated-logout-no-params", arguments: Backend.available)
    func noParameters(backend: Backend) async throws {
        try await signedIn(backend) { story in try await expectAsked(try await story.browser.logOut([:]), &story) }
    }

    @Test("oidcc-rp-initiated-logout-no-post-logout-redirect-uri", arguments: Backend.available)
    func noAddress(backend: Backend) async throws {
        try await signedIn(backend) { story in
            let out = try await story.browser.logOut(["id_token_hint": story.hint, "state": "s"])
            #expect(out.status == 200 && out.header("location") == nil)
            #expect(out.words.contains("You are signed out"))
            #expect(try await story.site.silentError(in: &story.browser) == "login_required")
        }
    }

    @Test("oidcc-rp-initiated-logout-no-state", arguments: Backend.available)
    func noState(backend: Backend) async throws {
        try await signedIn(backend) { story in
            let out = try await story.browser.logOut([
                "id_token_hint": story.hint, "post_logout_redirect_uri": Website.bye,
            ])
            #expect(out.header("location") == Website.bye)
            #expect(try await story.site.silentError(in: &story.browser) == "login_required")
        }
    }

    @Test("oidcc-rp-initiated-logout-only-state", arguments: Backend.available)
    func onlyState(backend: Backend) async throws {
        try await signedIn(backend) { story in
            try await expectAsked(try await story.browser.logOut(["state": "s"]), &story)
        }
    }

    @Test("oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri", arguments: Backend.available)
    func queryAdded(backend: Backend) async throws {
        try await signedIn(backend) { story in
            let page = try await story.browser.logOut([
                "id_token_hint": story.hint, "post_logout_redirect_uri": Website.bye + "?foo=bar", "state": "s",
            ])
            try await expectAsked(page, &story)
        }
    }

    @Test("oidcc-rp-initiated-logout-bad-id-token-hint", arguments: Backend.available)
    func badHint(backend: Backend) async throws {
        try await signedIn(backend) { story in
            let page = try await story.browser.logOut([
                "id_token_hint": try TakenApart(story.hint).forged(), "post_logout_redirect_uri": Website.bye,
                "state": "s",
            ])
            try await expectAsked(page, &story)
        }
    }
}
