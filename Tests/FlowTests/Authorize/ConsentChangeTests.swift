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
}
