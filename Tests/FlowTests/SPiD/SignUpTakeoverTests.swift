import JSON
import Mail
import Storage
import TestSupport
import Testing

/// Mallory's backend signs Grace up with her address, knows the password, and shows the terms to itself. Grace never
/// met it. Later she finds a user with her address, and takes the account over.
@Suite("A client that signed a user up unasked loses sight of them once the user takes the account over")
struct SignUpTakeoverTests {
    private static let email = "grace@example.com"
    private static let password = "a quite unlikely loom"

    private struct Trap {
        let world: World
        let mallory: World.Actor
        let token: String
        let id: String

        init(_ world: World, password: String? = SignUpTakeoverTests.password) async throws {
            self.world = world
            mallory = try await world.spidBackend(["tos_uri": "https://mallory.example/terms"], of: world.rival)
            token = try await world.clientToken(mallory)
            var form = [("email", SignUpTakeoverTests.email), ("name", "Grace")]
            if let password { form.append(("password", password)) }
            let made = try await world.server.post("/api/2/signup", form: form, bearer: token)
            id = try #require(made.data["userId"]?.string)
        }

        /// What Mallory's client sees.
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
        "A password reset ends the view of a client that had signed the user up, and its agreements",
        arguments: Backend.available)
    func password(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let trap = try await Trap(world)
            #expect(try await trap.sights() == Self.all)
            #expect(try await trap.agreements() == 2)
            var grace = BrowserUser(world)
            try await reset(&grace)
            #expect(try await trap.sights() == [])
            #expect(try await trap.agreements() == 0, "nobody but Grace agrees in her name")
            #expect(try await !grace.browser.open("/account").body.contains("SPiD&#39;s ways"))
            // Grace may still use it, if she wants to.
            let own = try await world.signIn(with: trap.mallory, as: Self.email, password: "Grace's own loom")
            #expect(own.status == 200)
            #expect(try await trap.sights() == Self.all)
        }
    }

    @Test(
        "A sign-in by mailed code ends the view of a client that had signed the user up, and its agreements",
        arguments: Backend.available)
    func code(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let trap = try await Trap(world)
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
        "A reset link that leads back to the client that had signed the user up ends its view too",
        arguments: Backend.available)
    func chosenWay(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            for path in ["/signup/return", "/oauth/authorize"] {
                let trap = try await Trap(world)
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
        "A password chosen by the mail of the sign-up itself keeps the view of the client that signed the user up",
        arguments: Backend.available)
    func chosen(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let trap = try await Trap(world, password: nil)
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
    /// Connects somebody to a client that they never used.
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
