import JSON
import TestSupport
import Testing

@Suite("The answer page of development mode is an app: it redeems codes, shows tokens and uses them")
struct DevelopmentAnswerTests {
    /// A developer's browser at the issuer's own host.
    private struct Tab {
        var browser: Browser
        static let host = ["Host": "127.0.0.1"]

        mutating func open(_ address: String) async throws -> Answer {
            try await browser.open(address.replacing("http://127.0.0.1/", with: "/"), headers: Self.host)
        }

        /// The page that `answer` leads to.
        mutating func follow(_ answer: Answer) async throws -> Answer {
            var answer = answer
            for _ in 1...4 {
                guard let location = answer.header("location") else { return answer }
                // A browser keeps the fragment to itself.
                answer = try await open(String(location.prefix { $0 != "#" }))
            }
            return answer
        }

        /// Signs in as alice for the client's own request on the start page.
        mutating func signIn(for client: String) async throws -> Answer {
            let home = try await open("/").body
            let links = home.matches(of: /href="([^"]+oauth\/authorize[^"]+)"/).map {
                String($0.output.1).replacing("&amp;", with: "&")
            }
            let request = try #require(links.first { $0.contains("client_id=\(client)&") })
            let page = try await follow(try await open(request))
            let form = ["username": "alice", "outcome": "sign_in", "refresh_token": "1"]
            return try await follow(try await browser.submit(page, form, headers: Self.host))
        }

        mutating func call(_ deed: String, on page: Answer) async throws -> Answer {
            try await follow(try await browser.submit(page, ["call": deed], headers: Self.host))
        }
    }

    private func opening(_ body: (inout Tab, TestServer) async throws -> Void) async throws {
        try await TestServer.with(.sqlite, settings: ["issuer": TestServer.developmentIssuer], isDevelopment: true) {
            server in
            try await server.prepareDevelopment()
            var tab = Tab(browser: Browser(server))
            try await body(&tab, server)
        }
    }

    @Test(
        "The answer page redeems the code of both kinds of client, and decodes and verifies the ID token",
        arguments: ["dev", "dev_backend"])
    func redeems(client: String) async throws {
        try await opening { tab, _ in
            let page = try await tab.signIn(for: client)
            #expect(page.status == 200)
            for part in [
                "<dt>code</dt>", "<h2>ID token</h2>", "<h2>Access token</h2>", "<h2>Refresh token</h2>",
                "Signature good: RS256", "Expires in 3600 seconds, at 20", "<h2>POST /oauth/token</h2>",
                "grant_type=authorization_code", "Answer: 200 OK", "&quot;aud&quot;: &quot;\(client)&quot;",
                "&quot;iss&quot;: &quot;http://127.0.0.1&quot;", "It is opaque",
            ] {
                #expect(page.body.contains(part), "\(part)")
            }
        }
    }

    @Test("Loading the answer page again, or opening the same answer again, redeems nothing and ends no token")
    func again() async throws {
        try await opening { tab, server in
            let page = try await tab.signIn(for: "dev")
            let code = try #require(page.body.firstMatch(of: /<dt>code<\/dt>\n<dd>([^<]+)</)).output.1
            let reloaded = try await tab.follow(try await tab.open("/development/answer?code=\(code)"))
            #expect(reloaded.body.contains("<h2>Access token</h2>"))
            let asked = try await tab.call("userinfo", on: reloaded)
            #expect(asked.body.contains("<h2>GET /oauth/userinfo</h2>") && asked.body.contains("alice@dev.example"))
            #expect(!server.log.says("code_replayed"))
        }
    }

    @Test("The answer page refreshes, asks userinfo and introspection, and revokes")
    func deeds() async throws {
        try await opening { tab, _ in
            var page = try await tab.signIn(for: "dev")
            page = try await tab.call("refresh", on: page)
            #expect(page.body.contains("grant_type=refresh_token"))
            page = try await tab.call("introspect", on: page)
            #expect(page.body.contains("<h2>POST /oauth/introspect</h2>"))
            #expect(page.body.contains("&quot;active&quot;: true"))
            page = try await tab.call("revoke_access_token", on: page)
            page = try await tab.call("introspect", on: page)
            #expect(page.body.contains("&quot;active&quot;: false"))
            page = try await tab.call("revoke_refresh_token", on: page)
            page = try await tab.call("refresh", on: page)
            #expect(page.body.contains("&quot;error&quot;: &quot;invalid_grant&quot;"))
            #expect(page.body.contains("&quot;reason&quot;: "))
        }
    }

    @Test("The start page gets tokens for the machine and the administrator", arguments: ["dev_machine", "dev_admin"])
    func own(client: String) async throws {
        try await opening { tab, _ in
            let home = try await tab.open("/")
            let page = try await tab.follow(
                try await tab.browser.submit(
                    home, ["call": "client_credentials", "client_id": client], headers: Tab.host))
            #expect(page.body.contains("<h2>Access token</h2>") && !page.body.contains("<h2>ID token</h2>"))
            #expect(page.body.contains("-u \(client):"))
            // The platform's token is no merchant's, so there is no client that may introspect it.
            #expect(page.body.contains("value=\"introspect\"") == (client == "dev_machine"))
            let ended = try await tab.call("revoke_access_token", on: page)
            #expect(ended.body.contains("<h2>POST /oauth/revoke</h2>") && ended.body.contains("Answer: 200 OK"))
        }
    }

    @Test("The answer page shows an error, and text from elsewhere as text, and redeems only what may be a code")
    func others() async throws {
        try await opening { tab, server in
            let refused = try await tab.open("/development/answer?error=access_denied&state=%3Cb%3E")
            #expect(refused.body.contains("<dd>access_denied</dd>") && refused.body.contains("<dd>&lt;b&gt;</dd>"))
            let posted = try await server.post(
                "/development/answer", ["error": "access_denied"], headers: Tab.host)
            #expect(posted.body.contains("<dd>access_denied</dd>"))
            let sly = try await tab.open("/development/answer?code=x%3B%20rm%20-rf%20~")
            #expect(sly.status == 200 && !sly.body.contains("curl"))
            let odd = try await server.post(
                "/development/answer", ["id_token": "<b>", "access_token": "a b"], headers: Tab.host)
            #expect(odd.status == 200 && odd.body.contains("<dd>&lt;b&gt;</dd>") && !odd.body.contains("Access token"))
            let front = try await tab.follow(
                try await server.post(
                    "/development/answer", ["access_token": "abc-d_e", "token_type": "Bearer"], headers: Tab.host))
            #expect(front.body.contains("<h2>Access token</h2>") && front.body.contains("It is opaque"))
            let none = try await tab.open("/development/answer")
            #expect(none.body.contains("Nothing came in the query."))
            let unknown = try await tab.follow(try await tab.open("/development/answer?code=a-b_1"))
            #expect(unknown.body.contains("invalid_grant") && !unknown.body.contains("Access token"))
            let forgotten = try await tab.open("/development/answer?trial=x")
            #expect(forgotten.body.contains("remembers the last twenty answers"))
        }
    }
}
