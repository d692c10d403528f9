import JSON
import TestSupport
import Testing

@Suite("Declining a scope or a claim")
struct DeclinedClaimTests {
    private static let claims = #"{"id_token":{"email":{"essential":true},"acr":null},"userinfo":{"email":null}}"#

    @Test(
        "A user who declines a scope of a third party's app also declines its claims requested singly",
        arguments: Backend.available)
    func thirdParty(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(
                world.authorizeAddress(["scope": "openid email", "claims": Self.claims], for: client))
            #expect(page.boxes == ["openid", "email"])
            let answer = try await world.allow(page, in: &browser, ticking: [])
            try await expectNoAddress(answer, world, client)
        }
    }

    @Test(
        "A user who declines a scope of a merchant's own app also declines its claims requested singly",
        arguments: Backend.available)
    func firstParty(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(
                world.authorizeAddress(["scope": "openid email", "claims": Self.claims, "prompt": "consent"]))
            let answer = try await world.allow(page, in: &browser, ticking: [])
            try await expectNoAddress(answer, world, nil)
        }
    }

    @Test(
        "A user who declines a scope takes back the scope's claims that were allowed before",
        arguments: Backend.available)
    func before(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let single: KeyValuePairs = ["scope": "openid", "claims": Self.claims]
            let first = try await browser.open(world.authorizeAddress(single, for: client))
            #expect(first.boxes == ["openid", "claim:email"])
            let allowed = try await world.allow(first, in: &browser, ticking: first.boxes)
            let tokens = try await world.redeemAuthorization(try allowed.requireRedirected("code"), as: client)
            let token = try tokens.require("access_token")
            let told = try await world.server.get("/oauth/userinfo", bearer: token)
            #expect(told.json["email"]?.string == World.email, "\(told)")

            world.server.clock.advance(by: .seconds(1))
            let page = try await browser.open(
                world.authorizeAddress(
                    ["scope": "openid email", "claims": Self.claims, "prompt": "consent"], for: client))
            #expect(page.boxes == ["openid", "email"])
            try await expectNoAddress(try await world.allow(page, in: &browser, ticking: []), world, client)
            let later = try await world.server.get("/oauth/userinfo", bearer: token)
            #expect(later.json["email"] == nil, "\(later)")
            let silent = try await browser.open(
                world.authorizeAddress(["scope": "openid", "claims": Self.claims, "prompt": "none"], for: client))
            #expect(silent.redirected("error") == "consent_required", "\(silent)")
        }
    }

    @Test("A user can decline single claims one by one, even essential ones", arguments: Backend.available)
    func single(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let claims = #"{"id_token":{"email":{"essential":true},"name":null}}"#
            let address = world.authorizeAddress(["scope": "openid", "claims": claims], for: client)
            let page = try await browser.open(address)
            #expect(page.boxes == ["openid", "claim:name", "claim:email"])
            #expect(page.body.ranges(of: " disabled>").count == 1, "openid alone is needed")
            let answer = try await world.allow(page, in: &browser, ticking: ["claim:name"])
            let tokens = try await world.redeemAuthorization(try answer.requireRedirected("code"), as: client)
            let told = try TakenApart(try tokens.require("id_token")).claims
            #expect(told["name"]?.string == "Ada Lovelace" && told["email"] == nil, "\(told)")
            // What was left out is asked for again, and nothing else.
            #expect(try await browser.open(address).boxes == ["claim:email"])
        }
    }

    @Test("A consent needs a ticked scope; a ticked claim alone is refused", arguments: Backend.available)
    func noScope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            let claims = #"{"userinfo":{"name":null}}"#
            let page = try await browser.open(
                world.authorizeAddress(["scope": "email", "claims": claims], for: client))
            #expect(Set(page.boxes) == ["email", "claim:name"])
            let refused = try await world.allow(page, in: &browser, ticking: ["claim:name"])
            #expect(refused.status == 400 && refused.words.contains("Nothing is ticked"), "\(refused)")
            #expect(refused.boxes == page.boxes)
            #expect(try await world.consents() == 0)
            // The scope alone will do.
            let answer = try await world.allow(page, in: &browser, ticking: ["email"])
            let tokens = try await world.redeemAuthorization(try answer.requireRedirected("code"), as: client)
            #expect(tokens.json["scope"]?.string == "email")
        }
    }

    private func expectNoAddress(_ answer: Answer, _ world: World, _ client: World.Actor?) async throws {
        let code = try answer.requireRedirected("code")
        let tokens = try await world.redeemAuthorization(code, as: client)
        #expect(tokens.json["scope"]?.string == "openid")
        let claims = try TakenApart(try tokens.require("id_token")).claims
        #expect(claims["sub"] != nil && claims["email"] == nil && claims["acr"] != nil, "\(claims)")
        let told = try await world.server.get("/oauth/userinfo", bearer: try tokens.require("access_token"))
        #expect(told.status == 200 && told.json["email"] == nil, "\(told.body)")
    }
}
