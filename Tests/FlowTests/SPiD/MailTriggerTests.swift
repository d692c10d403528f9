import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

@Suite("Mails that a backend triggers for a user")
struct MailTriggerTests {
    private func path(_ letter: MailMessage, _ part: String) throws -> String {
        try #require(letter.link(containing: part)).replacing("http://spindle.test", with: "")
    }

    @Test("A backend can trigger a password reset mail, whose link sets a new password", arguments: Backend.available)
    func newPassword(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            _ = try await world.signIn(with: loom)
            let answer = try await world.api(
                "user/\(world.user)/trigger/newpassword", try await world.clientToken(loom))
            #expect(answer.status == 201 && answer.data == ["success": true], "\(answer)")
            let letter = try await world.server.mail.letter(to: World.email)
            var visitor = BrowserUser(world)
            let page = try await visitor.browser.open(try path(letter, "/password/reset/"))
            #expect(page.status == 200)
            // The link names no client: a proof of the address by it must not keep what a stranger made there.
            let onward = try await world.server.database.rows("SELECT continue_to FROM verifications")
            #expect(try onward.map { try $0.get("continue_to", as: String.self) } == [""])
            let done = try await visitor.browser.submit(page, ["password": "another quite unlikely loom"])
            #expect(done.status == 303)
            #expect(try await world.signIn().status != 200, "the old one is gone")
            #expect(try await world.signIn(with: loom, password: "another quite unlikely loom").status == 200)
        }
    }

    @Test(
        "SPiD's API mails a verification link when a backend triggers it, unless the address is verified",
        arguments: Backend.available)
    func verification(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let token = try await world.clientToken(loom)
            let password = "a quite unlikely loom"
            func trigger(_ id: String) async throws {
                let answer = try await world.api("user/\(id)/trigger/emailverification", token)
                #expect(answer.status == 201 && answer.data == ["success": true], "\(answer)")
            }
            let grace = try await world.api("signup", token, ["email": "grace@example.com", "password": password])
            let id = try #require(grace.data["userId"]?.string)
            let first = try await world.server.mail.letter(to: "grace@example.com")
            try await trigger(id)
            let link = try path(try await world.server.mail.letter(to: "grace@example.com"), "/signup/address/")
            #expect(try path(first, "/signup/address/") != link, "another link")
            var visitor = BrowserUser(world)
            let page = try await visitor.browser.open(link)
            #expect(try await visitor.browser.submit(page, ["password": password]).status == 303)
            #expect(try await world.api("user/\(id)", token).data["emailVerified"] == true)
            let count = world.server.mail.letters.count
            try await trigger(id)
            #expect(world.server.mail.letters.count == count, "the address is verified")

            let bea = try await world.api("signup", token, ["email": "bea@example.com"])
            try await trigger(try #require(bea.data["userId"]?.string))
            for _ in 1...2 {
                let letter = try await world.server.mail.letter(to: "bea@example.com")
                #expect(letter.link(containing: "/password/reset/") != nil)
            }
        }
    }

    @Test(
        "Only a merchant's own backend that the user has used triggers mails, at most five to a mailbox",
        .timeLimit(.minutes(3)), arguments: Backend.available)
    func refused(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let phone = try await world.signIn(with: loom).require("access_token")
            let path = "user/\(world.user)/trigger/newpassword"
            func status(_ client: World.Actor) async throws -> Int {
                try await world.api(path, try await world.clientToken(client)).status
            }
            #expect(try await status(try await world.spidBackend()) == 403)
            #expect(try await status(try await world.spidBackend(of: world.rival)) == 403)
            #expect(try await status(try await world.spidBackend(["first_party": false])) == 403)
            #expect(try await status(world.backend) == 403)
            #expect(try await world.api(path, phone).status == 401)
            #expect(try await world.api(path, nil).status == 401)
            let token = try await world.clientToken(loom)
            #expect(try await world.api("user/\(world.user)/trigger/anything", token).status == 404)
            #expect(world.server.mail.letters.isEmpty)
            for _ in 1...7 { #expect(try await world.api(path, token).status == 201) }
            try await world.allMailsSent()
            #expect(world.server.mail.letters.count == 5)
            try await world.change("users", world.user, ["disabled": true])
            #expect(try await world.api(path, token).status == 403)
        }
    }
}
