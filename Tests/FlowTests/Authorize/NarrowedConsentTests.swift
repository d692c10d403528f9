import JSON
import TestSupport
import Testing
import Values

@Suite("A consent that its user narrows")
struct NarrowedConsentTests {
    @Test("Narrowing a consent ends an app's older tokens that have the removed scope", arguments: Backend.available)
    func scope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            var browser = Browser(world.server)
            try await browser.signIn()
            func allow(_ scope: String, ticking ticked: [String], _ more: String = "") async throws -> Answer {
                let address = world.authorizeAddress(["scope": scope], for: client) + more
                let page = try await browser.open(address)
                let answer = page.status == 200 ? try await world.allow(page, in: &browser, ticking: ticked) : page
                return try await world.redeemAuthorization(try answer.requireRedirected("code"), as: client)
            }
            let wide = try await allow("profile email", ticking: ["profile", "email"])
            let narrow = try await allow("profile", ticking: ["profile"])
            world.server.clock.advance(by: .seconds(1))
            let again = try await allow("profile email", ticking: ["profile"], "&prompt=consent")
            #expect(again.json["scope"]?.string == "profile")
            #expect(try await !world.isLive(try wide.require("access_token")))
            #expect(try await world.isLive(try narrow.require("access_token")))
            #expect(try await world.isLive(try again.require("access_token")))
        }
    }
}
