import JSON
import Mail
import TestSupport
import Testing
import Values

/// An attacker creates a user with another person's address and waits for its owner. Mallory made Ada's: its address is
/// not verified, Mallory knows the password, has a token and a session, and attached a Facebook account.
@Suite("The first proof of an address ends what others had made of its user") struct ProviderTakeoverTests {
    private struct Trap {
        let story: ProviderStory
        let token: String
        let refresh: String
        var browser: BrowserUser

        init(_ story: ProviderStory) async throws {
            self.story = story
            story.facebook("mallorys", "666")
            let person = try await story.world.signIn(with: story.phone)
            token = try person.require("access_token")
            refresh = try person.require("refresh_token")
            browser = BrowserUser(story.world)
            try await browser.browser.signIn()
            let jwt = story.sign(story.claims(.attach, "facebook", "mallorys"))
            #expect(try await story.attach(jwt, to: person).status == 200)
            #expect(try await story.world.server.mail.letter(to: World.email).text.contains("Facebook"))
        }

        mutating func waysIn() async throws -> [String] {
            var ways: [String] = []
            if try await story.logIn("facebook", "mallorys").status == 200 { ways.append("Facebook") }
            if try await story.world.isLive(token) { ways.append("token") }
            if try await story.world.refresh(refresh, as: story.phone).status == 200 { ways.append("refresh token") }
            if try await browser.isSignedIn() { ways.append("session") }
            if try await story.world.signIn(with: story.phone).status == 200 { ways.append("password") }
            return ways
        }
    }

    private func signInByMail(_ visitor: inout BrowserUser) async throws {
        let page = try await visitor.press(
            try await visitor.browser.open("/login"), action: "/login/code", ["email": World.email])
        let code = try #require(try await visitor.world.server.mail.letter(to: World.email).code)
        #expect(try await visitor.browser.submit(page, ["code": code]).status == 303)
        #expect(try await visitor.isSignedIn())
    }

    private func resetPassword(_ visitor: inout BrowserUser, to password: String) async throws {
        _ = try await visitor.fill("/password", ["email": World.email])
        let letter = try await visitor.world.server.mail.letter(to: World.email)
        let link = try #require(letter.link(containing: "/password/reset/"))
        let path = link.replacing("http://spindle.test", with: "")
        #expect(try await visitor.fill(path, ["password": password]).status == 303)
        #expect(try await visitor.isSignedIn())
        _ = try await visitor.world.server.mail.letter(to: World.email)
    }

    @Test("The owner's first password reset ends a provider's link made before", arguments: Backend.available)
    func resetKeepsLink(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            var trap = try await Trap(story)
            var owner = BrowserUser(story.world)
            try await resetPassword(&owner, to: "the owner's own loom")
            #expect(try await trap.waysIn() == [])
            #expect(try await story.logIn("facebook", "mallorys").error == "unknown_user")
        }
    }

    @Test(
        "The owner's first sign-in by mailed code ends password, tokens, sessions and links made before",
        arguments: Backend.available)
    func mailCodeKeepsWays(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            var trap = try await Trap(story)
            var owner = BrowserUser(story.world)
            try await signInByMail(&owner)
            #expect(try await trap.waysIn() == [])
            #expect(try await owner.isSignedIn())
        }
    }

    @Test(
        "An administrator's new password for an unverified address ends the links made before",
        arguments: Backend.available)
    func administrationKeepsLink(_ backend: Backend) async throws {
        let ways: [JSON] = [
            ["password": "the owner's own loom", "email_verified": true], ["password": "the owner's own loom"],
            ["email": "own@example.com", "email_verified": true, "password": "the owner's own loom"],
        ]
        for way in ways {
            try await ProviderStory.with(backend) { story in
                var trap = try await Trap(story)
                try await story.world.change("users", story.world.user, way)
                #expect(try await trap.waysIn() == [])
                #expect(try await story.logIn("facebook", "mallorys").error == "unknown_user")
            }
        }
    }

    @Test(
        "An administrator's new address and password for a user end the links made before",
        arguments: Backend.available)
    func givenBackKeepsLink(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            try await story.world.change("users", story.world.user, ["email_verified": true])
            var trap = try await Trap(story)
            try await story.world.change(
                "users", story.world.user,
                ["email": "own@example.com", "email_verified": true, "password": "the owner's own loom"])
            #expect(try await trap.waysIn() == [])
            #expect(try await story.logIn("facebook", "mallorys").error == "unknown_user")
        }
    }

    @Test("An administrator's new password for a verified address keeps the user's links", arguments: Backend.available)
    func administrationOfProved(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            try await story.world.change("users", story.world.user, ["email_verified": true])
            var own = try await Trap(story)
            try await story.world.change("users", story.world.user, ["password": "the owner's own loom"])
            #expect(try await own.waysIn() == ["Facebook"])
        }
    }

    @Test(
        "A later proof of a verified address keeps its user's links, tokens and sessions", arguments: Backend.available)
    func later(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            try await story.world.change("users", story.world.user, ["email_verified": true])
            var own = try await Trap(story)
            var owner = BrowserUser(story.world)
            try await signInByMail(&owner)
            #expect(try await own.waysIn() == ["Facebook", "token", "refresh token", "session", "password"])
            try await resetPassword(&owner, to: "the owner's own loom")
            #expect(try await own.waysIn() == ["Facebook"], "a new password ends tokens and sessions, not links")
            #expect(try await owner.browser.open("/account").body.contains("<bdi>Facebook</bdi>"))
            let removed = try await owner.browser.submit(
                try await owner.browser.open("/account"), try await owner.firstLink(), to: "/account/links/remove")
            #expect(removed.header("location") == "/account?done=link")
            #expect(try await own.waysIn() == [])
            #expect(try await !owner.browser.open("/account").body.contains("/account/links/remove"))
        }
    }
}
