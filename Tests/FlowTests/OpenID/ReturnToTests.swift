import JSON
import TestSupport
import Testing
import Values

@Suite("/v2/logout signs out at once where the client's wish, and its user's, is plain")
struct ReturnToTests {
    private static let bye = "https://loom.example/bye"
    /// As when an app opens the address.
    private static let noPage = ["Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "document"]

    private func link(_ world: World, _ path: String = "/v2/logout", _ more: String = "") -> String {
        "\(path)?client_id=\(world.app.id)&returnTo=\(TestServer.encode(Self.bye))\(more)"
    }

    /// A browser whose user has signed in, at the app too if `isUsed`.
    private func browser(_ world: World, isUsed: Bool = true) async throws -> Browser {
        _ = try await world.change("clients", world.app.id, ["post_logout_redirect_uris": [.string(Self.bye)]])
        var browser = Browser(world.server)
        guard isUsed else {
            try await browser.signIn()
            return browser
        }
        let code = try await world.authorize(in: &browser).requireRedirected("code")
        try #require(try await world.redeemAuthorization(code).status == 200)
        return browser
    }

    @Test(
        "/v2/logout signs out at once from the client's own page or no page, if the client has tokens of the session",
        arguments: Backend.available)
    func plain(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ways: [[String: String]] = [
                Self.noPage, ["Referer": "https://loom.example/"],
                ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document", "Referer": "https://loom.example/"],
                ["Sec-Fetch-Site": "same-site", "Referer": "https://loom.example/profile?a=b"],
            ]
            for headers in ways {
                var browser = try await browser(world)
                let out = try await browser.open(link(world), headers: headers)
                #expect(out.status == 302 && out.header("location") == Self.bye, "\(headers): \(out)")
                #expect(browser.session == nil)
            }
            // However long ago its tokens expired.
            var late = try await browser(world)
            world.server.clock.advance(by: .hours(2))
            #expect(try await late.open(link(world), headers: Self.noPage).header("location") == Self.bye)
        }
    }

    @Test(
        "/v2/logout asks first from other pages, for other addresses, and in sessions that its client has no tokens of",
        arguments: Backend.available)
    func asked(backend: Backend) async throws {
        try await World.with(backend) { world in
            let document = ["Sec-Fetch-Dest": "document"]
            let strange: [[String: String]] = [
                [:], ["Referer": "https://evil.example/"],
                ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
                ["Sec-Fetch-Site": "cross-site", "Referer": "https://evil.example/"],
                ["Sec-Fetch-Site": "cross-site", "Referer": "https://loom.example.evil.example/"],
                ["Sec-Fetch-Site": "cross-site", "Referer": "https://evil.example/https://loom.example/"],
                ["Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "iframe"],
                ["Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "image"],
            ]
            for headers in strange {
                var browser = try await browser(world)
                let page = try await browser.open(link(world), headers: document.merging(headers) { $1 })
                #expect(page.body.contains("Sign out?"), "\(headers)")
                #expect(try await browser.isSignedIn())
            }
            for address in [
                link(world, "/logout"), link(world, "/flow/logout"),
                link(world, "/v2/logout", "&id_token_hint=x"),
                link(world, "/v2/logout", "&redirect_uri=\(TestServer.encode(World.webview))"),
                "/v2/logout?client_id=\(world.app.id)", "/v2/logout?returnTo=\(TestServer.encode(Self.bye))",
                "/v2/logout?client_id=\(world.app.id)&returnTo=https%3A%2F%2Fevil.example%2F",
                "/v2/logout?client_id=\(world.backend.id)&returnTo=\(TestServer.encode(world.backend.redirectURI))",
            ] {
                var browser = try await browser(world)
                #expect(try await browser.open(address, headers: Self.noPage).body.contains("Sign out?"), "\(address)")
                #expect(try await browser.isSignedIn())
            }
            // A session that the client has no tokens of: never used, used elsewhere, or signed out there since.
            var unused = try await browser(world, isUsed: false)
            #expect(try await unused.open(link(world), headers: Self.noPage).body.contains("Sign out?"))
            var revoked = Browser(world.server)
            let code = try await world.authorize(in: &revoked).requireRedirected("code")
            let token = try await world.redeemAuthorization(code).require("access_token")
            _ = try await world.server.post("/logout", ["oauth_token": token])
            #expect(try await revoked.open(link(world), headers: Self.noPage).body.contains("Sign out?"))
        }
    }
}
