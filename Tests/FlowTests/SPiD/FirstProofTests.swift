import JSON
import Mail
import Storage
import TestSupport
import Testing
import Values

/// An attacker creates a user with another user's address, and waits for the owner. Here Mallory made Ada's user: the
/// address is not verified, and Mallory has the password, a token and a session, and attached a Facebook account.
@Suite("The first proof of an address ends what others had made of its user") struct FirstProofTests {
    // MARK: Links to providers

    private struct Trap {
        let story: ProviderStory
        let token: String
        let refresh: String
        var browser: BrowserUser

        init(_ story: ProviderStory) async throws {
            self.story = story
            story.facebook("mallorys", "666")
            let signedIn = try await story.world.signIn(with: story.phone)
            token = try signedIn.require("access_token")
            refresh = try signedIn.require("refresh_token")
            browser = BrowserUser(story.world)
            try await browser.browser.signIn()
            let jwt = story.sign(story.claims(.attach, "facebook", "mallorys"))
            #expect(try await story.attach(jwt, to: signedIn).status == 200)
            #expect(try await story.world.server.mail.letter(to: World.email).text.contains("Facebook"))
        }

        mutating func waysIn() async throws -> [String] {
            var ways: [String] = []
            if try await story.logIn("facebook", "mallorys").status == 200 { ways.append("Facebook") }
            if try await story.world.isLive(token) { ways.append("token") }
            if try await story.world.refresh(refresh, as: story.phone).status == 200 { ways.append("refresh token") }
            if try await browser.isSignedIn() { ways.append("session") }
            if try await story.world.signIn(with: story.phone).status == 200 { ways.append("password") }
            return ways
        }
    }

    private func signInByMail(_ visitor: inout BrowserUser) async throws {
        let page = try await visitor.press(
            try await visitor.browser.open("/login"), action: "/login/code", ["email": World.email])
        let code = try #require(try await visitor.world.server.mail.letter(to: World.email).code)
        #expect(try await visitor.browser.submit(page, ["code": code]).status == 303)
        #expect(try await visitor.isSignedIn())
    }

    private func resetPassword(_ visitor: inout BrowserUser, to password: String) async throws {
        _ = try await visitor.fill("/password", ["email": World.email])
        let letter = try await visitor.world.server.mail.letter(to: World.email)
        let link = try #require(letter.link(containing: "/password/reset/"))
        let path = link.replacing("http://spindle.test", with: "")
        #expect(try await visitor.fill(path, ["password": password]).status == 303)
        #expect(try await visitor.isSignedIn())
        _ = try await visitor.world.server.mail.letter(to: World.email)
    }

    @Test(
        "The first password reset for an unverified address ends provider links that were made earlier",
        arguments: Backend.available)
    func passwordReset(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            var trap = try await Trap(story)
            var owner = BrowserUser(story.world)
            try await resetPassword(&owner, to: "the owner's own loom")
            #expect(try await trap.waysIn() == [])
            #expect(try await story.logIn("facebook", "mallorys").error == "unknown_user")
        }
    }

    @Test(
        "The first sign-in by mailed code ends the password, tokens, sessions and links that existed earlier",
        arguments: Backend.available)
    func mailedCode(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            var trap = try await Trap(story)
            var owner = BrowserUser(story.world)
            try await signInByMail(&owner)
            #expect(try await trap.waysIn() == [])
            #expect(try await owner.isSignedIn())
        }
    }

    @Test(
        "An administrator's new password for an unverified address ends the user's earlier provider links",
        arguments: Backend.available)
    func administration(_ backend: Backend) async throws {
        let ways: [JSON] = [
            ["password": "the owner's own loom", "email_verified": true], ["password": "the owner's own loom"],
            ["email": "own@example.com", "email_verified": true, "password": "the owner's own loom"],
        ]
        for way in ways {
            try await ProviderStory.with(backend) { story in
                var trap = try await Trap(story)
                try await story.world.change("users", story.world.user, way)
                #expect(try await trap.waysIn() == [])
                #expect(try await story.logIn("facebook", "mallorys").error == "unknown_user")
            }
        }
    }

    @Test(
        "An administrator's new address and password for a user end the user's earlier provider links",
        arguments: Backend.available)
    func newAddress(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            try await story.world.change("users", story.world.user, ["email_verified": true])
            var trap = try await Trap(story)
            try await story.world.change(
                "users", story.world.user,
                ["email": "own@example.com", "email_verified": true, "password": "the owner's own loom"])
            #expect(try await trap.waysIn() == [])
            #expect(try await story.logIn("facebook", "mallorys").error == "unknown_user")
        }
    }

    @Test(
        "An administrator's new password for a verified address keeps the user's provider links",
        arguments: Backend.available)
    func administrationOfProved(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            try await story.world.change("users", story.world.user, ["email_verified": true])
            var own = try await Trap(story)
            try await story.world.change("users", story.world.user, ["password": "the owner's own loom"])
            #expect(try await own.waysIn() == ["Facebook"])
        }
    }

    @Test(
        "A mailed code for an already verified address keeps the user's links, tokens, sessions and password",
        arguments: Backend.available)
    func later(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            try await story.world.change("users", story.world.user, ["email_verified": true])
            var own = try await Trap(story)
            var owner = BrowserUser(story.world)
            try await signInByMail(&owner)
            #expect(try await own.waysIn() == ["Facebook", "token", "refresh token", "session", "password"])
            try await resetPassword(&owner, to: "the owner's own loom")
            #expect(try await own.waysIn() == ["Facebook"], "a new password ends tokens and sessions, not links")
            #expect(try await owner.browser.open("/account").body.contains("<bdi>Facebook</bdi>"))
            let removed = try await owner.browser.submit(
                try await owner.browser.open("/account"), try await owner.firstLink(), to: "/account/links/remove")
            #expect(removed.header("location") == "/account?done=link")
            #expect(try await own.waysIn() == [])
            #expect(try await !owner.browser.open("/account").body.contains("/account/links/remove"))
        }
    }

    // MARK: Clients that signed the user up
    // Mallory's backend signs Grace up with her address and a password, and accepts terms. Grace never met it. Later
    // she finds a user with her address, and takes it over.

    private static let email = "grace@example.com"
    private static let password = "a quite unlikely loom"

    private struct SignUpTrap {
        let world: World
        let mallory: World.Actor
        let token: String
        let id: String

        init(_ world: World, password: String? = FirstProofTests.password) async throws {
            self.world = world
            mallory = try await world.spidBackend(["tos_uri": "https://mallory.example/terms"], of: world.rival)
            token = try await world.clientToken(mallory)
            var form = [("email", FirstProofTests.email), ("name", "Grace")]
            if let password { form.append(("password", password)) }
            let made = try await world.server.post("/api/2/signup", form: form, bearer: token)
            id = try #require(made.data["userId"]?.string)
        }

        /// What Mallory's client can read.
        func sights() async throws -> [String] {
            var sights: [String] = []
            let user = try await world.api("user/\(id)", token)
            if user.status == 200 { sights.append(user.data["email"] == nil ? "short" : "full") }
            if try await world.api("users", token).data != [] { sights.append("list") }
            if try await world.api("user/\(id)/agreements", token).status == 200 { sights.append("agreements") }
            if try await world.api("user/\(id)/logins", token).status == 200 { sights.append("logins") }
            return sights
        }

        func agreements() async throws -> Int {
            try await world.server.database.read { db in
                try db.rows("SELECT client_id FROM agreements").count
            }
        }
    }

    private static let all = ["full", "list", "agreements", "logins"]
    private static let settings = ["terms": "https://spindle.example/terms"]

    private func reset(_ visitor: inout BrowserUser, _ path: String = "/password", letters: Int = 2) async throws {
        var letter: MailMessage?
        if letters == 2 { _ = try await visitor.world.server.mail.letter(to: Self.email) }
        if letters > 0 { _ = try await visitor.fill(path, ["email": Self.email]) }
        letter = try await visitor.world.server.mail.letter(to: Self.email)
        let link = try #require(letter?.link(containing: "/password/reset/"))
        let page = link.replacing("http://spindle.test", with: "")
        #expect(try await visitor.fill(page, ["password": "Grace's own loom"]).status == 303)
        #expect(try await visitor.isSignedIn())
    }

    @Test(
        "A first password reset hides the user from the client that signed them up, and ends its agreements",
        arguments: Backend.available)
    func password(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let trap = try await SignUpTrap(world)
            #expect(try await trap.sights() == Self.all)
            #expect(try await trap.agreements() == 2)
            var grace = BrowserUser(world)
            try await reset(&grace)
            #expect(try await trap.sights() == [])
            #expect(try await trap.agreements() == 0, "only Grace agrees in her name")
            #expect(try await !grace.browser.open("/account").body.contains("SPiD&#39;s ways"))
            // Grace may still use the client.
            let own = try await world.signIn(with: trap.mallory, as: Self.email, password: "Grace's own loom")
            #expect(own.status == 200)
            #expect(try await trap.sights() == Self.all)
        }
    }

    @Test(
        "A first sign-in by mailed code hides the user from a client that had signed the user up",
        arguments: Backend.available)
    func code(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let trap = try await SignUpTrap(world)
            _ = try await world.server.mail.letter(to: Self.email)
            var grace = BrowserUser(world)
            let page = try await grace.press(
                try await grace.browser.open("/login"), action: "/login/code", ["email": Self.email])
            let code = try #require(try await world.server.mail.letter(to: Self.email).code)
            #expect(try await grace.browser.submit(page, ["code": code]).status == 303)
            #expect(try await trap.sights() == [])
            #expect(try await trap.agreements() == 0)
        }
    }

    @Test(
        "A first password reset that returns to the client that signed the user up hides the user from it too",
        arguments: Backend.available)
    func chosenWay(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            for path in ["/signup/return", "/oauth/authorize"] {
                let trap = try await SignUpTrap(world)
                let onward = TestServer.encode("\(path)?client_id=\(trap.mallory.id)")
                var grace = BrowserUser(world)
                try await reset(&grace, "/password?continue=\(onward)")
                #expect(try await trap.sights() == [], "\(path)")
                _ = try await world.server.mail.letter(to: Self.email)
                #expect(
                    try await world.server.send("DELETE", "/admin/v1/users/\(trap.id)", bearer: world.admin).status
                        == 204)
                _ = try await world.server.mail.letter(to: Self.email)
            }
        }
    }

    @Test(
        "A password set by the sign-up's own mail does not hide the user from the client that signed them up",
        arguments: Backend.available)
    func chosen(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let trap = try await SignUpTrap(world, password: nil)
            let other = try await world.spidBackend(of: world.rival)
            try await world.connect(trap.id, to: other)
            var grace = BrowserUser(world)
            try await reset(&grace, letters: 0)
            #expect(try await trap.sights() == Self.all)
            #expect(try await trap.agreements() == 2)
            let seen = try await world.api("user/\(trap.id)", trap.token).data["accounts"]
            #expect(seen?.members?.map(\.name) == [trap.mallory.id], "and nothing of others")
        }
    }
}

extension World {
    /// Connects a user to a client that the user never used.
    fileprivate func connect(_ user: String, to client: Actor) async throws {
        let (user, now) = (try #require(Int64(user)), server.clock.now)
        try await server.database.write { db in
            _ = try db.execute(
                """
                INSERT INTO connections (user_id, client_id, created_at) VALUES (\(user), \(client.id), \(now))
                """)
        }
    }
}
