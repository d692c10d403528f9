import JSON
import Mail
import TestSupport
import Testing

@Suite("A mailed link keeps the merchant's look and the language of its request")
struct MailedLinkTests {
    /// Loom's request in Swedish, and what its pages and mails then look like; no browser here asks for Swedish.
    private struct Errand {
        let continueTo: String
        let stylesheet: String

        init(_ world: World) async throws {
            try await world.change("merchants", world.merchant, ["accent_color": "#0a7f3c"])
            continueTo = world.authorizeAddress(["ui_locales": "sv"])
            stylesheet = "/assets/brand/\(world.merchant).css"
        }

        func expectIts(_ page: Answer) {
            #expect(page.body.contains("<html lang=\"sv\">"))
            #expect(page.header("content-language") == "sv")
            #expect(page.body.contains("<header>") && page.body.contains("<p><bdi>Loom</bdi></p>"))
            #expect(page.body.contains("href=\"\(stylesheet)\""))
        }
    }

    @Test(
        "A password reset's pages and mail keep the merchant's look and the authorization request's language",
        arguments: Backend.available)
    func reset(backend: Backend) async throws {
        try await World.with(backend) { world in
            let errand = try await Errand(world)
            var asker = BrowserUser(world)
            let again = "/password?continue=\(try await world.begin(errand.continueTo, in: &asker.browser))"
            let asked = try await asker.fill(again, ["email": World.email])
            errand.expectIts(asked)
            #expect(asked.body.contains("<a href=\"\(again)\">"), "asking again keeps the request")
            let link = try #require(
                try await world.server.mail.letter(to: World.email).link(containing: "/password/reset/"))
            var reader = BrowserUser(world)
            let page = try await reader.browser.open(link.replacing("http://spindle.test", with: ""))
            errand.expectIts(page)
            let weak = try await reader.browser.submit(page, ["password": "short"])
            #expect(weak.status == 400)
            errand.expectIts(weak)
            let done = try await reader.browser.submit(page, ["password": "a brand new loom"])
            // This browser has shown no page about the request.
            let unseen = try await reader.follow(done)
            errand.expectIts(unseen)
            let onward = try await reader.browser.submit(unseen, ["decision": "continue"])
            #expect(try await reader.follow(onward).redirected("code") != nil)
            let told = try await world.server.mail.letter(to: World.email)
            #expect(told.subject == "Ditt lösenord för Loom har bytts")
            #expect(told.html.contains("<html lang=\"sv\">") && told.html.contains("<bdi>Loom</bdi>"))
        }
    }

    @Test(
        "A sign-up link's pages keep the merchant's look and the authorization request's language",
        arguments: Backend.available)
    func signUp(backend: Backend) async throws {
        try await World.with(backend) { world in
            let errand = try await Errand(world)
            var asker = BrowserUser(world)
            let asked = try await asker.signUp("grace@example.com", continueTo: errand.continueTo)
            errand.expectIts(asked)
            let link = try #require(
                try await world.server.mail.letter(to: "grace@example.com").link(containing: "/signup/confirm/"))
            var reader = BrowserUser(world)
            let page = try await reader.browser.open(link.replacing("http://spindle.test", with: ""))
            errand.expectIts(page)
            let weak = try await reader.browser.submit(page, ["password": "short"])
            #expect(weak.status == 400)
            errand.expectIts(weak)
            let done = try await reader.browser.submit(page, ["password": World.password])
            let onward = try await reader.browser.submit(try await reader.follow(done), ["decision": "continue"])
            #expect(try await reader.follow(onward).redirected("code") != nil)
        }
    }

    @Test("A reset link requested without an app shows the server's own look, in the reader's language")
    func plain() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            _ = try await visitor.fill("/password", ["email": World.email])
            let link = try #require(
                try await world.server.mail.letter(to: World.email).link(containing: "/password/reset/"))
            let page = try await visitor.browser.open(
                link.replacing("http://spindle.test", with: ""), headers: ["Accept-Language": "de"])
            #expect(page.header("content-language") == "de")
            #expect(!page.body.contains("<header>"))
        }
    }
}
