import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@Suite("People without an address, whom a provider signs in") struct AddresslessTests {
    /// Ada signed in, and without an address since; with or without a password of before.
    private func browser(_ world: World, password: Bool) async throws -> Browser {
        var browser = Browser(world.server)
        try await browser.signIn()
        let user = try #require(Int64(world.user))
        try await world.server.database.write { db in
            try db.execute("UPDATE users SET email = NULL WHERE id = \(user)")
            if !password { try db.execute("UPDATE users SET password_hash = NULL WHERE id = \(user)") }
        }
        return browser
    }

    @Test("somebody without an address sets a password, by which they can never sign in", arguments: Backend.available)
    func none(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = try await browser(world, password: false)
            let page = try await browser.open("/account")
            #expect(page.status == 200 && !page.body.contains("/account/password"))
            #expect(page.words.contains("You have no password: you sign in with a connected account."))
            let forced = try await browser.submit(page, ["new_password": "a good long loom"], to: "/account/password")
            #expect(forced.header("location") == "/account")
            let rows = try await world.server.database.rows("SELECT id FROM users WHERE password_hash IS NOT NULL")
            #expect(rows.isEmpty)
        }
    }

    @Test(
        "somebody who has a password and no address can neither add one nor delete the account",
        arguments: Backend.available)
    func stuck(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = try await browser(world, password: true)
            let page = try await browser.open("/account")
            let asked = try await browser.submit(page, ["email": "ada@new.example"], to: "/account/email")
            #expect(asked.status == 200 || asked.status == 303, "\(asked)")
            #expect(!asked.body.contains("The password is wrong"))
            #expect(try await world.server.mail.letter(to: "ada@new.example").text.isEmpty == false)
            let leaving = try await browser.open("/account/delete")
            let gone = try await browser.submit(leaving, [:], to: "/account/delete")
            #expect(!gone.body.contains("The password is wrong"))
            let due = try await world.server.database.rows("SELECT id FROM users WHERE deletion_due_at IS NOT NULL")
            #expect(due.count == 1)
        }
    }

    @Test("somebody removes the only way in which they can sign in", arguments: Backend.available)
    func onlyLink(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            let world = story.here
            var browser = try await browser(world, password: false)
            let (issuer, user) = (story.issuer, try #require(Int64(world.user)))
            try await world.server.database.write { db in
                _ = try db.execute(
                    """
                    INSERT INTO issuer_subjects (issuer_id, subject, user_id, is_confined, created_at)
                    VALUES (\(issuer), \("kari"), \(user), 0, 1)
                    """)
            }
            let page = try await browser.open("/account")
            let kept = try await browser.submit(
                page, ["issuer": issuer, "subject": "kari"], to: "/account/links/remove")
            #expect(kept.header("location") == "/account?done=only-link")
            let told = try await browser.open("/account?done=only-link")
            #expect(told.words.contains("This is the only way in which you can sign in."))
            #expect(told.body.contains("/account/links/remove"))
        }
    }

    @Test("somebody removes the last link that opens the account, and keeps others", arguments: Backend.available)
    func lastWay(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            let world = story.here
            var browser = try await browser(world, password: false)
            let google = try await world.google(of: world.merchant)
            let rivals = try await world.google(of: world.rival)
            // A merchant's own issuer opens no account page, and what a merchant's app attached neither.
            try await world.link(google, "1")
            try await world.link(story.issuer, "kari")
            try await world.link(rivals, "2", isConfined: true)
            func remove(_ browser: inout Browser) async throws -> String? {
                let page = try await browser.open("/account")
                return try await browser.submit(
                    page, ["issuer": google, "subject": "1"], to: "/account/links/remove"
                ).header("location")
            }
            #expect(try await remove(&browser) == "/account?done=only-link")
            try await world.server.database.write { db in
                _ = try db.execute("UPDATE issuer_subjects SET is_confined = 0 WHERE subject = '2'")
            }
            #expect(try await remove(&browser) == "/account?done=link")
        }
    }

    @Test("a confirmation forgets after a wrong password that it is one", arguments: Backend.available)
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

    @Test("another site's link says on the account page what did not happen", arguments: Backend.available)
    func notices(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let text = "Your password is changed"
            for site in ["cross-site", "none"] {
                let page = try await browser.open("/account?done=password", headers: ["Sec-Fetch-Site": site])
                #expect(page.status == 200 && !page.words.contains(text))
            }
            let after = try await browser.open(
                "/account?done=password", headers: ["Sec-Fetch-Site": "same-origin"])
            #expect(after.words.contains(text))
        }
    }

    @Test("a reset takes the person's own name as a password", arguments: Backend.available)
    func ownName(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change(
                "users", world.user, ["name": "Karianne Nordmannsen", "email_verified": true])
            var browser = Browser(world.server)
            _ = try await browser.submit(try await browser.open("/password"), ["email": World.email])
            let letter = try await world.server.mail.letter(to: World.email).text
            let link = try #require(letter.firstMatch(of: /\/password\/reset\/[\w-]+/)?.output)
            let page = try await browser.open(String(link))
            let refused = try await browser.submit(page, ["password": "karianne nordmannsen1"])
            #expect(refused.status == 400 && refused.words.contains("resembles your name"), "\(refused)")
            #expect(try await browser.submit(refused, ["password": "a good long loom"]).status == 303)
        }
    }
}
