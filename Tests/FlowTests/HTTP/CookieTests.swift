import JSON
import TestSupport
import Testing
import Values

@Suite("A browser without cookies is told that they are needed")
struct CookieTests {
    private static let title = "Cookies are needed here"

    /// Posts the form of the page at `path`, whose cookie is not kept.
    private func submit(
        _ path: String, _ fields: [String: String] = [:], to action: String? = nil, headers: [String: String] = [:],
        cookies: [String: String] = [:], in world: World
    ) async throws -> Answer {
        let page = try await world.server.get(path)
        let form = page.fields.merging(fields) { $1 }.map { ($0.key, $0.value) }
        let action = try #require(action ?? page.formAction, "\(page)")
        return try await world.server.post(action, form: form, cookies: cookies, headers: headers)
    }

    @Test("A form without any cookie gets a page that says that cookies are needed, and changes nothing")
    func forms() async throws {
        try await World.with(.sqlite) { world in
            let credentials = ["email": World.email, "password": World.password]
            let waiting = world.authorizeAddress()
            for path in ["/login", "/signup", waiting] {
                let answer = try await submit(path, credentials, in: world)
                #expect(answer.status == 403 && answer.body.contains(Self.title), "\(path): \(answer)")
                #expect(answer.setCookie("spindle_session") == nil)
            }
            for (path, action) in [
                ("/login", "/login/code"), (waiting, "/login/code"), ("/password", "/password"), ("/login", "/logout"),
                ("/login", "/account/profile"), ("/login", "/login/code/check"), ("/login", "/account/restore"),
                (waiting, "/oauth/consent"), (waiting, "/login/pick"), ("/login", "/verify"),
                ("/login", "/verify/check"),
                ("/login", "/password/reset/x"), ("/login", "/signup/confirm/x"), ("/login", "/signup/address/x"),
                ("/login", "/auth/session/x"), ("/login", "/account/email/check"),
            ] {
                let answer = try await submit(path, credentials, to: action, in: world)
                #expect(answer.status == 403 && answer.body.contains(Self.title), "\(action): \(answer)")
            }
            #expect(world.server.mail.letters.isEmpty)
        }
    }

    @Test(
        "The page that says that cookies are needed is in the user's language",
        arguments: [
            ("en", "Cookies are needed here"), ("no", "Informasjonskapsler må være tillatt"),
            ("sv", "Här behövs kakor"), ("de", "Hier werden Cookies gebraucht"),
        ])
    func languages(language: String, title: String) async throws {
        try await World.with(.sqlite) { world in
            for path in ["/login", world.authorizeAddress()] {
                let answer = try await submit(path, headers: ["Accept-Language": language], in: world)
                #expect(answer.body.contains("<h1>\(title)</h1>"), "\(answer)")
            }
        }
    }

    @Test("A page opened without a cookie sets one and redirects once; if it is not sent back, the user is told")
    func steps() async throws {
        try await World.with(.sqlite) { world in
            let sent = try await world.server.get(world.authorizeAddress(["prompt": "create"]))
            let step = try #require(sent.header("location"))
            #expect(step.hasPrefix("/signup?continue="))
            let asked = try await world.server.get(step)
            #expect(asked.status == 303 && asked.cookie("spindle_form") != nil, "\(asked)")
            let again = try #require(asked.header("location"))
            #expect(again == step + "&cookie_check=1")
            let told = try await world.server.get(again)
            #expect(told.status == 403 && told.body.contains(Self.title), "\(told)")
        }
    }

    @Test("A waiting request's link opened in another browser gets an out-of-date page, not one about cookies")
    func anotherBrowser() async throws {
        try await World.with(.sqlite) { world in
            var first = Browser(world.server)
            let waiting = try await world.begin(world.authorizeAddress(), in: &first)
            for path in ["/signup", "/login", "/password", "/oauth/authorize"] {
                var other = Browser(world.server)
                let over = try await other.open("\(path)?continue=\(waiting)")
                #expect(over.status == 410 && !over.body.contains(Self.title), "\(over)")
            }
            #expect(try await first.open("/signup?continue=\(waiting)").status == 200)
        }
    }

    @Test("A form whose cookie is gone does not get the page about cookies if another cookie of ours is sent")
    func closedBrowser() async throws {
        try await World.with(.sqlite) { world in
            let device = ["spindle_device": String(repeating: "A", count: 43)]
            let answer = try await submit("/login", cookies: device, in: world)
            #expect(answer.status == 403 && answer.body.contains("Please try again"), "\(answer)")
            let waiting = try await submit(world.authorizeAddress(), cookies: device, in: world)
            #expect(waiting.status == 410 && waiting.body.contains("This page is out of date"), "\(waiting)")
        }
    }

    @Test("A form from another site gets a page that says to try again, not the page about cookies")
    func anotherSite() async throws {
        try await World.with(.sqlite) { world in
            for headers in [["Origin": "https://evil.example"], ["Sec-Fetch-Site": "cross-site"]] {
                let answer = try await submit("/login", headers: headers, in: world)
                #expect(answer.status == 403 && answer.body.contains("Please try again"), "\(answer)")
            }
        }
    }

    @Test("A user who returns from an issuer without cookies is told that cookies are needed")
    func provider() async throws {
        try await StandInStory.with(.sqlite) { story in
            var browser = Browser(story.here.server)
            let departure = try await story.leave(&browser)
            let address = "\(story.callback)?code=a-code&state=\(departure.state)"
            let asked = try await story.here.server.get(address)
            #expect(asked.status == 303, "\(asked)")
            let told = try await story.here.server.get(try #require(asked.header("location")))
            #expect(told.status == 403 && told.body.contains(Self.title), "\(told)")
            story.grant(story.claims(departure))
            #expect(try await story.comeBack(departure, in: &browser).status == 303, "it is not spent")
        }
    }
}
