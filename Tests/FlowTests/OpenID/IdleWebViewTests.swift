import Storage
import TestSupport
import Testing
import Values

@Suite("An app's token that has expired signs out of what it bought, whenever")
struct IdleWebViewTests {
    @Test(
        "an app's token that has expired leaves what was got in its web view, once that has expired too",
        arguments: Backend.available, [false, true])
    func idle(backend: Backend, isSwept: Bool) async throws {
        try await World.with(backend) { world in
            let told = try await world.notified(at: try CallbackReceiver())
            let (phone, other) = (try await world.signIn(), try await world.signIn())
            var (webview, beside) = (try await webview(of: phone, world), try await webview(of: other, world))
            let tokens = try await told.site.signIn(in: &webview)
            let others = try await told.site.signIn(in: &beside)
            world.server.clock.advance(by: .hours(3))
            if isSwept { try await sweep(world) }
            #expect(try await !webview.isSignedIn())
            #expect(try await world.server.get("/logout", bearer: try phone.require("access_token")).status == 401)
            #expect(try await world.refresh(try tokens.require("refresh_token"), as: told.site.actor).status == 400)
            #expect(try await world.refresh(try others.require("refresh_token"), as: told.site.actor).status == 200)
            #expect(try await world.refresh(try phone.require("refresh_token")).status == 200)
        }
    }

    @Test(
        "an app's token that bought a session in its last minute does not sign out of it", arguments: Backend.available)
    func lastMinute(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            world.server.clock.advance(by: .seconds(3570))
            let code = try await world.sessionCode(of: phone)
            world.server.clock.advance(by: .seconds(45))
            try await sweep(world)
            #expect(try await world.count("access_tokens WHERE family_id IS NOT NULL") == 0)
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(code)")
            #expect(try await webview.isSignedIn())
            #expect(try await world.server.get("/logout", bearer: try phone.require("access_token")).status == 401)
            #expect(try await !webview.isSignedIn())
        }
    }

    private func webview(of answer: Answer, _ world: World) async throws -> Browser {
        var browser = Browser(world.server)
        _ = try await browser.open("/auth/session/\(try await world.sessionCode(of: answer))")
        return browser
    }

    private func sweep(_ world: World) async throws {
        let retention = Retention(database: world.server.database)
        while await retention.sweep(at: world.server.clock.now).gone > 0 {}
    }
}
