import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@Suite("Users without an e-mail address sign in by an identity provider") struct UserWithoutAddressTests {
    /// A browser in which Ada is signed in; her address is removed, and with `password: false` her password too.
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

    @Test("A user without an e-mail address cannot set a password", arguments: Backend.available)
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
        "A user without an e-mail address needs no password to add one or to delete the account",
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

    @Test(
        "The link to an identity provider that is a user's only way to sign in cannot be removed",
        arguments: Backend.available)
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

    @Test(
        "The last provider link by which a user can sign in to the account page cannot be removed",
        arguments: Backend.available)
    func lastWay(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            let world = story.here
            var browser = try await browser(world, password: false)
            let google = try await world.google(of: world.merchant)
            let rivals = try await world.google(of: world.rival)
            // Neither a merchant's own issuer nor a confined link opens the account page.
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
}
