import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("However a browser session ends, its sites are told, and no others")
struct SessionEndTests {
    /// A site that Ada is signed in to in two browsers. Nothing leaves: what was left is counted.
    private struct Story {
        let told: NotifiedSite
        var here: BrowserUser
        var elsewhere: BrowserUser
        var world: World { told.site.world }

        /// How many notices were left since it was asked last.
        mutating func news() async throws -> Int {
            let count = try await world.waiting(.notice)
            defer { known = count }
            return count - known
        }
        private var known = 0

        init(_ world: World) async throws {
            told = try await world.notified(at: try CallbackReceiver())
            here = try await world.signedIn()
            elsewhere = try await world.signedIn()
            _ = try await told.site.signIn(in: &here.browser)
            _ = try await told.site.signIn(in: &elsewhere.browser, scope: "openid offline_access")
        }
    }

    private func story(_ backend: Backend, _ tell: (inout Story) async throws -> Void) async throws {
        try await World.with(backend) { world in
            var story = try await Story(world)
            try await tell(&story)
        }
    }

    @Test("Ending sessions on the account page tells the sites of each ended session", arguments: Backend.available)
    func elsewhere(backend: Backend) async throws {
        try await story(backend) { story in
            let other = try #require(try await story.here.otherSessions().first)
            _ = try await story.here.change("sessions/end", ["session": other])
            #expect(try await story.news() == 1)
            _ = try await story.here.change("sessions/end", ["session": other])
            #expect(try await story.news() == 0)
            var third = try await story.world.signedIn()
            _ = try await story.told.site.signIn(in: &third.browser)
            _ = try await story.here.change("sessions/end-others")
            #expect(try await story.news() == 1, "what had ended was told")
            #expect(try await story.here.isSignedIn())
            #expect(try await story.told.site.silentError(in: &story.here.browser) == nil)
        }
    }

    @Test("A password change tells the sites of all sessions but the current one", arguments: Backend.available)
    func password(backend: Backend) async throws {
        try await story(backend) { story in
            _ = try await story.here.change(
                "password", ["current_password": World.password, "new_password": "a quite different loom"])
            #expect(try await story.news() == 1)
            #expect(try await story.here.isSignedIn())
        }
    }

    @Test("A password reset tells the sites of all sessions", arguments: Backend.available)
    func reset(backend: Backend) async throws {
        try await story(backend) { story in
            var visitor = BrowserUser(story.world)
            _ = try await visitor.fill("/password", ["email": World.email])
            let link = try #require(
                try await story.world.server.mail.letter(to: World.email).link(containing: "/password/reset/"))
            let page = try await visitor.browser.open(link.replacing("http://spindle.test", with: ""))
            _ = try await visitor.browser.submit(page, ["password": "a loom for tomorrow"])
            #expect(try await story.news() == 2)
        }
    }

    @Test(
        "Disabling, a new password and deletion by administration tell the sites of the user's sessions",
        arguments: Backend.available,
        [["disabled": true], ["password": "an entirely new one"], nil] as [JSON?])
    func administration(backend: Backend, change: JSON?) async throws {
        try await story(backend) { story in
            let world = story.world
            if let change {
                try await world.change("users", world.user, ["nickname": "Ada"])
                #expect(try await story.news() == 0)
                try await world.change("users", world.user, change)
            } else {
                _ = try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: world.admin)
            }
            #expect(try await story.news() == 2)
        }
    }

    @Test("A user's deletion tells the sites of the user's sessions", arguments: Backend.available)
    func deletion(backend: Backend) async throws {
        try await story(backend) { story in
            let form = try await story.here.browser.open("/account/delete")
            _ = try await story.here.browser.submit(form, ["current_password": World.password])
            #expect(try await story.news() == 2)
        }
    }

    @Test(
        "A sign-in by another user tells the sites of the replaced session; one by the same user does not",
        arguments: Backend.available)
    func another(backend: Backend) async throws {
        try await story(backend) { story in
            _ = try await story.world.person("grace@example.com")
            for (email, expected) in [(World.email, 0), ("grace@example.com", 1)] {
                let page = try await story.here.browser.open(story.world.authorizeAddress(["prompt": "login"]))
                _ = try await story.here.browser.submit(page, ["email": email, "password": World.password])
                #expect(try await story.news() == expected)
            }
        }
    }
}
