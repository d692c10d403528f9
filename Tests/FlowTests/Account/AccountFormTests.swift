import JSON
import TestSupport
import Testing

@Suite("The forms of the account page act for their own user only")
struct AccountFormTests {
    /// A form, and what it would do for an attacker.
    struct Deed: Sendable, CustomTestStringConvertible {
        let path: String
        let fields: [String: String]
        var testDescription: String { path }
    }

    static let deeds = [
        Deed(path: "/account/profile", fields: ["name": "Mallory"]),
        Deed(
            path: "/account/password",
            fields: ["current_password": World.password, "new_password": "mallory's own loom"]),
        Deed(path: "/account/sessions/end-others", fields: [:]),
        Deed(path: "/account/apps/revoke", fields: [:]),
        Deed(path: "/account/links/remove", fields: ["issuer": "1", "subject": "1"]),
        Deed(path: "/account/delete", fields: ["current_password": World.password]),
    ]

    /// Ada on her phone and in two browsers, of which one is about to be tricked.
    private struct Scene {
        let world: World
        let phone: Answer
        var other: BrowserUser
        var victim: BrowserUser

        init(_ world: World) async throws {
            self.world = world
            phone = try await world.signIn()
            other = try await world.signedIn()
            victim = try await world.signedIn()
        }

        func fields(of deed: Deed) -> [String: String] {
            deed.path.hasSuffix("revoke") ? ["client": world.app.id] : deed.fields
        }

        /// Sends the deed with the form of `page`.
        mutating func send(_ deed: Deed, _ page: Answer, headers: [String: String] = [:]) async throws -> Answer {
            try await victim.browser.submit(page, fields(of: deed), to: deed.path, headers: headers)
        }

        mutating func expectUnchanged() async throws {
            let user = try await world.user()
            #expect(user["name"]?.string == "Ada Lovelace")
            #expect(user["deletion_due_at"] == nil)
            #expect(try await world.isLive(try phone.require("access_token")))
            #expect(try await other.isSignedIn())
            #expect(try await world.signIn().status == 200)
            #expect(world.server.mail.letters.isEmpty)
        }
    }

    @Test("a form from another site, with an invented token or without one changes nothing", arguments: deeds)
    func foreign(deed: Deed) async throws {
        for backend in Backend.available {
            try await World.with(backend) { world in
                var scene = try await Scene(world)
                let page = try await scene.victim.browser.open("/account")
                for headers in [
                    ["Origin": "https://evil.example"], ["Origin": "null"], ["Sec-Fetch-Site": "cross-site"],
                ] {
                    #expect(try await scene.send(deed, page, headers: headers).status == 403)
                }
                let own = page.fields["form_token"] ?? ""
                let plain = String(own.prefix { $0 != "." })
                for token in ["", "guess", plain, "guess.\(world.user)", ".\(world.user)", String(own.reversed())] {
                    let form = scene.fields(of: deed).merging(["form_token": token]) { $1 }.map { ($0.key, $0.value) }
                    let answer = try await world.server.post(
                        deed.path, form: form, cookies: scene.victim.browser.cookies)
                    #expect([403, 409].contains(answer.status), "\(token)")
                    #expect(answer.isPage)
                    #expect(answer.header("location") == nil)
                }
                // With a token of the attacker's own browser.
                var attacker = BrowserUser(world)
                let theirs = try await attacker.browser.open("/login").fields["form_token"] ?? ""
                let form = scene.fields(of: deed).merging(["form_token": "\(theirs).\(world.user)"]) { $1 }
                let answer = try await world.server.post(
                    deed.path, form: form.map { ($0.key, $0.value) }, cookies: scene.victim.browser.cookies)
                #expect(answer.status == 403)
                try await scene.expectUnchanged()
            }
        }
    }

    @Test("a form that was shown to one user and is sent by another changes nothing", arguments: deeds)
    func switched(deed: Deed) async throws {
        for backend in Backend.available {
            try await World.with(backend) { world in
                _ = try await world.person("grace@example.com")
                var scene = try await Scene(world)
                var grace = scene.victim
                // Grace was here first; her page is still open when Ada signs in, in the same browser.
                grace.browser.forgetSession()
                _ = try await grace.fill("/login", ["email": "grace@example.com", "password": World.password])
                let page = try await grace.browser.open("/account")
                #expect(page.words.contains("grace@example.com"))
                grace.browser.forgetSession()
                _ = try await grace.fill("/login", ["email": World.email, "password": World.password])
                scene.victim = grace
                let answer = try await scene.send(deed, page)
                #expect(answer.status == 409)
                #expect(answer.isPage)
                try await scene.expectUnchanged()
            }
        }
    }

    @Test("a form that is sent after a logout in another tab leads to the sign-in page", arguments: deeds)
    func afterLogout(deed: Deed) async throws {
        for backend in Backend.available {
            try await World.with(backend) { world in
                var scene = try await Scene(world)
                let page = try await scene.victim.browser.open("/account")
                _ = try await scene.victim.press(page, action: "/logout")
                #expect(try await !scene.victim.isSignedIn())
                let answer = try await scene.send(deed, page)
                #expect(answer.status == 303)
                #expect(answer.header("location") == "/login?continue=%2Faccount")
                try await scene.expectUnchanged()
            }
        }
    }

    @Test("a form of a session that was ended elsewhere changes nothing and clears the cookie", arguments: deeds)
    func ended(deed: Deed) async throws {
        for backend in Backend.available {
            try await World.with(backend) { world in
                var scene = try await Scene(world)
                let page = try await scene.victim.browser.open("/account")
                _ = try await scene.other.change("sessions/end-others")
                let answer = try await scene.send(deed, page)
                #expect(answer.status == 303)
                #expect(answer.header("location")?.hasPrefix("/login") == true)
                try await scene.expectUnchanged()
            }
        }
    }

    @Test("no link alone changes anything", arguments: deeds)
    func links(deed: Deed) async throws {
        try await World.with(.sqlite) { world in
            var scene = try await Scene(world)
            let query = scene.fields(of: deed).map { "\($0.key)=\(TestServer.encode($0.value))" }.joined(separator: "&")
            let answer = try await scene.victim.browser.open("\(deed.path)?\(query)")
            #expect(answer.status == (deed.path == "/account/delete" ? 200 : 303))
            #expect(answer.header("location") == (deed.path == "/account/delete" ? nil : "/account"))
            try await scene.expectUnchanged()
        }
    }
}
