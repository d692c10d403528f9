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

    @Test(
        "The account page at SPiD's addresses links back to the client, after sign-in and after a change",
        arguments: Backend.available)
    func back(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend(["web_origins": ["https://www.loom.example/news"]])
            for path in Self.paths {
                for address in [Self.page, spid.redirectURI] {
                    var browser = Browser(world.server)
                    var login = try await browser.open(path + query(spid.id, address))
                    #expect(login.status == 303)
                    while let next = login.header("location") { login = try await browser.open(next) }
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

    @Test(
        "The page for phone numbers links back to the client, and still does after each of its forms",
        arguments: Backend.available)
    func phones(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            let spid = try await world.spidBackend(["web_origins": ["https://www.loom.example/news"]])
            for path in ["/account/phones", "/profile-pages/about-you/phone"] {
                var browser = Browser(world.server)
                var answer = try await browser.open(path + query(spid.id, Self.page))
                while let next = answer.header("location") { answer = try await browser.open(next) }
                #expect(answer.body.contains("name=\"password\""), "\(answer)")
                answer = try await browser.submit(answer, ["email": World.email, "password": World.password])
                let page = try await browser.open(try #require(answer.header("location")))
                #expect(page.body.contains("Phone number for codes") && leadsBack(page, to: Self.page), "\(page)")

                answer = try await browser.submit(page, ["phone_number": "1"])
                #expect(answer.status == 400 && answer.body.contains("href=\"\(Self.page)\""), "\(answer)")
                let asked = try await browser.submit(page, ["phone_number": PhoneStory.number])
                #expect(asked.body.contains("Check your phone"), "\(asked)")
                answer = try await browser.submit(asked, ["code": try await world.textCode()])
                answer = try await browser.open(try #require(answer.header("location")))
                #expect(answer.body.contains("Your number is confirmed.") && leadsBack(answer, to: Self.page))
                answer = try await browser.submit(answer)
                answer = try await browser.open(try #require(answer.header("location")))
                #expect(answer.body.contains("The number is removed.") && leadsBack(answer, to: Self.page))
                let account = answer.body.split(separator: "\"").first { $0.hasPrefix("/account?") }
                answer = try await browser.open(try String(#require(account)).replacing("&amp;", with: "&"))
                #expect(leadsBack(answer, to: Self.page), "\(answer)")
                _ = try await world.server.mail.letter(to: World.email)
            }
            var browser = Browser(world.server)
            try await browser.signIn()
            let elsewhere = try await browser.open("/account/phones" + query(spid.id, "https://evil.example/"))
            #expect(elsewhere.status == 200 && !elsewhere.body.contains("Back to <bdi>"))
            #expect(!elsewhere.body.contains("href=\"https://evil"))
        }
    }

    @Test(
        "The account page links back only to an address that the client registered",
        arguments: Backend.available)
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
                // A sign-in does not lead there either.
                var stranger = Browser(world.server)
                let first = try await stranger.open("/account" + query(id, address))
                let login = try await stranger.open(try #require(first.header("location")))
                let signedIn = try await stranger.submit(login, ["email": World.email, "password": World.password])
                #expect(signedIn.header("location")?.hasPrefix("/account") == true)
            }
            for path in Self.paths {
                var plain = try await world.server.get("\(path)?client_id=\(spid.id)&response_type=code")
                if plain.header("location") == "/account/phones" {
                    plain = try await world.server.get("/account/phones")
                }
                #expect(plain.status == 303 && plain.header("location") == "/account")
            }
        }
    }

    private func leadsBack(_ answer: Answer, to address: String) -> Bool {
        answer.status == 200 && answer.body.contains("href=\"\(address.replacing("&", with: "&amp;"))\"")
    }
}
