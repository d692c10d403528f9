import Authentication
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("An authorization request waits on the server while its user is asked, and pages carry its id")
struct InteractionPageTests {
    private static let credentials = ["email": World.email, "password": World.password]

    private func expectGone(_ answer: Answer, _ what: Comment? = nil) {
        #expect(answer.status == 410 && answer.isPage, what)
        #expect(answer.body.contains("Go back to the app and start again."), what)
        #expect(answer.header("location") == nil, what)
    }

    private func rows(_ world: World) async throws -> Int {
        try await world.server.database.read { db in try db.rows("SELECT fingerprint FROM interactions").count }
    }

    @Test(
        "Sign-in and consent pages carry only the id of the authorization request, not its parameters",
        arguments: Backend.available)
    func idAlone(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            let login = try await browser.open(
                world.authorizeAddress(["state": "a rare state", "scope": "profile"], for: client))
            let signedIn = try await browser.submit(login, Self.credentials)
            let consent = try await browser.open(try #require(signedIn.header("location")))
            #expect(consent.body.contains("Allow access?"))
            for page in [login, consent] {
                #expect((page.fields["continue"] ?? page.fields["request"])?.utf8.count == 55)
                for part in ["a rare state", "a%20rare%20state", "redirect_uri", challenge, "stranger.example"] {
                    #expect(!page.body.contains(part), "\(part)")
                }
            }
        }
    }

    @Test(
        "An authorization request answered without a page is not stored as a waiting request",
        arguments: Backend.available)
    func noRow(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            _ = try await browser.open(world.authorizeAddress(["prompt": "none"]))
            try await browser.signIn()
            #expect(try await browser.open(world.authorizeAddress()).redirected("code") != nil)
            #expect(try await browser.open(world.authorizeAddress(["prompt": "none"])).redirected("code") != nil)
            #expect(try await rows(world) == 0)
            _ = try await browser.open(world.authorizeAddress(["prompt": "login"]))
            #expect(try await rows(world) == 1)
        }
    }

    @Test("The login page can be submitted again after Back; with prompt=login each sign-in gives one code")
    func backButton() async throws {
        try await World.with(.sqlite) { world in
            var browser = Browser(world.server)
            let page = try await browser.open(world.authorizeAddress(["prompt": "login"]))
            for _ in 1...2 {
                let signedIn = try await browser.submit(page, Self.credentials)
                let way = try #require(signedIn.header("location"))
                #expect(try await browser.open(way).redirected("code") != nil)
                // The answer was for one sign-in: its address brings no second code.
                #expect(try await browser.open(way).formAction == "/login")
            }
        }
    }

    @Test("Two tabs of a browser each go on with their own authorization request", arguments: Backend.available)
    func twoTabs(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            var tabs: [(state: String, page: Answer)] = []
            for state in ["first", "second"] {
                let address = world.authorizeAddress(["state": state, "scope": "profile"], for: client)
                tabs.append((state, try await browser.open(address)))
            }
            var consents: [(state: String, page: Answer)] = []
            for tab in tabs {
                let signedIn = try await browser.submit(tab.page, Self.credentials)
                consents.append((tab.state, try await browser.open(try #require(signedIn.header("location")))))
            }
            // Denied in one tab, it still waits in the other.
            let denied = try await world.answer(consents[0].page, in: browser, "deny")
            #expect(denied.redirected("error") == "access_denied" && denied.redirected("state") == "first")
            let allowed = try await world.allow(consents[1].page, in: &browser, ticking: ["profile"])
            #expect(allowed.redirected("code") != nil && allowed.redirected("state") == "second")
        }
    }

    @Test("A mailed sign-up link leads on to the app after 23 hours, and is refused as spent after 25")
    func lateLink() async throws {
        try await World.with(.sqlite) { world in
            for (email, hours, isLive) in [("grace@example.com", 23, true), ("bob@example.com", 25, false)] {
                var visitor = BrowserUser(world)
                _ = try await visitor.signUp(email, continueTo: world.authorizeAddress())
                let link = try #require(
                    try await world.server.mail.letter(to: email).link(containing: "/signup/confirm/"))
                world.server.clock.advance(by: .hours(Int64(hours)))
                let page = try await visitor.browser.open(link.replacing("http://spindle.test", with: ""))
                #expect(page.status == (isLive ? 200 : 410))
                guard isLive else { continue }
                let done = try await visitor.browser.submit(page)
                #expect(try await visitor.follow(done).redirected("code") != nil)
            }
        }
    }

    @Test("After a password reset in a second browser, both browsers can continue to the app")
    func otherBrowser() async throws {
        try await World.with(.sqlite) { world in
            var visitor = BrowserUser(world)
            let page = try await visitor.browser.open(world.authorizeAddress(["state": "here"]))
            let waiting = try #require(page.fields["continue"])
            _ = try await visitor.fill("/password?continue=\(waiting)", ["email": World.email])
            let link = try #require(
                try await world.server.mail.letter(to: World.email).link(containing: "/password/reset/"))
            var reader = BrowserUser(world)
            let form = try await reader.browser.open(link.replacing("http://spindle.test", with: ""))
            let done = try await reader.browser.submit(form, ["password": "a brand new loom"])
            #expect(done.redirected("continue") != waiting)
            // The request may be a stranger's, who would learn who resets a password.
            let unseen = try await reader.follow(done)
            #expect(unseen.status == 200 && unseen.words.contains("They learn who you are when you continue."))
            let there = try await reader.follow(try await reader.browser.submit(unseen, ["decision": "continue"]))
            #expect(there.redirected("code") != nil && there.redirected("state") == "here")
            let signedIn = try await visitor.browser.submit(
                page, ["email": World.email, "password": "a brand new loom"])
            #expect(try await visitor.follow(signedIn).redirected("code") != nil)
        }
    }

    @Test(
        "An authorization request that waits can be continued at another process of the server",
        arguments: Backend.available)
    func restart(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let page = try await browser.open(world.authorizeAddress(["prompt": "login"]))
            try await world.server.beside { next in
                browser.move(to: next)
                let signedIn = try await browser.submit(page, Self.credentials)
                browser.move(to: world.server)
                #expect(
                    try await browser.open(try #require(signedIn.header("location"))).redirected("code") != nil)
            }
        }
    }

    @Test("An authorization request id that is edited, expired or another browser's gets a start-again page")
    func gone() async throws {
        try await World.with(.sqlite) { world in
            var browser = Browser(world.server)
            let page = try await browser.open(world.authorizeAddress())
            let id = try #require(page.fields["continue"])
            let edited = String(id.dropLast()) + (id.hasSuffix("A") ? "B" : "A")
            var other = Browser(world.server)
            _ = try await other.open("/login")
            let paths = ["/oauth/authorize", "/login", "/signup", "/password", "/login/with/any"]
            for path in paths {
                expectGone(try await browser.open("\(path)?continue=\(edited)"), "\(path)")
                expectGone(try await other.open("\(path)?continue=\(id)"), "\(path)")
                var fresh = Browser(world.server)
                expectGone(try await fresh.open("\(path)?continue=\(id)"), "\(path)")
            }
            expectGone(try await other.open("/oauth/authorize?continue=\(id)&prompt=select_account"))
            let theirs = try await other.open("/login")
            expectGone(try await other.submit(theirs, Self.credentials.merging(["continue": id]) { $1 }))
            for decision in ["allow", "deny", "cancel", "continue"] {
                let form = ["form_token": theirs.fields["form_token"] ?? "", "request": id, "decision": decision]
                expectGone(
                    try await world.server.post("/oauth/consent", form: form.map { ($0, $1) }, cookies: other.cookies))
            }
            #expect(other.session == nil)
            world.server.clock.advance(by: Interaction.lifetime)
            for path in paths { expectGone(try await browser.open("\(path)?continue=\(id)"), "\(path)") }
            expectGone(try await browser.submit(page, Self.credentials))
        }
    }

    @Test(
        "A continue parameter that a client adds to a new authorization request is ignored",
        arguments: Backend.available)
    func clientsOwn(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let id = try await world.begin(world.authorizeAddress(["state": "first"]), in: &browser)
            let page = try await browser.open(world.authorizeAddress(["state": "second"]) + "&continue=\(id)")
            let signedIn = try await browser.submit(page, Self.credentials)
            #expect(try await browser.open(try #require(signedIn.header("location"))).redirected("state") == "second")
        }
    }

    @Test("A login_hint does not keep another user from signing in for the authorization request")
    func anotherUser() async throws {
        try await World.with(.sqlite) { world in
            _ = try await world.person("grace@example.com")
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(["scope": "profile", "login_hint": World.email], for: client)
            let page = try await browser.open(address)
            let picker = try await browser.open(try page.requireLink(to: "/oauth/authorize?continue="))
            let login = try await browser.pressAnother(on: picker)
            #expect(login.formAction == "/login" && !login.words.contains(World.email))
            let signedIn = try await browser.submit(
                login, ["email": "grace@example.com", "password": World.password])
            let consent = try await browser.open(try #require(signedIn.header("location")))
            #expect(consent.words.contains("grace@example.com") && consent.boxes == ["profile"])
        }
    }

    @Test(
        "A request's select_account link, opened again, writes nothing to the database until a user signs in",
        arguments: Backend.available)
    func followedAgain(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let id = try await world.begin(world.authorizeAddress(), in: &browser)
            let link = "/oauth/authorize?continue=\(id)&prompt=select_account"
            #expect(try await browser.open(link).formAction == "/login")
            let before = world.server.interruptions.statementsWritten
            for _ in 1...3 { #expect(try await browser.open(link).formAction == "/login") }
            #expect(world.server.interruptions.statementsWritten == before)
            // A user who signs in meanwhile is set aside again.
            let signedIn = try await browser.submit(try await browser.open(link), Self.credentials)
            #expect(signedIn.header("location") != nil)
            let later = world.server.interruptions.statementsWritten
            _ = try await browser.open(link)
            #expect(world.server.interruptions.statementsWritten > later)
        }
    }

    @Test(
        "An IP address that began a thousand authorization requests gets 429, unless its user is signed in",
        arguments: Backend.available)
    func throttled(backend: Backend) async throws {
        try await World.with(backend) { world in
            let now = world.server.clock.now
            try await world.server.database.write { db in
                for _ in 1...1000 { _ = try InteractionThrottle.charge(from: "127.0.0.1", at: now, in: db) }
            }
            var browser = Browser(world.server)
            let slowed = try await browser.open(world.authorizeAddress())
            #expect(slowed.status == 429 && slowed.isPage && slowed.header("retry-after") == "1")
            #expect(try await rows(world) == 0)
            // A signed-in user does not wait.
            try await browser.signIn()
            #expect(try await browser.open(world.authorizeAddress()).redirected("code") != nil)
        }
    }
}
