import JSON
import TestSupport
import Testing

@Suite("A client that changes while its user reads the consent page")
struct ConsentChangeTests {
    @Test("a client that registers for more gets claims that the page did not name", arguments: Backend.available)
    func claims(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register(["scope": "openid"])
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(
                world.authorizeAddress(
                    ["scope": "openid", "claims": #"{"userinfo":{"email":null}}"#], for: made.actor))
            #expect(page.boxes == ["openid"])
            #expect(try await made.send("PUT", made.update(["scope": "openid email"])).status == 200)
            let again = try await world.allow(page, in: &browser, ticking: ["openid"])
            #expect(again.status == 200 && again.boxes == ["openid", "claim:email"], "\(again)")
            #expect(try await world.consents() == 0)
            let code = try await world.allow(again, in: &browser, ticking: again.boxes).requireRedirected("code")
            #expect(try await world.redeemAuthorization(code, as: made.actor).status == 200)
        }
    }

    @Test("a client that takes another name meanwhile is allowed under the one that the page showed")
    func name() async throws {
        try await World.with(.sqlite) { world in
            let made = try await world.register(["client_name": "Recipes", "scope": "openid"])
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress(["scope": "openid"], for: made.actor))
            #expect(try await made.send("PUT", made.update(["client_name": "Bank of Loom"])).status == 200)
            world.server.clock.advance(by: .milliseconds(1))
            let again = try await world.allow(page, in: &browser, ticking: ["openid"])
            #expect(again.status == 200 && again.words.contains("Bank of Loom"), "\(again)")
            #expect(try await world.consents() == 0)
            let allowed = try await world.allow(again, in: &browser, ticking: ["openid"])
            #expect(allowed.redirected("code") != nil)
        }
    }

    @Test(
        "what was allowed to a client goes to who it becomes: by its name, its host or its subjects",
        arguments: Backend.available)
    func identity(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register([
                "client_name": "Recipes", "scope": "openid", "subject_type": "pairwise",
                "redirect_uris": ["https://recipes.example/back"],
            ])
            var browser = Browser(world.server)
            let address = world.authorizeAddress(
                ["scope": "openid", "redirect_uri": "https://recipes.example/back"], for: made.actor)
            try await browser.signIn()
            let first = try await browser.open(address)
            #expect(try await world.allow(first, in: &browser, ticking: ["openid"]).redirected("code") != nil)

            func change(_ changes: KeyValuePairs<String, JSON>) async throws -> Answer {
                world.server.clock.advance(by: .seconds(1))
                #expect(try await made.send("PUT", made.update(changes)).status == 200)
                world.server.clock.advance(by: .milliseconds(1))
                return try await browser.open(address)
            }
            #expect(try await change(["client_name": "recipes"]).redirected("code") != nil, "the same name to the eye")
            let paths: JSON = ["https://recipes.example/back", "https://recipes.example/other"]
            #expect(try await change(["redirect_uris": paths]).redirected("code") != nil, "the same host")
            for changes in [
                ["client_name": "Bank of Loom"],
                ["client_name": "Bank of Loom", "subject_type": "public"],
                [
                    "client_name": "Bank of Loom", "subject_type": "public",
                    "redirect_uris": ["https://recipes.example/back", "https://elsewhere.example/back"],
                ],
            ] as [KeyValuePairs<String, JSON>] {
                let asked = try await change(changes)
                #expect(asked.boxes == ["openid"], "\(changes): \(asked)")
                #expect(try await browser.open(address + "&prompt=none").redirected("error") == "consent_required")
                #expect(try await world.allow(asked, in: &browser, ticking: ["openid"]).redirected("code") != nil)
                #expect(try await browser.open(address).redirected("code") != nil)
            }
        }
    }
}
