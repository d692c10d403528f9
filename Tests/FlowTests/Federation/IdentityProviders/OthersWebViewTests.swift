import JSON
import TestSupport
import Testing

@Suite("Web views of other merchants' apps, after a sign-in with a merchant's provider that is good everywhere")
struct OthersWebViewTests {
    /// Web views of one app, and the tokens that buy them.
    private struct App {
        let world: World
        let client: World.Actor
        let tokens: Answer
        var old: Browser

        /// An app of `merchant`, to which the user of `browser` signs in.
        init(of merchant: String, in browser: inout Browser, _ world: World) async throws {
            let client = try await world.confidential(
                [
                    "scope": "openid profile offline_access", "grant_types": ["authorization_code", "refresh_token"],
                ], of: merchant)
            let answer = try await browser.open(
                world.authorizeAddress(["scope": "openid offline_access"], for: client))
            let tokens = try await world.redeemAuthorization(try answer.requireRedirected("code"), as: client)
            let webview = try await Self.webview(tokens, client, world)
            (self.world, self.client, self.tokens) = (world, client, tokens)
            old = try #require(webview)
        }

        /// A browser with a session that the token bought; nil, if it buys none.
        private static func webview(
            _ tokens: Answer, _ client: World.Actor, _ world: World
        ) async throws -> Browser? {
            let sold = try await world.exchange(
                try tokens.require("access_token"), for: client, type: "session", redirectURI: client.redirectURI)
            guard let code = sold.json["code"]?.string else { return nil }
            var webview = Browser(world.server)
            let led = try await webview.open("/auth/session/\(code)")
            #expect(led.header("location")?.hasPrefix(client.redirectURI) == true, "\(led)")
            return webview
        }

        private static func works(
            _ webview: inout Browser, _ client: World.Actor, _ world: World
        ) async throws -> Bool {
            let answer = try await webview.open(world.authorizeAddress(["prompt": "none"], for: client))
            return answer.redirected("code") != nil
        }

        /// Whether the first web view works, and one that is opened now.
        mutating func work() async throws -> [Bool] {
            let isOldGood = try await Self.works(&old, client, world)
            guard var new = try await Self.webview(tokens, client, world) else { return [isOldGood, false] }
            return [isOldGood, try await Self.works(&new, client, world)]
        }
    }

    @Test("a merchant that disables or deletes its issuer shuts them", arguments: Backend.available)
    func closed(backend: Backend) async throws {
        try await WordTakenBackTests.Story.with(backend) { story in
            let world = story.world
            let token = try await ProviderEverywhereTests().merchantsToken(world)
            var browser = try await story.signedIn()
            var theirs = try await App(of: world.rival, in: &browser, world)
            var own = try await App(of: world.merchant, in: &browser, world)
            #expect(try await theirs.work() == [true, true])
            #expect(try await own.work() == [true, true])

            let path = "/admin/v1/issuers/\(story.issuer)"
            let disabled = try await world.server.send("PATCH", path, json: ["disabled": true], bearer: token)
            #expect(disabled.status == 200, "\(disabled)")
            #expect(try await theirs.work() == [true, true])
            #expect(try await own.work() == [false, false])
            #expect(try await world.change("issuers", story.issuer, ["disabled": false]).status == 200)
            #expect(try await own.work() == [true, true])

            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            #expect(try await theirs.work() == [true, true])
            #expect(try await own.work() == [false, false])
            let refreshed = try await world.refresh(try theirs.tokens.require("refresh_token"), as: theirs.client)
            #expect(refreshed.status == 200, "\(refreshed)")
        }
    }
}
