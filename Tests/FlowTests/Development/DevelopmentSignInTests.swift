import Authentication
import Directory
import JSON
import TestSupport
import Testing
import Values

@Suite("Development mode signs in any name")
struct DevelopmentSignInTests {
    @Test(
        "A development name signs in the same user each time, in every browser and letter case",
        arguments: Backend.available)
    func names(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            var subjects: [String: String] = [:]
            for name in ["alice", "bob", "Ada Lovelace", "ada@example.com", "名前", "O'Hara <x>", "0", "a.b-c_d+e"] {
                var developer = Developer(world)
                let claims = try await world.idToken(in: try await developer.tokens(as: name))
                let subject = try #require(claims["sub"]?.string)
                #expect(!subjects.values.contains(subject) && subject != world.user, "\(name) is another user")
                subjects[name] = subject
            }
            for (name, same) in [("alice", " Alice "), ("Ada Lovelace", "ADA lovelace"), ("bob", "bob@dev.example")] {
                var another = Developer(world)
                let claims = try await world.idToken(in: try await another.tokens(as: same))
                #expect(claims["sub"]?.string == subjects[name], "\(same)")
            }
        }
    }

    @Test("A development name's user id depends on the name alone, and its e-mail address names the same user")
    func stable() throws {
        // The number is fixed: an app that stores data by `sub` finds its user again.
        #expect(try #require(DevelopmentName("alice")).user.description == "8261077199567997")
        for text in ["Ada Lovelace", "名前", "O'Hara <x>", String(repeating: "é", count: 60)] {
            let name = try #require(DevelopmentName(text))
            #expect(DevelopmentName(name.email)?.user == name.user)
            #expect(EmailAddress(name.email)?.text == name.email)
        }
        #expect(DevelopmentName("e\u{301}va")?.email == DevelopmentName("\u{e9}va")?.email)
    }

    @Test(
        "A development user's e-mail address is verified and at dev.example, and the profile has the typed name",
        arguments: Backend.available)
    func profile(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            var developer = Developer(world)
            let tokens = try await developer.tokens(as: "Grace Hopper")
            let me = try await world.server.get("/oauth/userinfo", bearer: try tokens.require("access_token")).json
            #expect(me["name"]?.string == "Grace Hopper")
            #expect(me["email"]?.string?.hasSuffix("@dev.example") == true)
            #expect(me["email_verified"]?.bool == true)
            let id = try await world.idToken(in: tokens)
            #expect(id["amr"]?.strings == ["pwd"])
            #expect(id["aud"]?.string == world.app.id)
        }
    }

    @Test("The development sign-in page refuses an empty, overlong or malformed name", arguments: Backend.available)
    func noNames(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            for name in ["", "   ", "@dev.example", String(repeating: "x", count: 61), "a\u{1}b"] {
                var developer = Developer(world)
                let answer = try await developer.enter(as: name, at: world.authorizeAddress())
                #expect(answer.status == 400)
                #expect(answer.body.contains("Type a name of at most 60 characters."), "\(name)")
                #expect(developer.browser.session == nil)
            }
        }
    }

    @Test(
        "A development user has no password and can sign in only on the development page",
        arguments: Backend.available)
    func otherwise(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            var developer = Developer(world)
            _ = try await developer.tokens(as: "alice")
            for password in ["", "alice", World.password] {
                let answer = try await world.signIn(as: "alice@dev.example", password: password)
                #expect(answer.status == 400, "\(password)")
                var stranger = Browser(world.server)
                let page = try await stranger.open("/login?page=people")
                let refused = try await stranger.submit(page, ["email": "alice@dev.example", "password": password])
                #expect(refused.status == 400 && stranger.session == nil)
            }
        }
    }

    @Test(
        "A development name never signs in to a user that development mode did not create",
        arguments: Backend.available)
    func others(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            _ = try await world.person("mallory@dev.example")
            var developer = Developer(world)
            let taken = try await developer.enter(as: "mallory", at: world.authorizeAddress())
            #expect(taken.status == 400)
            #expect(taken.body.contains("Another user has signed up with the address of this name."))
            for name in [World.email, world.user] {
                let claims = try await world.idToken(
                    in: try await developer.tokens(as: name, ["scope": "openid", "prompt": "login"]))
                #expect(claims["sub"]?.string != world.user)
            }
        }
    }

    @Test(
        "Development sign-in refuses a disabled user, and asks one whose deletion is pending whether to stay",
        arguments: Backend.available)
    func ends(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            var developer = Developer(world)
            let subject = try await world.idToken(in: try await developer.tokens(as: "alice"))["sub"]?.string ?? ""
            try await world.change("users", subject, ["disabled": true])
            let refused = try await developer.enter(as: "alice", at: world.authorizeAddress(["prompt": "login"]))
            #expect(refused.status == 400 && refused.body.contains("This account is disabled."))
            try await world.change("users", subject, ["disabled": false])

            var leaving = Developer(world)
            _ = try await leaving.tokens(as: "alice")
            _ = try await leaving.browser.submit(try await leaving.browser.open("/account/delete"), [:])
            let kept = try await leaving.enter(as: "alice", at: world.authorizeAddress())
            #expect(kept.status == 200 && kept.body.contains("value=\"keep\""))
        }
    }

    @Test(
        "Each development sign-in is logged as a warning; a form from another site is refused",
        arguments: Backend.available)
    func seen(backend: Backend) async throws {
        try await World.with(backend, isDevelopment: true) { world in
            var developer = Developer(world)
            let page = try await developer.page(at: world.authorizeAddress())
            let foreign = try await developer.browser.submit(
                page, ["username": "alice", "outcome": "sign_in"], headers: ["Origin": "https://evil.example"])
            #expect(foreign.status == 403 && developer.browser.session == nil)
            #expect(try await world.server.post(Developer.path, ["username": "alice"]).status == 403)
            #expect(!world.server.log.says("development sign-in"))
            _ = try await developer.submit(page, as: "alice")
            #expect(world.server.log.lines.contains { $0.hasPrefix("warning development sign-in") })
        }
    }

    @Test("Development sign-in leads to the account page too, and the normal login page still signs users in")
    func ownPages() async throws {
        try await World.with(.sqlite, isDevelopment: true) { world in
            var developer = Developer(world)
            let login = try await developer.page(at: "/login")
            #expect(login.body.contains("name=\"username\"") && !login.body.contains("name=\"error\""))
            let user = try await developer.page(at: "/account")
            let way = try await developer.submit(user, as: "alice")
            #expect(way.header("location") == "/account")
            #expect(try await developer.browser.isSignedIn())

            var normal = Browser(world.server)
            let page = try await normal.open("/login?page=people")
            #expect(page.body.contains("name=\"password\""))
            _ = try await normal.submit(page, ["email": World.email, "password": World.password])
            #expect(try await normal.isSignedIn())
        }
    }
}
