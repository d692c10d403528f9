import JSON
import TestSupport
import Testing

@Suite("SPiD's account addresses lead to the account page, and from there back to the client")
struct AccountReturnTests {
    private static let paths = [
        "/account/summary", "/account/phones", "/profile-pages", "/profile-pages/about-you/phone",
    ]
    private static let page = "https://www.loom.example/news/today?a=b"

    private func query(_ id: String, _ address: String) -> String {
        "?client_id=\(id)&redirect_uri=\(TestServer.encode(address))&response_type=code"
    }

    @Test("after the sign-in, and after a change, the page has a link back", arguments: Backend.available)
    func back(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend(["web_origins": ["https://www.loom.example/news"]])
            for path in Self.paths {
                for address in [Self.page, spid.redirectURI] {
                    var browser = Browser(world.server)
                    let way = try await browser.open(path + query(spid.id, address))
                    #expect(way.status == 303)
                    let first = try await browser.open(try #require(way.header("location")))
                    #expect(first.header("location")?.hasPrefix("/login?continue=") == true)
                    let login = try await browser.open(try #require(first.header("location")))
                    let signedIn = try await browser.submit(login, ["email": World.email, "password": World.password])
                    let account = try await browser.open(try #require(signedIn.header("location")))
                    #expect(leadsBack(account, to: address), "\(account)")
                    #expect(account.body.contains("Back to <bdi>Loom in SPiD&#39;s ways</bdi>"), "\(account)")
                }
            }
            var browser = Browser(world.server)
            try await browser.signIn()
            let account = try await browser.open("/account" + query(spid.id, Self.page))
            let action = try #require(
                account.body.split(separator: "\"").first { $0.hasPrefix("/account/profile?") })
            let form = [("form_token", try #require(account.fields["form_token"])), ("name", "Ada")]
            let saved = try await world.server.post(
                String(action).replacing("&amp;", with: "&"), form: form, cookies: browser.cookies)
            #expect(saved.status == 303)
            #expect(leadsBack(try await browser.open(try #require(saved.header("location"))), to: Self.page))
        }
    }

    @Test("no other address becomes a link", arguments: Backend.available)
    func elsewhere(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend(["web_origins": ["https://www.loom.example/news"]])
            _ = try await world.change("clients", world.app.id, ["web_origins": ["https://www.loom.example"]])
            var browser = Browser(world.server)
            try await browser.signIn()
            for (id, address) in [
                (spid.id, "https://evil.example/"), (spid.id, "https://www.loom.example/newspaper"),
                (spid.id, "https://www.loom.example/news/%2e%2e/admin"), (spid.id, "javascript:alert(1)"),
                (spid.id, "https://www.loom.example@evil.example/news"), (spid.id, "//evil.example/news"),
                (world.app.id, Self.page), ("nobody", Self.page), (spid.id, ""),
                (spid.id, "\"><script>alert(1)</script>"),
            ] {
                let account = try await browser.open("/account" + query(id, address))
                #expect(account.status == 200)
                #expect(!account.body.contains("Back to"), "\(address)")
                #expect(!account.body.contains("href=\"https://evil") && !account.body.contains("<script>alert"))
                // Nor does a sign-in lead there.
                var stranger = Browser(world.server)
                let first = try await stranger.open("/account" + query(id, address))
                let login = try await stranger.open(try #require(first.header("location")))
                let signedIn = try await stranger.submit(login, ["email": World.email, "password": World.password])
                #expect(signedIn.header("location")?.hasPrefix("/account") == true)
            }
            for path in Self.paths {
                let plain = try await world.server.get("\(path)?client_id=\(spid.id)&response_type=code")
                #expect(plain.status == 303 && plain.header("location") == "/account")
            }
        }
    }

    private func leadsBack(_ answer: Answer, to address: String) -> Bool {
        answer.status == 200 && answer.body.contains("href=\"\(address.replacing("&", with: "&amp;"))\"")
    }
}
