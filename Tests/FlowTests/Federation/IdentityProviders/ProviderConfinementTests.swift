import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Sessions of a provider are confined to its merchant once the platform says so")
struct ProviderConfinementTests {
    /// Facebook's button of Loom, whose sign-ins are good at every merchant by the platform's word.
    struct Story: Sendable {
        let world: World
        let issuer: String

        static func with(_ backend: Backend, _ body: (Story) async throws -> Void) async throws {
            let graph = try ProviderStandIn()
            let settings = graph.settings.merging(IdentityProviderStory.settings) { $1 }
            try await World.with(backend, settings: settings) { world in
                graph.give(
                    facebook: "kari",
                    ProviderStandIn.Token(
                        app: ProviderStandIn.facebookApp, subject: "1001", claims: ["name": "Kari Nordmann"]))
                graph.answer("/facebook/oauth/access_token", ["access_token": "kari", "token_type": "bearer"])
                let made = try await World.make(
                    world.server, world.admin, "issuers",
                    [
                        "merchant_id": .string(world.merchant), "provider": "facebook", "create_users": true,
                        "audiences": [.string(ProviderStandIn.facebookApp)],
                        "client_id": .string(ProviderStandIn.facebookApp),
                        "app_secret": .string(ProviderStandIn.facebookSecret),
                    ])
                try #require(made.status == 201 && made.json["signs_in_everywhere"] == true, "\(made)")
                try await body(Story(world: world, issuer: try made.require("id")))
            }
            graph.stop()
        }

        /// A browser that comes from Facebook, whose user has met both merchants.
        func signedIn() async throws -> Browser {
            var browser = Browser(world.server)
            let page = try await browser.open(world.authorizeAddress())
            let departure = try await browser.follow(try page.requireLink(to: "/login/with/\(issuer)?"))
            let state = try departure.requireRedirected("state")
            let back = try await browser.open("/login/with/\(issuer)/callback?code=c&state=\(state)")
            try #require(back.status == 303, "\(back)")
            let code = try await browser.open(world.authorizeAddress()).requireRedirected("code")
            let user = try await world.redeemAuthorization(code).require("user_id")
            try await world.introduce(user, to: world.rival)
            return browser
        }

        func say(_ isGood: Bool) async throws {
            let word: JSON =
                isGood
                ? ["signs_in_everywhere": true, "client_id": .string(ProviderStandIn.facebookApp)]
                : ["signs_in_everywhere": false]
            let changed = try await world.change("issuers", issuer, word)
            try #require(changed.status == 200 && changed.json["signs_in_everywhere"] == .bool(isGood), "\(changed)")
        }

        /// Expects that the session of `browser` is good at its own merchant, and elsewhere as `isGood` says.
        func expect(
            _ browser: inout Browser, isGoodEverywhere isGood: Bool, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let own = try await browser.open(world.authorizeAddress())
            #expect(own.redirected("code") != nil, "\(own)", sourceLocation: sourceLocation)
            let rivals = try await browser.open(world.authorizeAddress(for: world.rivalBackend))
            let account = try await browser.open("/account")
            if isGood {
                #expect(rivals.redirected("code") != nil, "\(rivals)", sourceLocation: sourceLocation)
                #expect(account.status == 200, "\(account)", sourceLocation: sourceLocation)
            } else {
                let asks = rivals.status == 200 && rivals.words.contains("Sign in")
                #expect(asks, "\(rivals)", sourceLocation: sourceLocation)
                let location = account.header("location")
                #expect(location == "/login?continue=%2Faccount", "\(account)", sourceLocation: sourceLocation)
            }
        }
    }

    @Test(
        "Confining a provider to its merchant confines its sessions too, without changing their rows",
        arguments: Backend.available)
    func sessions(backend: Backend) async throws {
        try await Story.with(backend) { story in
            let good = "sessions WHERE issuer_id IS NOT NULL AND merchant_id IS NULL AND ended_at IS NULL"
            var browser = try await story.signedIn()
            try await story.expect(&browser, isGoodEverywhere: true)
            #expect(try await story.world.count(good) == 1)
            try await story.say(false)
            try await story.expect(&browser, isGoodEverywhere: false)
            #expect(try await story.world.count(good) == 1, "its row is as it was")
        }
    }

    @Test(
        "Sessions that were confined stay confined when their provider is good at every merchant again",
        arguments: Backend.available)
    func again(backend: Backend) async throws {
        try await Story.with(backend) { story in
            var old = try await story.signedIn()
            try await story.expect(&old, isGoodEverywhere: true)
            try await story.say(false)
            try await story.expect(&old, isGoodEverywhere: false)
            try await story.say(true)
            try await story.expect(&old, isGoodEverywhere: false)
            story.world.server.clock.advance(by: .minutes(2))
            var new = try await story.signedIn()
            try await story.expect(&new, isGoodEverywhere: true)
            try await story.expect(&old, isGoodEverywhere: false)
        }
    }

    @Test(
        "After a provider is confined, a code from its session is refused for another merchant's client",
        arguments: Backend.available)
    func codes(backend: Backend) async throws {
        try await Story.with(backend) { story in
            let world = story.world
            var browser = try await story.signedIn()
            func code(for client: World.Actor) async throws -> String {
                try await browser.open(world.authorizeAddress(for: client)).requireRedirected("code")
            }
            let early = try await code(for: world.rivalBackend)
            #expect(try await world.redeemAuthorization(early, as: world.rivalBackend).status == 200)
            let rivals = try await code(for: world.rivalBackend)
            let own = try await code(for: world.app)
            try await story.say(false)
            let refused = try await world.redeemAuthorization(rivals, as: world.rivalBackend)
            #expect(refused.status == 400 && refused.error == "invalid_grant", "\(refused)")
            let redeemed = try await world.redeemAuthorization(own)
            #expect(redeemed.status == 200, "\(redeemed)")
        }
    }

    @Test("Other merchants are not told of a sign-out from a confined session", arguments: Backend.available)
    func signedOut(backend: Backend) async throws {
        try await Story.with(backend) { story in
            let world = story.world
            let rival = try await world.told(at: try CallbackReceiver(), "/rival", of: world.rival)
            let own = try await world.told(at: try CallbackReceiver())
            try await world.link(story.issuer, "1001")
            var browser = try await story.signedIn()
            try await story.expect(&browser, isGoodEverywhere: true)
            try await story.say(false)
            try await story.expect(&browser, isGoodEverywhere: false)
            _ = try await browser.submit(try await browser.open("/logout"))
            let message = try await own.next()
            #expect(message.gist == "session: status = ended" && message.entry["userId"]?.string == world.user)
            // The rival knows the user, and this is the first message that it gets.
            try await world.change("users", world.user, ["nickname": "Ada"])
            #expect(try await rival.next().gist == "user: displayName")
        }
    }

    @Test(
        "A confined session ends when the merchant removes the user, or the user revokes the merchant's app",
        arguments: Backend.available, [true, false])
    func disconnected(backend: Backend, byMerchant: Bool) async throws {
        try await Story.with(backend) { story in
            let world = story.world
            try await world.link(story.issuer, "1001")
            var (browser, beside) = (try await story.signedIn(), try await world.signedIn())
            try await story.say(false)
            let live = "sessions WHERE ended_at IS NULL AND issuer_id"
            #expect(try await browser.open(world.authorizeAddress()).redirected("code") != nil)
            #expect(try await world.count("\(live) IS NOT NULL") == 1)
            if byMerchant {
                let token = try await ProviderEverywhereTests().merchantsToken(world)
                let gone = try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: token)
                #expect(gone.status == 204, "\(gone)")
            } else {
                #expect(try await beside.change("apps/revoke", ["client": world.app.id]).status == 303)
            }
            let page = try await browser.open(world.authorizeAddress())
            #expect(page.link(to: "/login/with/\(story.issuer)?") != nil, "\(page)")
            #expect(!page.words.contains("Continue as"), "\(page)")
            #expect(try await world.count("\(live) IS NOT NULL") == 0)
            // The user signed in to the other browser with a password.
            #expect(try await world.count("\(live) IS NULL") == 1)
            #expect(try await beside.browser.open("/account").status == 200)
        }
    }

    @Test(
        "Confined sessions do not count toward the limit of a hundred sessions of a user",
        arguments: Backend.available)
    func hundred(backend: Backend) async throws {
        try await Story.with(backend) { story in
            let world = story.world
            var own = try await world.signedIn()
            world.server.clock.advance(by: .seconds(1))
            let (now, user) = (world.server.clock.now, try #require(Int64(world.user)))
            try await world.server.database.write { db in
                for number in 1...100 {
                    try db.execute(
                        """
                        INSERT INTO sessions (id, fingerprint, user_id, signed_in_at, created_at, seen_at, expires_at,
                            user_agent, ip_address, method, is_dated, issuer_id)
                        VALUES (\("made-\(number)"), \("print-\(number)"), \(user), \(now), \(now), \(now),
                            \(now + .hours(2)), 'Mozilla', '127.0.0.1', 'issuer', 1, \(story.issuer))
                        """)
                }
            }
            try await story.say(false)
            world.server.clock.advance(by: .seconds(1))
            _ = try await world.signedIn()
            #expect(try await own.browser.isSignedIn())
            #expect(try await world.count("sessions WHERE ended_at IS NULL") == 102)
        }
    }

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

    @Test(
        "Disabling or deleting a merchant's provider ends web views of that merchant's apps, not of others'",
        arguments: Backend.available)
    func closed(backend: Backend) async throws {
        try await ProviderConfinementTests.Story.with(backend) { story in
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
