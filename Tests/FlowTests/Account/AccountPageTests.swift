import JSON
import TestSupport
import Testing

@Suite("The account page shows users their own data, and only to them")
struct AccountPageTests {
    @Test(
        "a browser that is not signed in signs in first, and returns to the account page", arguments: Backend.available)
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

    @Test("a session bought by a phone's token does not open the account page", arguments: Backend.available)
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
            // A form that was shown in a real session of the same browser is no way in either.
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
        "the account page shows profile, sessions, apps with their scopes, and how to leave",
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
        "a link cannot put its own words on the account page",
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

    @Test("the account page is in the browser's language", arguments: ["de", "sv", "nb-NO", "en"])
    func language(tag: String) async throws {
        try await World.with(.sqlite) { world in
            var visitor = try await world.signedIn()
            let page = try await visitor.browser.open("/account", headers: ["Accept-Language": tag])
            #expect(page.header("content-language") == (tag == "nb-NO" ? "no" : tag))
        }
    }
}
