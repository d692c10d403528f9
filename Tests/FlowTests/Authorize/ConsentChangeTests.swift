import JSON
import TestSupport
import Testing

@Suite("Consent to a client ends when the client changes")
struct ConsentChangeTests {
    @Test(
        "A client that widens its scope while the consent page is open gets no claim missing from the page",
        arguments: Backend.available)
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
            let code = try await world.allow(page, in: &browser, ticking: ["openid"]).requireRedirected("code")
            let tokens = try await world.redeemAuthorization(code, as: made.actor)
            let told = try await world.server.get("/oauth/userinfo", bearer: try tokens.require("access_token"))
            #expect(told.status == 200 && told.json["email"] == nil, "\(told)")
        }
    }

    @Test(
        "A new name of a third party's client ends the consent to it, and a new logo does not",
        arguments: Backend.available)
    func administration(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(["scope": "openid"], for: client)
            let allowed = try await world.allow(try await browser.open(address), in: &browser, ticking: ["openid"])
            #expect(allowed.redirected("code") != nil)
            let silent = address + "&prompt=none"
            for (changes, isAnother) in [
                (["logo_uri": "https://stranger.example/new.png"], false), (["client_name": "STRANGER"], false),
                (["client_name": "Red Fox ads"], true),
            ] as [(JSON, Bool)] {
                world.server.clock.advance(by: .seconds(1))
                #expect(try await world.change("clients", client.id, changes).status == 200)
                let answer = try await browser.open(silent)
                #expect(answer.redirected("error") == (isAnother ? "consent_required" : nil), "\(changes) \(answer)")
            }
        }
    }

    @Test("Adding a trademark sign to a client's name ends the consent to it", arguments: Backend.available)
    func sign(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger(["client_name": "AcmeTM"])
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(["scope": "openid"], for: client)
            let allowed = try await world.allow(try await browser.open(address), in: &browser, ticking: ["openid"])
            #expect(allowed.redirected("code") != nil)
            for (name, isAnother) in [("ACMETM", false), ("Acme™", true)] {
                world.server.clock.advance(by: .seconds(1))
                #expect(try await world.change("clients", client.id, ["client_name": .string(name)]).status == 200)
                let answer = try await browser.open(address + "&prompt=none")
                #expect(answer.redirected("error") == (isAnother ? "consent_required" : nil), "\(name) \(answer)")
                #expect((answer.redirected("code") != nil) == !isAnother, "\(name)")
            }
        }
    }

    @Test("A client whose name or redirect URIs change while the consent page is open needs a new answer")
    func whileThePageIsOpen() async throws {
        try await World.with(.sqlite) { world in
            let made = try await world.register(["client_name": "Recipes", "scope": "openid"])
            var browser = Browser(world.server)
            try await browser.signIn()
            let address = world.authorizeAddress(["scope": "openid"], for: made.actor)
            let uris: JSON = [.string(World.returnURI), "https://elsewhere.example/back"]
            for changes in [["client_name": "Bank of Loom"], ["redirect_uris": uris]] as [KeyValuePairs<String, JSON>] {
                let page = try await browser.open(address)
                #expect(page.boxes == ["openid"])
                #expect(try await made.send("PUT", made.update(changes)).status == 200)
                world.server.clock.advance(by: .milliseconds(1))
                let again = try await world.allow(page, in: &browser, ticking: ["openid"])
                #expect(again.status == 200 && again.boxes == ["openid"], "\(changes): \(again)")
                #expect(try await world.consents() == 0)
            }
            let page = try await browser.open(address)
            #expect(try await world.allow(page, in: &browser, ticking: ["openid"]).redirected("code") != nil)
        }
    }

    @Test(
        "A self-registered client's new name, or redirect URI at another host or app, ends the consent to it",
        arguments: Backend.available)
    func identity(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (site, app) = ("https://recipes.example/back", "com.recipes.app:/back")
            let made = try await world.register([
                "client_name": "Recipes", "scope": "openid", "redirect_uris": [.string(site), .string(app)],
            ])
            var browser = Browser(world.server)
            let address = world.authorizeAddress(["scope": "openid", "redirect_uri": site], for: made.actor)
            try await browser.signIn()
            let first = try await browser.open(address)
            #expect(try await world.allow(first, in: &browser, ticking: ["openid"]).redirected("code") != nil)

            func change(_ name: String, _ uris: [String]) async throws -> Answer {
                world.server.clock.advance(by: .seconds(1))
                let update = made.update([
                    "client_name": .string(name), "redirect_uris": .array(uris.map { .string($0) }),
                ])
                #expect(try await made.send("PUT", update).status == 200)
                world.server.clock.advance(by: .milliseconds(1))
                return try await browser.open(address)
            }
            let (path, otherApp, likeOurs) = (
                "https://recipes.example/other", "com.evil.app:/back", "com.evil.app://recipes.example/back"
            )
            #expect(try await change("recipes", [site, app]).redirected("code") != nil, "the same name to the eye")
            #expect(try await change("Recipes", [site, path, app]).redirected("code") != nil, "the same places")
            #expect(try await change("Recipes", [site]).redirected("code") != nil, "fewer of them")
            for (name, uris) in [
                ("Bank of Loom", [site]), ("📚", [site]), ("🏦", [site]),
                ("🏦", [site, "https://elsewhere.example/back"]), ("🏦", [site, otherApp]),
                ("🏦", [site, otherApp, likeOurs]),
            ] {
                let asked = try await change(name, uris)
                #expect(asked.boxes == ["openid"], "\(name) \(uris): \(asked)")
                #expect(try await browser.open(address + "&prompt=none").redirected("error") == "consent_required")
                #expect(try await world.allow(asked, in: &browser, ticking: ["openid"]).redirected("code") != nil)
                #expect(try await browser.open(address).redirected("code") != nil)
            }
        }
    }

    @Test("A self-registered client with pairwise subjects cannot change to public ones")
    func subjects() async throws {
        try await World.with(.sqlite) { world in
            let made = try await world.register(["scope": "openid", "subject_type": "pairwise"])
            let tokens = try await world.signInToRegistered(made.actor, ["scope": "openid"])
            let refused = try await made.send("PUT", made.update(["subject_type": "public"]))
            #expect(refused.status == 400, "\(refused)")
            #expect(refused.json["error_description"]?.string?.contains("subject_type") == true)
            let told = try await world.server.get("/oauth/userinfo", bearer: try tokens.require("access_token"))
            #expect(try told.require("sub") != world.user)
        }
    }
}
