import JSON
import TestSupport
import Testing

@Suite("SPiD's addresses for signing in, signing up and new passwords")
struct EntranceTests {
    /// The query that SPiD's SDK for Java sends.
    private func query(_ client: World.Actor, _ more: String = "") -> String {
        "?client_id=\(client.id)&response_type=code&flow=signup&return_session=1&session_version=1"
            + "&redirect_uri=\(TestServer.encode(client.redirectURI))\(more)"
    }

    private func redeem(_ world: World, _ code: String, _ client: World.Actor) async throws -> Answer {
        let form = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", client.redirectURI)]
        return try await world.server.post("/oauth/token", form: form, basic: client.basic)
    }

    @Test(
        "The path /login with a client signs the user in and brings the client its code", arguments: Backend.available)
    func signIn(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            var browser = Browser(world.server)
            let way = try await browser.open("/login" + query(spid, "&state=s"))
            #expect(way.status == 303)
            let page = try await browser.open(try #require(way.header("location")))
            #expect(page.status == 200 && page.formAction == "/login")
            let signedIn = try await browser.submit(page, ["email": World.email, "password": World.password])
            let back = try await browser.open(try #require(signedIn.header("location")))
            #expect(back.redirected("state") == "s")
            let code = try back.requireRedirected("code")
            #expect(try await redeem(world, code, spid).status == 200)
            // Somebody who is signed in goes on without a password.
            let again = try await browser.open("/login" + query(spid))
            let through = try await browser.open(try #require(again.header("location")))
            #expect(
                try await browser.pick(try #require(through.choices.first), on: through).redirected("code") != nil)
        }
    }

    @Test(
        "The path /signup with a client signs the user up and brings the client its code", arguments: Backend.available)
    func signUp(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            var visitor = BrowserUser(world)
            let way = try await visitor.browser.open("/signup" + query(spid))
            let onward = try await visitor.browser.open(try #require(way.header("location")))
            let asked = try await visitor.fill(
                try #require(onward.header("location")), ["email": "new@example.com", "password": World.password])
            let letter = try await world.server.mail.letter(to: "new@example.com")
            let done = try await visitor.browser.submit(asked, ["code": try #require(letter.code)])
            let back = try await visitor.browser.open(try #require(done.header("location")))
            #expect(try await redeem(world, try back.requireRedirected("code"), spid).status == 200)
        }
    }

    @Test("The parameter cancel_url is the address to cancel to", arguments: Backend.available)
    func cancelling(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend(["web_origins": ["https://www.loom.example/news"]])
            let page = "https://www.loom.example/news/today"
            for (address, location) in [(page, page + "?spid_page=login"), ("https://evil.example/", nil)] {
                var browser = Browser(world.server)
                let way = try await browser.open("/login" + query(spid, "&cancel_url=\(TestServer.encode(address))"))
                let shown = try await browser.open(try #require(way.header("location")))
                #expect(shown.status == 200 && shown.body.contains("value=\"cancel\"") == (location != nil))
                guard let location else { continue }
                #expect(try await world.answer(shown, in: browser, "cancel").header("location") == location)
            }
        }
    }

    @Test("A request at /login or /signup that is too long to pass on gets 414, which names the limit")
    func tooLong() async throws {
        try await World.with(.sqlite) { world in
            let spid = try await world.spidBackend()
            for path in ["/login", "/signup"] {
                func get(_ state: String) async throws -> Answer {
                    try await world.server.get(path + query(spid, "&state=" + state))
                }
                #expect(try await get(String(repeating: "a", count: 7000)).status == 303)
                // Each of these is three bytes when it is passed on.
                let long = try await get(String(repeating: "!", count: 3000))
                #expect(long.status == 414 && long.isPage && long.body.contains("8000"), "\(long)")
            }
        }
    }

    @Test("An unknown client or address at /login or /signup gets a page that says so", arguments: Backend.available)
    func refusals(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            for query in [
                "?client_id=nobody&response_type=code&redirect_uri=https%3A%2F%2Fevil.example%2F",
                "?client_id=\(spid.id)&response_type=code&redirect_uri=https%3A%2F%2Fevil.example%2F",
                "?client_id=\(spid.id)&client_id=nobody&response_type=code",
            ] {
                for path in ["/login", "/signup"] {
                    let way = try await world.server.get(path + query)
                    let location = try #require(way.header("location"))
                    #expect(way.status == 303 && location.hasPrefix("/flow\(path)?"))
                    let page = try await world.server.get(location)
                    #expect(page.status == 400 && page.isPage && page.header("location") == nil)
                }
            }
        }
    }
}
