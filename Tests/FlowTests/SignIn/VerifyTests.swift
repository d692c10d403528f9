import JSON
import Mail
import TestSupport
import Testing

@Suite("A client may require a verified address")
struct VerifyTests {
    @Test(
        "At a client that requires a verified address, a user first verifies it, and then returns to the app",
        arguments: Backend.available)
    func authorize(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("clients", world.app.id, ["require_verified_email": true])
            world.server.clock.advance(by: .seconds(2))
            var visitor = BrowserUser(world)
            let page = try await visitor.browser.open(world.authorizeAddress())
            let signedIn = try await visitor.browser.submit(
                page, ["email": World.email, "password": World.password])
            let sent = try await visitor.browser.open(try #require(signedIn.header("location")))
            let verify = try #require(sent.header("location"))
            #expect(verify.hasPrefix("/verify?continue="))
            let asked = try await visitor.browser.submit(try await visitor.browser.open(verify))
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            let done = try await visitor.browser.submit(asked, ["code": code])
            let back = try await visitor.browser.open(try #require(done.header("location")))
            #expect(back.redirected("code") != nil)
            #expect(try await visitor.browser.open("/verify").header("location") == "/account", "once is enough")
        }
    }

    @Test(
        "If a client requires a verified address, the password grant says so only for the right password",
        arguments: Backend.available)
    func passwordGrant(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("clients", world.app.id, ["require_verified_email": true])
            world.server.clock.advance(by: .seconds(2))
            let right = try await world.signIn()
            #expect(right.error == "invalid_grant")
            #expect(right.json["error_description"]?.string?.contains("verified") == true)
            let wrong = try await world.signIn(password: "not the password")
            #expect(wrong.json["error_description"]?.string?.contains("verified") == false)
            try await world.change("users", world.user, ["email_verified": true])
            #expect(try await world.signIn().status == 200)
        }
    }

    @Test(
        "The first proof of an address forgets other known browsers; a second proof forgets none",
        arguments: Backend.available)
    func places(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            try await visitor.browser.signIn()
            var other = BrowserUser(world)
            try await other.browser.signIn()
            #expect(try await world.rows(of: "known_devices", about: world.user) == 3, "two browsers at one address")
            let asked = try await visitor.browser.submit(try await visitor.browser.open("/verify"))
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            let second = try await visitor.browser.submit(try await visitor.browser.open("/verify"))
            #expect(try await visitor.browser.submit(asked, ["code": code]).status == 303)
            #expect(try await world.rows(of: "known_devices", about: world.user) == 2, "this one alone")
            var third = BrowserUser(world)
            try await third.browser.signIn()
            #expect(try await world.rows(of: "known_devices", about: world.user) == 3, "and a new one")
            let again = try await world.server.mail.letter(to: World.email).code
            #expect(try await visitor.browser.submit(second, ["code": try #require(again)]).status == 303)
            #expect(try await world.rows(of: "known_devices", about: world.user) == 3, "the second forgets none")
            #expect(try await visitor.isSignedIn())
        }
    }

    @Test("A code mailed to verify one user's address does not verify another user's", arguments: Backend.available)
    func otherUser(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("eve@example.com")
            var visitor = BrowserUser(world)
            try await visitor.browser.signIn()
            let asked = try await visitor.browser.submit(try await visitor.browser.open("/verify"))
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            let login = try await visitor.browser.open("/login?confirm=1&continue=%2Fverify")
            _ = try await visitor.browser.submit(login, ["email": "eve@example.com", "password": World.password])
            #expect(try await visitor.browser.submit(asked, ["code": code]).status == 410)
            let token = try await world.signIn(scope: "email", as: "eve@example.com").require("access_token")
            #expect(try await world.server.get("/me", bearer: token).json["email_verified"]?.bool == false)
        }
    }

    @Test(
        "A web view cannot verify an address until its user signs in, and a mailed code then ends older sign-ins",
        arguments: Backend.available)
    func bought(backend: Backend) async throws {
        try await World.with(backend) { world in
            // A stranger registered Ada's address with another password, and leads Ada's browser here.
            let phone = try await world.signIn()
            let code = try await world.sessionCode(of: phone)
            try await world.change("clients", world.app.id, ["require_verified_email": true])
            world.server.clock.advance(by: .seconds(2))
            var ada = BrowserUser(world)
            _ = try await ada.browser.open("/auth/session/\(code)")
            #expect(try await ada.browser.open("/verify").header("location") == "/login?confirm=1&continue=%2Fverify")
            let own = try await ada.browser.open("/login")
            let asked = try await ada.press(own, action: "/verify")
            #expect(asked.header("location") == "/login?confirm=1&continue=%2Fverify")
            #expect(world.server.mail.letters.isEmpty, "no code to type here")

            let sent = try await ada.browser.open(world.authorizeAddress())
            let verify = try await ada.browser.open(try #require(sent.header("location")))
            let login = try await ada.follow(verify)
            let form = try await ada.press(login, action: "/login/code", ["email": World.email])
            let typed = try #require(try await world.server.mail.letter(to: World.email).code)
            let back = try await ada.follow(try await ada.browser.submit(form, ["code": typed]))
            #expect(back.redirected("code") != nil, "the app's request goes on")
            #expect(try await world.signIn().error == "invalid_grant", "the stranger's password is gone")
            #expect(try await !world.isLive(try phone.require("access_token")))
        }
    }

    @Test("A user who requests too many codes at /verify is told how long to wait", arguments: Backend.available)
    func throttled(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = BrowserUser(world)
            try await visitor.browser.signIn()
            let page = try await visitor.browser.open("/verify")
            for _ in 1...30 { #expect(try await visitor.browser.submit(page).status == 200) }
            let refused = try await visitor.browser.submit(page)
            #expect(refused.status == 429 && refused.header("retry-after") == "120")
            #expect(refused.body.contains("role=\"alert\"") && refused.body.contains("2 minutes"))
        }
    }

    @Test(
        "After verifying at /verify the user still confirms the return to an app on the device",
        arguments: Backend.available)
    func tap(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("clients", world.app.id, ["require_verified_email": true])
            world.server.clock.advance(by: .seconds(2))
            var visitor = BrowserUser(world)
            try await visitor.browser.signIn()
            // Any program on the device may open this.
            let asked = try await ask(&visitor, at: world.authorizeAddress(["redirect_uri": World.scheme]))
            let page = try await visitor.follow(try await visitor.browser.submit(asked.page, ["code": asked.code]))
            #expect(page.status == 200 && page.isPage && page.header("location") == nil, "\(page)")
            #expect(page.words.contains("An app on this device asks."))
            let answered = try await visitor.browser.submit(page, ["decision": "continue"])
            let back = try await visitor.follow(answered)
            #expect(back.header("location")?.hasPrefix(World.scheme) == true && back.redirected("code") != nil)
        }
    }

    @Test(
        "Verifying at /verify does not sign the user in again to a client that they signed out of",
        arguments: Backend.available)
    func left(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("clients", world.app.id, ["require_verified_email": true])
            world.server.clock.advance(by: .seconds(2))
            var visitor = BrowserUser(world)
            try await visitor.browser.signIn()
            let silent = world.authorizeAddress(["prompt": "none"])
            #expect(try await visitor.browser.open(silent).redirected("error") == "interaction_required")
            let asked = try await ask(&visitor, at: world.authorizeAddress())
            let logout = try await visitor.browser.open("/logout?logout_scope=client&client_id=\(world.app.id)")
            #expect(try await visitor.browser.submit(logout).words.contains("signed out of"))
            world.server.clock.advance(by: .seconds(1))
            #expect(try await visitor.browser.open(silent).redirected("error") == "login_required")

            let picker = try await visitor.follow(try await visitor.browser.submit(asked.page, ["code": asked.code]))
            #expect(picker.isPicker && picker.header("location") == nil, "\(picker)")
            #expect(try await visitor.browser.open(silent).redirected("error") == "login_required")
            let back = try await visitor.browser.pick(try #require(picker.choices.first), on: picker)
            #expect(back.redirected("code") != nil, "the address is verified")
        }
    }

    /// Opens `address`, which leads to /verify, and asks for a code: the page to type it on, and the code.
    private func ask(_ visitor: inout BrowserUser, at address: String) async throws -> (page: Answer, code: String) {
        let sent = try await visitor.browser.open(address)
        let verify = try #require(sent.header("location"), "\(sent)")
        #expect(verify.hasPrefix("/verify?continue="))
        let form = try await visitor.browser.open(verify)
        let page = try await visitor.browser.submit(form)
        return (page, try #require(try await visitor.world.server.mail.letter(to: World.email).code))
    }

    @Test("The page /verify sends a browser without a session to sign in first")
    func withoutSession() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            let answer = try await visitor.browser.open("/verify")
            #expect(answer.status == 303)
            #expect(answer.header("location")?.hasPrefix("/login?continue=%2Fverify") == true)
        }
    }
}
