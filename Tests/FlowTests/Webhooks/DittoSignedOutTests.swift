import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("ID tokens of a device that is signed out, while another device of the user has the same app")
struct DittoSignedOutTests {
    private func ditto(_ world: World) async throws -> DittoStory {
        try await DittoStory(world, ["token_kinds": ["id_token"], "clients": [.string(world.app.id)]])
    }

    /// Signs Ada in by the app's web page; again in the same browser, it goes through.
    private func signIn(_ scope: String, in browser: inout Browser, _ world: World) async throws -> Answer {
        let code = try await world.authorize(in: &browser, ["scope": scope]).requireRedirected("code")
        return try await world.redeemAuthorization(code)
    }

    /// The ID token of a phone that is signed out again.
    private func signedOutPhone(_ world: World, _ ditto: DittoStory) async throws -> String {
        world.server.clock.advance(by: .seconds(2))
        let phone = try await world.signIn(scope: "openid")
        let token = try phone.require("id_token")
        expectAdmitted(try await ditto.ask(token), as: world.user)
        _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
        expectRefused(try await ditto.ask(token))
        return token
    }

    @Test(
        "a phone that is signed out is admitted again when a browser signs out",
        arguments: Backend.available, ["profile", "openid profile offline_access"])
    func browserSignsOut(backend: Backend, scope: String) async throws {
        try await World.with(backend) { world in
            let ditto = try await ditto(world)
            var browser = Browser(world.server)
            _ = try await signIn(scope, in: &browser, world).require("access_token")
            let token = try await signedOutPhone(world, ditto)
            _ = try await browser.submit(try await browser.open("/logout"))
            #expect(try await !browser.isSignedIn())
            expectRefused(try await ditto.ask(token))
        }
    }

    @Test(
        "a phone that is signed out is admitted again when a browser's session has expired",
        arguments: Backend.available)
    func browserExpires(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await ditto(world)
            var browser = Browser(world.server)
            _ = try await signIn("openid profile", in: &browser, world).require("access_token")
            let token = try await signedOutPhone(world, ditto)
            // As the sweep does then.
            _ = try await world.server.database.write { db in try db.execute("DELETE FROM sessions") }
            expectRefused(try await ditto.ask(token))
        }
    }

    @Test(
        "a grant without openid keeps the ID token of a browser that is signed out", arguments: Backend.available)
    func plainGrant(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await ditto(world)
            var browser = Browser(world.server)
            let plain = try await signIn("profile", in: &browser, world).require("access_token")
            let token = try await signIn("openid profile", in: &browser, world).require("id_token")
            expectAdmitted(try await ditto.ask(token), as: world.user)
            _ = try await browser.submit(try await browser.open("/logout"))
            #expect(try await world.isLive(plain), "the app stays signed in")
            expectRefused(try await ditto.ask(token))
        }
    }

    @Test("an app that stays signed in is refused with its next ID token", arguments: Backend.available)
    func staysSignedIn(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await ditto(world)
            var browser = Browser(world.server)
            let first = try await signIn("openid offline_access", in: &browser, world)
            _ = try await browser.submit(try await browser.open("/logout"))
            let refreshed = try await world.refresh(try first.require("refresh_token"))
            let (before, after) = (try await world.idToken(in: first), try await world.idToken(in: refreshed))
            #expect(before["sid"]?.string != nil && after["sid"] == before["sid"])
            expectAdmitted(try await ditto.ask(try refreshed.require("id_token")), as: world.user)
        }
    }
}
