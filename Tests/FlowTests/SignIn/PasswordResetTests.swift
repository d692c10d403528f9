import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@Suite("A forgotten password is reset by the reader of the mail")
struct PasswordResetTests {
    static let new = "a brand new loom"

    private func link(_ world: World, _ visitor: inout BrowserUser) async throws -> String {
        let page = try await visitor.fill("/password", ["email": World.email])
        #expect(page.status == 200)
        let letter = try await world.server.mail.letter(to: World.email)
        return try #require(letter.link(containing: "/password/reset/"))
            .replacing("http://spindle.test", with: "")
    }

    @Test(
        "A password reset link works in any browser, and ends all the user's other sessions and tokens",
        arguments: Backend.available)
    func reset(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            var elsewhere = BrowserUser(world)
            try await elsewhere.browser.signIn()
            var asker = BrowserUser(world)
            let path = try await link(world, &asker)
            var reader = BrowserUser(world)
            let page = try await reader.browser.open(path)
            #expect(page.status == 200)
            #expect(try await elsewhere.isSignedIn(), "opening the link ends no session")
            let done = try await reader.browser.submit(page, ["password": Self.new])
            #expect(done.status == 303)
            #expect(try await reader.isSignedIn())
            #expect(try await !elsewhere.isSignedIn())
            #expect(try await !world.isLive(try phone.require("access_token")))
            #expect(try await world.refresh(try phone.require("refresh_token")).error == "invalid_grant")
            #expect(try await world.signIn().error == "invalid_grant")
            #expect(try await world.signIn(password: Self.new).status == 200)
            let told = try await world.server.mail.letter(to: World.email)
            #expect(told.link(containing: "/password") != nil, "the owner is told")
            #expect(try await reader.browser.open(path).status == 410)
            #expect(try await reader.browser.submit(page, ["password": "another new loom"]).status == 410)
            #expect(try await world.signIn(password: Self.new).status == 200)
        }
    }

    @Test(
        "A password reset in a browser of another signed-in user ends that user's session there",
        arguments: Backend.available)
    func displaced(backend: Backend) async throws {
        try await World.with(backend) { world in
            let grace = try await world.person("grace@example.com")
            var browser = try await world.signedIn(as: "grace@example.com")
            let path = try await link(world, &browser)
            #expect(try await browser.fill(path, ["password": Self.new]).status == 303)
            #expect(try await world.count("sessions WHERE user_id = \(grace) AND ended_at IS NULL") == 0)
            #expect(try await browser.isSignedIn())
            #expect(try await browser.browser.open("/account").body.contains("ada<wbr>@example.com"))
        }
    }

    @Test(
        "Of eight concurrent password resets by one link, exactly one sets the password",
        arguments: Backend.available)
    func race(backend: Backend) async throws {
        try await World.with(backend) { world in
            var asker = BrowserUser(world)
            let path = try await link(world, &asker)
            let page = try await asker.browser.open(path)
            let fixed = asker
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 1...8 {
                    group.addTask {
                        var runner = fixed
                        return try await runner.browser.submit(page, ["password": "number \(number) of the looms"])
                            .status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == 303 }.count == 1)
        }
    }

    @Test("A password reset invalidates older reset links")
    func older() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            let links = (try await link(world, &visitor), try await link(world, &visitor))
            _ = try await visitor.fill(links.1, ["password": Self.new])
            #expect(try await visitor.browser.open(links.0).status == 410)
        }
    }

    @Test("A password reset link works for a day", arguments: Backend.available)
    func late(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            let path = try await link(world, &visitor)
            world.server.clock.advance(by: .hours(24) - .seconds(1))
            let page = try await visitor.browser.open(path)
            #expect(page.status == 200)
            world.server.clock.advance(by: .seconds(1))
            #expect(try await visitor.browser.open(path).status == 410)
            #expect(try await visitor.browser.submit(page, ["password": Self.new]).status == 410)
            #expect(try await world.signIn().status == 200, "the old password still is the password")
        }
    }

    @Test("A reset link whose secret is forged, or is opened as a sign-up link, gets 404")
    func forged() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            let path = try await link(world, &visitor)
            #expect(try await visitor.browser.open("/password/reset/AAAA").status == 404)
            #expect(try await visitor.browser.open(path + "A").status == 404)
            let secret = path.split(separator: "/").last ?? ""
            #expect(try await visitor.browser.open("/signup/confirm/\(secret)").status == 404)
        }
    }

    @Test("A weak new password is refused, and the reset link still works")
    func weak() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            let path = try await link(world, &visitor)
            for weak in ["short", "password1", World.email] {
                let answer = try await visitor.fill(path, ["password": weak])
                #expect(answer.status == 400)
                #expect(answer.body.contains("role=\"alert\""))
            }
            #expect(try await visitor.fill(path, ["password": Self.new]).status == 303)
        }
    }

    @Test("A request for a password reset for an address without a user gets the same page and no mail")
    func unknown() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            let known = try await visitor.fill("/password", ["email": World.email])
            let unknown = try await visitor.fill("/password", ["email": "nobody@example.com"])
            #expect(known.status == unknown.status)
            #expect(known.body == unknown.body.replacing("nobody", with: "ada"))
            _ = try await world.server.mail.letter(to: World.email)
            #expect(world.server.mail.letters(to: "nobody@example.com").isEmpty)
        }
    }

    @Test("A password reset by a user whose deletion is pending starts no session", arguments: Backend.available)
    func leaving(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            try await visitor.browser.signIn()
            _ = try await visitor.fill("/account/delete", ["current_password": World.password])
            _ = try await world.server.mail.letter(to: World.email)
            let path = try await link(world, &visitor)
            #expect(try await visitor.fill(path, ["password": Self.new]).status == 200)
            let live = try await world.server.database.read { db in
                try db.rows("SELECT id FROM sessions WHERE ended_at IS NULL").count
            }
            #expect(live == 0)
            #expect(try await !visitor.isSignedIn())
            let offered = try await visitor.fill("/login", ["email": World.email, "password": Self.new])
            #expect(offered.body.contains("/account/restore"), "the password is new, and the account still can be kept")
        }
    }

    @Test(
        "Resetting a to-be-deleted user's password in another user's browser leaves that user signed in",
        arguments: Backend.available)
    func leavingElsewhere(backend: Backend) async throws {
        try await World.with(backend) { world in
            var leaving = try await world.signedIn()
            #expect(try await leaving.fill("/account/delete", ["current_password": World.password]).status == 200)
            _ = try await world.server.mail.letter(to: World.email)
            _ = try await world.person("grace@example.com")
            var browser = try await world.signedIn(as: "grace@example.com")
            let path = try await link(world, &browser)
            let done = try await browser.fill(path, ["password": Self.new])
            #expect(done.status == 200 && done.header("location") == nil, "\(done)")
            #expect(done.words.contains("Your account will be deleted"), "\(done)")
            #expect(done.words.contains("2027-01-29 08:00") && done.setCookie("spindle_session") == nil)
            #expect(try await browser.browser.open("/account").words.contains("grace@example.com"))
            let offered = try await leaving.fill("/login", ["email": World.email, "password": Self.new])
            #expect(offered.formAction == "/account/restore", "the password is new: \(offered)")
        }
    }

    @Test("A password reset works while sign-ins of its user are throttled", arguments: Backend.available)
    func underAttack(backend: Backend) async throws {
        try await World.with(backend) { world in
            for _ in 1...15 { _ = try await world.signIn(password: "a guess at it") }
            #expect(try await world.signIn().status == 429)
            var visitor = BrowserUser(world)
            let path = try await link(world, &visitor)
            #expect(try await visitor.fill(path, ["password": Self.new]).status == 303)
            #expect(try await visitor.isSignedIn())
        }
    }

    @Test("A password reset refuses the user's own name as a password", arguments: Backend.available)
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
