import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("A session that rests, because its client is disabled, is left, replaced and ended as any other")
struct RestingSessionTests {
    /// A web view whose client is disabled by `rest`, and a site that is told of sign-outs and got tokens in it.
    private struct Story {
        let world: World
        let client: World.Actor
        let site: NotifiedSite
        var webView: Browser
        let hint: String
        let refreshToken: String

        init(_ world: World) async throws {
            self.world = world
            client = try await world.website().actor
            site = try await world.notified(at: try CallbackReceiver())
            let phone = try await world.signIn()
            let code = try await world.exchange(
                try phone.require("access_token"), for: client, type: "session", redirectURI: client.redirectURI
            ).require("code")
            webView = Browser(world.server)
            _ = try await webView.open("/auth/session/\(code)")
            let tokens = try await site.site.signIn(in: &webView)
            (hint, refreshToken) = (try tokens.require("id_token"), try tokens.require("refresh_token"))
        }

        func rest(_ isDisabled: Bool) async throws {
            try await world.change("clients", client.id, ["disabled": .bool(isDisabled)])
            world.server.clock.advance(by: .seconds(2))
        }

        /// Expects that the site's tokens ended, and that it was told once.
        func expectEnd(_ comment: Comment? = nil) async throws {
            let refreshed = try await world.refresh(refreshToken, as: site.site.actor)
            #expect(refreshed.error == "invalid_grant", comment)
            #expect(try await world.waiting(.notice) == 1, comment)
        }
    }

    private func story(_ backend: Backend, _ tell: (inout Story) async throws -> Void) async throws {
        try await World.with(backend) { world in
            var story = try await Story(world)
            try await tell(&story)
        }
    }

    @Test(
        "Signing out of a site also holds in a web view whose client is disabled, and the site is told once",
        arguments: Backend.available, [true, false])
    func left(backend: Backend, rests: Bool) async throws {
        try await story(backend) { story in
            if rests { try await story.rest(true) }
            let path = "/logout?logout_scope=client&id_token_hint=\(story.hint)"
            #expect(try await story.webView.open(path).words.contains("signed out of"))
            if rests { try await story.rest(false) }
            try await story.expectEnd()
            #expect(try await story.site.site.silentError(in: &story.webView) == "login_required")
            #expect(try await story.webView.isSignedIn())
        }
    }

    @Test(
        "A disabled client's session ends when another user signs in in its browser, and its sites are told",
        arguments: Backend.available)
    func replaced(backend: Backend) async throws {
        try await story(backend) { story in
            _ = try await story.world.person("bob@example.com")
            let secret = try #require(story.webView.session)
            try await story.rest(true)
            _ = try await story.webView.signIn(as: "bob@example.com")
            try await story.rest(false)
            try await story.expectEnd()
            let old = try await story.world.server.get("/login", cookies: ["spindle_session": secret])
            #expect(!old.body.contains("You are signed in"))
        }
    }

    @Test(
        "A session code asks before it replaces another user's session whose client is disabled, and ends it",
        arguments: Backend.available)
    func code(backend: Backend) async throws {
        try await story(backend) { story in
            let world = story.world
            _ = try await world.person("bob@example.com")
            let bob = try await world.signIn(with: world.app, as: "bob@example.com")
            try await story.rest(true)
            let page = try await story.webView.open("/auth/session/\(try await world.sessionCode(of: bob))")
            #expect(page.status == 200 && page.words.contains("bob@example.com"), "\(page)")
            #expect(try await story.webView.submit(page, ["decision": "allow"]).status == 302)
            try await story.rest(false)
            try await story.expectEnd()
            #expect(try await story.webView.isSignedIn())
        }
    }

    @Test(
        "A disabled client's session stays beside another user's and can be chosen once the client is enabled",
        arguments: Backend.available)
    func aside(backend: Backend) async throws {
        try await story(backend) { story in
            let world = story.world
            _ = try await world.person("bob@example.com")
            var browser = Browser(world.server)
            try await browser.signIn(as: "bob@example.com")
            let asks = world.authorizeAddress(["prompt": "select_account"], for: story.client)
            let another = try await browser.submit(try await browser.open(asks), ["decision": "another"])
            #expect(another.status == 303)
            let code = try await world.exchange(
                try await world.signIn().require("access_token"), for: story.client, type: "session",
                redirectURI: story.client.redirectURI
            ).require("code")
            _ = try await browser.open("/auth/session/\(code)")
            try await story.rest(true)
            let others = try await browser.open(world.authorizeAddress(["prompt": "select_account"]))
            #expect(others.isPicker && others.choices.count == 1, "only Bob's can be chosen")
            _ = try await browser.pick(try #require(others.choices.first), on: others)
            #expect(try await browser.open("/login").words.contains("bob@example.com"))
            try await story.rest(false)
            #expect(try await browser.open(asks).choices.count == 2)
        }
    }

    @Test(
        "Signing out of the browser asks first, and also ends a session whose client is disabled",
        arguments: Backend.available)
    func signOut(backend: Backend) async throws {
        try await story(backend) { story in
            try await story.rest(true)
            let page = try await story.webView.open("/logout", headers: ["Sec-Fetch-Site": "cross-site"])
            #expect(page.words.contains("Sign out?"), "\(page)")
            #expect(try await story.webView.submit(page).words.contains("signed out"))
            try await story.rest(false)
            try await story.expectEnd()
        }
    }
}
