import TestSupport
import Testing

@Suite("Signing out of one client in an app's web view")
struct LogoutInWebViewTests {
    @Test(
        "A session code in a web view brings the user back to its client, not to another client that they left",
        arguments: Backend.available)
    func another(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (site, phone) = (try await world.website(), try await world.signIn())
            var webview = try await left(site, by: phone, world)
            for _ in 1...2 {
                world.server.clock.advance(by: .seconds(1))
                let code = try await world.sessionCode(of: phone)
                #expect(try await webview.open("/auth/session/\(code)").status == 302)
                #expect(try await webview.open(world.authorizeAddress(["prompt": "none"])).redirected("code") != nil)
                #expect(try await site.silentError(in: &webview) == "login_required")
            }
            let code = try await world.exchange(
                try phone.require("access_token"), for: site.actor, type: "session",
                redirectURI: site.actor.redirectURI
            ).require("code")
            #expect(try await webview.open("/auth/session/\(code)").status == 302)
            #expect(try await site.silentError(in: &webview) == nil, "a code for that site does")
        }
    }

    /// A web view that the tokens of `phone` opened, in which Ada has left `site` alone.
    private func left(_ site: Website, by phone: Answer, _ world: World) async throws -> Browser {
        var webview = Browser(world.server)
        _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phone))")
        _ = try await site.signIn(in: &webview)
        #expect(try await site.silentError(in: &webview) == nil)
        _ = try await webview.submit(
            try await webview.open("/logout?logout_scope=client&client_id=\(site.actor.id)"))
        #expect(try await site.silentError(in: &webview) == "login_required")
        return webview
    }
}
