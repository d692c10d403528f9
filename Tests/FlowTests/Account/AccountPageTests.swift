import JSON
import TestSupport
import Testing

@Suite("The account page shows users their own data")
struct AccountPageTests {
    @Test(
        "A browser without a session that opens the account page must sign in, and then gets that page",
        arguments: Backend.available)
    func signInFirst(backend: Backend) async throws {
        try await World.with(backend) { world in
            for path in ["/account", "/account/data", "/account/delete"] {
                var visitor = BrowserUser(world)
                let answer = try await visitor.browser.open(path)
                #expect(answer.status == 303)
                #expect(answer.redirected("continue") == path)
                let page = try await visitor.follow(answer)
                let signedIn = try await visitor.browser.submit(
                    page, ["email": World.email, "password": World.password])
                #expect(signedIn.header("location") == path)
                #expect(try await visitor.follow(signedIn).status == 200)
            }
        }
    }

    @Test(
        "A web view session that an app bought with a code gets the sign-in page, not the account page",
        arguments: Backend.available)
    func bought(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            var visitor = BrowserUser(world)
            _ = try await visitor.browser.open("/auth/session/\(code)")
            #expect(try await visitor.isSignedIn())
            for path in ["/account", "/account/data", "/account/delete"] {
                let answer = try await visitor.browser.open(path)
                #expect(answer.status == 303)
                #expect(answer.header("location")?.hasPrefix("/login?continue=") == true)
                #expect(try await visitor.follow(answer).body.contains("name=\"password\""))
            }
            // A form shown in a signed-in session does not open it either.
            var owner = try await world.signedIn()
            let page = try await owner.browser.open("/account")
            let form = try await world.server.post(
                "/account/profile", form: [("form_token", page.fields["form_token"] ?? ""), ("name", "Mallory")],
                cookies: visitor.browser.cookies.merging(["spindle_form": owner.browser.cookies["spindle_form"] ?? ""])
                {
                    $1
                })
            #expect(form.status == 303)
            #expect(try await world.user()["name"]?.string == "Ada Lovelace")
        }
    }

    @Test(
        "The account page shows profile, sessions, apps with their scopes, and how to delete the account",
        arguments: Backend.available)
    func content(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.signIn(scope: "email")
            var visitor = try await world.signedIn(
                agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
            let page = try await visitor.browser.open("/account")
            #expect(page.status == 200)
            #expect(page.header("cache-control") == "no-store")
            for text in [
                "Ada Lovelace", World.email, "Firefox, Linux", "127.0.0.1", "Loom for phones",
                "action=\"/account/profile\"", "action=\"/account/password\"", "href=\"/account/data\"",
                "href=\"/account/delete\"",
            ] {
                #expect(page.body.contains(text), "no \(text)")
            }
            #expect(!page.body.contains("Rival"))
        }
    }

    @Test(
        "The account page's address can choose a known notice, but cannot put words of its own on the page",
        arguments: ["", "nonsense", "profile%20saved", "%3Cb%3E"])
    func notices(word: String) async throws {
        try await World.with(.sqlite) { world in
            var visitor = try await world.signedIn()
            let page = try await visitor.browser.open("/account?done=\(word)")
            #expect(page.status == 200)
            #expect(!page.body.contains("class=\"notice\""))
            #expect(try await visitor.browser.open("/account?done=profile").body.contains("class=\"notice\""))
        }
    }

    @Test(
        "The account page is in the browser's language if the user's profile names none",
        arguments: ["de", "sv", "nb-NO", "en"])
    func language(tag: String) async throws {
        try await World.with(.sqlite) { world in
            var visitor = try await world.signedIn()
            let page = try await visitor.browser.open("/account", headers: ["Accept-Language": tag])
            #expect(page.header("content-language") == (tag == "nb-NO" ? "no" : tag))
        }
    }

    @Test(
        "The account page shows a notice of success only if the request comes from this site's own pages",
        arguments: Backend.available)
    func foreignNotice(backend: Backend) async throws {
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

    @Test(
        "An account form sent by another site, or without a valid form token, changes nothing", arguments: deeds)
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

    @Test("An account form shown to one user and sent after another has signed in changes nothing", arguments: deeds)
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

    @Test("An account form sent after a logout in another tab leads to the sign-in page", arguments: deeds)
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

    @Test(
        "An account form sent after its session was ended elsewhere changes nothing and leads to sign-in",
        arguments: deeds
    )
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

    @Test("A GET request to an account form's address, even with the form's fields, changes nothing", arguments: deeds)
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
