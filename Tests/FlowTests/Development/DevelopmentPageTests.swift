import TestSupport
import Testing

@Suite("Development mode: every page announces it")
struct DevelopmentPageTests {
    private static let banners = [
        "en": "anybody can sign in here as anybody, without a password.",
        "nb": "her kan hvem som helst logge inn som hvem som helst, uten passord.",
        "sv": "här kan vem som helst logga in som vem som helst, utan lösenord.",
        "de": "Hier kann sich jeder ohne Passwort als jeder anmelden.",
    ]

    @Test("every page begins with the development banner, in every language", arguments: banners.keys.sorted())
    func banner(language: String) async throws {
        try await World.with(.sqlite, isDevelopment: true) { world in
            let text = try #require(Self.banners[language])
            var developer = Developer(world)
            var pages = [
                "/login?page=people", "/signup", "/password", "/development/sign-in", "/development/answer?code=x",
                "/oauth/authorize", "/oauth/authorize?client_id=nobody", "/auth/session/nonsense", "/no-such-page",
            ]
            for isSignedIn in [false, true] {
                if isSignedIn {
                    _ = try await developer.enter(as: "alice", at: world.authorizeAddress())
                    pages = [
                        "/login", "/account", "/account/delete", "/logout",
                        world.authorizeAddress(["prompt": "consent"]),
                    ]
                }
                for path in pages {
                    let page = try await developer.browser.open(
                        path, headers: ["Accept-Language": language, "Accept": "text/html"])
                    #expect(page.isPage, "\(path): \(page.status)")
                    let body = try #require(page.body.split(separator: "<body>\n").last)
                    #expect(body.hasPrefix("<aside class=\"development\" aria-label=\""), "\(path)")
                    #expect(page.body.contains(text), "\(path)")
                }
            }
        }
    }

    @Test("the answer page shows what an app receives, as text, and how to redeem a code")
    func answerPage() async throws {
        try await World.with(.sqlite, isDevelopment: true) { world in
            let page = try await world.server.get("/development/answer?code=a-b_1&state=%3Cb%3E")
            #expect(page.body.contains("<dd>&lt;b&gt;</dd>"))
            #expect(page.body.contains("curl http://spindle.test/oauth/token"))
            #expect(page.body.contains("code=a-b_1</pre>"))
            let sly = try await world.server.get("/development/answer?code=x%3B%20rm%20-rf%20~")
            #expect(!sly.body.contains("curl"))
            let posted = try await world.server.post("/development/answer", ["error": "access_denied"])
            #expect(posted.body.contains("<dd>access_denied</dd>"))
            #expect(try await world.server.get("/development/answer").body.contains("Nothing came in the query."))
        }
    }
}
