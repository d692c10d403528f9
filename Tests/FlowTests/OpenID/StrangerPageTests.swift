import JSON
import Storage
import TestSupport
import Testing

@Suite("The pages of a client that registered itself (RFC 7591 §5)")
struct StrangerPageTests {
    private static let logo = "https://loom.example/logo.png"

    @Test(
        "A self-registered client's pages show no merchant's name or look, and say that it registered itself",
        arguments: Backend.available)
    func nobodys(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change(
                "merchants", world.merchant,
                ["name": "Loom & Co", "logo_uri": .string(Self.logo), "accent_color": "#123456"])
            func pages(_ client: World.Actor) async throws -> (login: Answer, consent: Answer) {
                var browser = Browser(world.server)
                let login = try await browser.open(world.authorizeAddress(["scope": "openid"], for: client))
                let consent = try await world.authorize(in: &browser, ["scope": "openid"], for: client)
                #expect(consent.boxes == ["openid"])
                return (login, consent)
            }
            let stranger = try await pages(try await world.register(["client_name": "Ravel"]).actor)
            for page in [stranger.login, stranger.consent] {
                #expect(page.body.contains("Ravel") && !page.body.contains("Loom"), "\(page.body)")
                #expect(!page.body.contains(Self.logo) && !page.body.contains("/assets/brand/"))
                #expect(page.header("content-security-policy")?.contains(Self.logo) == false)
            }
            #expect(stranger.consent.body.contains("This app registered itself. Nobody here has checked"))
            let known = try await pages(try await world.stranger())
            #expect(known.consent.body.contains("Stranger</bdi></strong> by <bdi>Loom &amp; Co</bdi> asks to"))
            #expect(known.consent.body.contains(Self.logo) && !known.consent.body.contains("registered itself"))
        }
    }

    @Test("The account page lists a self-registered client without the merchant", arguments: Backend.available)
    func user(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.server.database.change("DELETE FROM connections")
            let client = try await world.register(["client_name": "Ravel"]).actor
            var browser = Browser(world.server)
            _ = try await world.consented(in: &browser, ["scope": "openid"], for: client)
            let page = try await browser.open("/account")
            #expect(page.body.contains("Ravel") && !page.body.contains("Loom"))
            // Who vouches for it by calling it their own ends that.
            try await world.change("clients", client.id, ["first_party": true])
            #expect(try await browser.open("/account").body.contains("Loom"))
        }
    }

    @Test("A name with misleading characters is refused, for a client and for a merchant")
    func names() async throws {
        try await World.with(.sqlite) { world in
            let token = try await world.initialToken()
            let unseen = [
                "\u{202E}teppaN", "Ne\u{200B}ws", "News\u{2066}", "News\u{85}", "\u{9B}News", "Ne\u{AD}ws",
                "News\u{2028}x",
                "\u{FEFF}News", "News\u{E0041}", "News\u{3164}", " \u{A0}\u{2800}", "News\u{E000}", "a\nb", "\u{200D}",
            ]
            for name in unseen {
                let answer = try await world.sendRegistration(["client_name": .string(name)], with: token)
                try await expect(400, "invalid_client_metadata", answer, name.debugDescription)
                #expect(answer.json["error_description"]?.string?.contains("client_name") == true)
                expectProblem(
                    try await world.change("merchants", world.merchant, ["name": .string(name)]), 400, member: "name")
                expectProblem(
                    try await world.change("clients", world.app.id, ["client_name": .string(name)]), 400,
                    member: "client_name")
            }
            let seen = [
                "Nyheter", "חדשות", "أخبار", "می\u{200C}خوانم", "新闻", "Ærlig & Søn", "News ❤️ 🧵", "👩\u{200D}💻",
                "Нов\u{0306}ости",
            ]
            for name in seen {
                let answer = try await world.sendRegistration(["client_name": .string(name)], with: token)
                #expect(answer.status == 201 && answer.json["client_name"]?.string == name, "\(name)")
            }
        }
    }
}
