import JSON
import TestSupport
import Testing
import Values

@Suite("Several users in one browser, and the page on which prompt=select_account lets them choose")
struct PickerTests {
    private let asks: KeyValuePairs<String, String> = ["prompt": "select_account"]

    @Test(
        "The account picker lets the signed-in user continue with one press, without a password",
        arguments: Backend.available)
    func goesOn(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let session = browser.session
            let page = try await browser.open(world.authorizeAddress(asks))
            #expect(page.isPicker && page.words.contains("Continue as <bdi>Ada Lovelace</bdi>"), "\(page)")
            #expect(page.words.contains(World.email) && !page.body.contains("type=\"password\""))
            let answer = try await browser.pick(try #require(page.choices.first), on: page)
            #expect(try await world.user(of: answer) == world.user)
            #expect(browser.session == session)
            // The next request asks again.
            #expect(try await browser.open(world.authorizeAddress(asks)).isPicker)
            #expect(try await browser.open(world.authorizeAddress()).redirected("code") != nil)
        }
    }

    @Test(
        "The account picker lets a second user sign in, and the first be chosen again without a password",
        arguments: Backend.available)
    func another(backend: Backend) async throws {
        try await World.with(backend) { world in
            let bob = try await world.person("bob@example.com")
            var browser = Browser(world.server)
            try await browser.signIn()
            let answer = try await browser.useAnother(world.authorizeAddress(asks), as: "bob@example.com")
            #expect(try await world.user(of: answer) == bob)
            let page = try await browser.open(world.authorizeAddress(asks))
            try #require(page.choices.count == 2, "\(page)")
            #expect(page.words.contains("Ada Lovelace") && page.words.contains("bob@example.com"))
            let back = try await browser.pick(page.choices[1], on: page)
            #expect(try await world.user(of: back) == world.user)
            // One session is current: without the picker Ada's is used.
            #expect(try await world.user(of: try await browser.open(world.authorizeAddress())) == world.user)
            #expect(try await browser.open("/login").words.contains(World.email))
        }
    }

    @Test("Set-aside sessions are in an HttpOnly cookie, four at most; a fifth ends the oldest")
    func bounded() async throws {
        try await World.with(.sqlite) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let first = try #require(browser.session)
            for number in 1...5 {
                let email = "user\(number)@example.com"
                _ = try await world.person(email)
                let page = try await browser.open(world.authorizeAddress(asks))
                let another = try await browser.submit(page, ["decision": "another"])
                let cookie = try #require(another.setCookie("spindle_others"))
                #expect(cookie.contains("; HttpOnly") && cookie.contains("Path=/") && !cookie.contains("Max-Age"))
                #expect(another.setCookie("spindle_session")?.contains("Max-Age=0") == true)
                let login = try await browser.open(try #require(another.header("location")))
                _ = try await browser.submit(login, ["email": email, "password": World.password])
            }
            #expect(try #require(browser.others).split(separator: ".").count == 4)
            let page = try await browser.open(world.authorizeAddress(asks))
            #expect(page.choices.count == 5 && !page.words.contains("Ada Lovelace"))
            let old = try await world.server.get("/login", cookies: ["spindle_session": first])
            #expect(!old.body.contains("You are signed in"))
        }
    }

    @Test("The account picker does not offer a session that has ended", arguments: Backend.available)
    func ended(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("bob@example.com")
            var browser = Browser(world.server)
            try await browser.signIn()
            _ = try await browser.useAnother(world.authorizeAddress(asks), as: "bob@example.com")
            #expect(try await browser.open(world.authorizeAddress(asks)).choices.count == 2)
            #expect(try await world.change("users", world.user, ["disabled": true]).status == 200)
            let page = try await browser.open(world.authorizeAddress(asks))
            #expect(page.isPicker && page.choices.count == 1 && page.words.contains("bob@example.com"))
        }
    }

    @Test(
        "A set-aside session ends when it is not used, and being listed in the picker does not count as use",
        arguments: Backend.available)
    func unused(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("bob@example.com")
            var browser = Browser(world.server)
            try await browser.signIn()
            _ = try await browser.useAnother(world.authorizeAddress(asks), as: "bob@example.com")
            world.server.clock.advance(by: .minutes(70))
            #expect(try await browser.open(world.authorizeAddress(asks)).choices.count == 2)
            world.server.clock.advance(by: .minutes(60))
            #expect(try await browser.open(world.authorizeAddress(asks)).choices.count == 1)
        }
    }

    @Test(
        "Signing out at /logout ends the browser's current session and all set-aside ones",
        arguments: Backend.available)
    func signOut(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("bob@example.com")
            for isCurrent in [true, false] {
                var browser = Browser(world.server)
                try await browser.signIn()
                let first = try #require(browser.session)
                let page = try await browser.open(world.authorizeAddress(asks))
                if isCurrent {
                    _ = try await browser.useAnother(world.authorizeAddress(asks), as: "bob@example.com")
                } else {
                    _ = try await browser.submit(page, ["decision": "another"])
                }
                let question = try await browser.open("/logout")
                #expect(question.body.contains("Sign out?"))
                let out = try await browser.submit(question)
                #expect(out.body.contains("You are signed out") && browser.others == nil && browser.session == nil)
                let old = try await world.server.get("/login", cookies: ["spindle_session": first])
                #expect(!old.body.contains("You are signed in"))
            }
        }
    }

    @Test(
        "Only the picker's own form, in a browser that holds the chosen session, switches the current user",
        arguments: Backend.available)
    func forged(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("bob@example.com")
            var browser = Browser(world.server)
            try await browser.signIn()
            _ = try await browser.useAnother(world.authorizeAddress(asks), as: "bob@example.com")
            let session = browser.session
            let page = try await browser.open(world.authorizeAddress(asks))
            let adas = page.choices[1]
            let attempts = [
                try await browser.submit(page, ["session": adas], headers: ["Origin": "https://evil.example"]),
                try await browser.submit(page, ["session": adas], headers: ["Sec-Fetch-Site": "cross-site"]),
                try await browser.submit(page, ["session": adas, "form_token": "guess"]),
            ]
            for attempt in attempts { #expect(attempt.status == 403 && attempt.header("set-cookie") == nil) }
            let link = try await browser.open("/login/pick?session=\(adas)")
            #expect(link.status == 303 && link.header("set-cookie") == nil && browser.session == session)
            // The id of a session is no secret: only a browser that holds its secret can go on with it.
            var other = Browser(world.server)
            try await other.signIn(as: "bob@example.com")
            let theirs = try await other.open(world.authorizeAddress(asks))
            let kept = other.session
            #expect(try await other.pick(adas, on: theirs).isPicker)
            #expect(other.session == kept)
        }
    }

    @Test("A client's max_age and prompt=login apply to the user chosen in the picker", arguments: Backend.available)
    func demands(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("bob@example.com")
            var browser = Browser(world.server)
            try await browser.signIn()
            world.server.clock.advance(by: .minutes(10))
            _ = try await browser.useAnother(world.authorizeAddress(asks), as: "bob@example.com")
            let demand: KeyValuePairs = ["prompt": "select_account", "max_age": "300"]
            let page = try await browser.open(world.authorizeAddress(demand))
            let old = try await browser.pick(page.choices[1], on: page)
            #expect(old.formAction == "/login" && old.words.contains(World.email), "her sign-in is too old: \(old)")
            for prompt in ["login", "login select_account"] {
                let anew = try await browser.open(world.authorizeAddress(["prompt": prompt]))
                #expect(anew.formAction == "/login", "\(prompt)")
            }
            // Without a current user a silent request gets login_required.
            let again = try await browser.open(world.authorizeAddress(asks))
            _ = try await browser.submit(again, ["decision": "another"])
            let silent = try await browser.open(world.authorizeAddress(["prompt": "none"]))
            #expect(silent.redirected("error") == "login_required")
            #expect(try await browser.open(world.authorizeAddress()).isPicker, "instead of the sign-in page")
        }
    }
}
