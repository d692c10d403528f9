import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("The hasSession script, which tells a merchant's page whether the browser has a session")
struct HasSessionTests {
    private static let origin = "https://www.loom.example"
    private static let paths = ["/ajax/hasSession.js", "/rpc/hasSession.js"]

    @Test("The hasSession script is refused until the client registers the page's origin", arguments: Backend.available)
    func off(backend: Backend) async throws {
        try await World.with(backend) { world in
            for path in Self.paths {
                let off = try await ask(world, path: path)
                #expect(off.status == 403)
                #expect(
                    off.body
                        == "The web_origins of the client \(world.app.id) lack \(Self.origin), the origin of this page."
                )
                #expect(off.header("content-type") == "text/plain; charset=utf-8")
                #expect(!off.body.contains("SPiD"))
            }
            try await register(world, world.app)
            for path in Self.paths { #expect(try await ask(world, path: path).status == 200) }
            #expect(try await ask(world, client: world.backend.id).status == 403)
            try await world.change("clients", world.backend.id, ["disabled": true])
            for client in ["nobody", world.backend.id] {
                let unknown = try await ask(world, client: client)
                #expect(unknown.status == 403 && unknown.body == "The client_id \(client) is unknown or disabled.")
            }
            let nameless = try await ask(world, client: "")
            #expect(nameless.status == 403 && nameless.body == "The client_id is missing.")
            let hidden = try await ask(world, headers: [:])
            #expect(hidden.status == 403)
            #expect(hidden.body == "The page hides its origin: neither Origin nor Referer contains it.")
            for reason in ["origin_not_registered", "unknown_client", "client_missing", "origin_missing"] {
                #expect(world.server.log.says("reason=\(reason)"), "\(reason) is not in the log")
            }
        }
    }

    @Test(
        "The hasSession script answers only pages of an exactly registered origin, by Origin or else Referer",
        arguments: Backend.available)
    func origins(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await register(world, world.app)
            let good = [
                ["Origin": Self.origin], ["Referer": Self.origin], ["Referer": Self.origin + "/a/page?x=1#y"],
                ["Origin": Self.origin, "Referer": "https://evil.example/"],
            ]
            for headers in good { #expect(try await ask(world, headers: headers).status == 200, "\(headers)") }
            let bad = [
                [:], ["Origin": "null"], ["Origin": "https://evil.example"], ["Referer": "https://evil.example/"],
                ["Origin": "null", "Referer": Self.origin + "/"], ["Referer": "https://evil.example/?" + Self.origin],
                ["Referer": Self.origin + ".evil.example/"], ["Referer": Self.origin + "@evil.example/"],
                ["Referer": Self.origin + ":8443/"], ["Referer": "http://www.loom.example/"],
                ["Referer": Self.origin + "\\@evil.example"], ["Referer": "about:blank"], ["Referer": "://"],
                ["Origin": Self.origin.uppercased()],
            ]
            for headers in bad { #expect(try await ask(world, headers: headers).status == 403, "\(headers)") }
        }
    }

    @Test("The callback parameter of hasSession must be a plain name", arguments: Backend.available)
    func callback(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await register(world, world.app)
            for good in ["a", "cb_1.$2", String(repeating: "x", count: 64)] {
                let answer = try await ask(world, callback: good)
                #expect(answer.body.hasPrefix("/**/SPiD.Talk.response('\(good)', {"))
                #expect(answer.body.hasSuffix("});"))
            }
            let bad = [
                "", "');alert(1)//", "a b", "a-b", "a'b", "a\\", "é", "a\n", "<script>", "\u{2028}",
                String(repeating: "x", count: 65),
            ]
            for callback in bad {
                let answer = try await ask(world, callback: callback)
                #expect(answer.status == 400)
                #expect(answer.header("content-type") == "text/plain; charset=utf-8")
                #expect(!answer.body.contains("SPiD"))
            }
        }
    }

    @Test("The hasSession script is sent as JavaScript, not as a page, and is not cached", arguments: Backend.available)
    func headers(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await register(world, world.app)
            let answer = try await ask(world)
            #expect(answer.header("content-type") == "application/javascript; charset=utf-8")
            #expect(answer.header("x-content-type-options") == "nosniff")
            #expect(answer.header("cache-control") == "no-store")
            #expect(answer.header("cross-origin-resource-policy") == "cross-origin")
            #expect(answer.header("set-cookie") == nil)
        }
    }

    @Test(
        "hasSession names the user to clients that the user uses, and tells others only of a signed-in user",
        arguments: Backend.available)
    func answers(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.server.database.change("DELETE FROM connections")
            try await register(world, world.app)
            let nobody = try payload(try await ask(world))
            #expect(nobody["error"]?["code"]?.integer == 401)
            #expect(nobody["error"]?["type"]?.string == "UserException")
            let nothing: JSON = ["uid": "", "user_id": ""]
            let response: JSON = [
                "result": false, "serverTime": .integer(world.server.clock.now.seconds), "expiresIn": 300,
                "baseDomain": "spindle.test", "visitor": nothing,
            ]
            #expect(nobody["response"] == response)

            var browser = Browser(world.server)
            try await browser.signIn()
            let stranger = try payload(try await ask(world, browser: browser))
            // The SDKs take `result` for "connected to this client", and keep it.
            #expect(
                stranger == .object((response.members ?? []) + [.init("userStatus", "notConnected")]))

            try await world.introduce(world.user)
            _ = try await world.redeemAuthorization(
                try await browser.open(world.authorizeAddress()).requireRedirected("code"))
            world.server.clock.advance(by: .seconds(30))
            let known = try payload(try await ask(world, browser: browser))
            #expect(known["result"]?.bool == true)
            #expect(known["userStatus"]?.string == "connected")
            #expect(known["userId"]?.integer.map(String.init) == world.user)
            #expect(known["id"]?.string == world.user)
            #expect(known["displayName"]?.string == "Ada Lovelace")
            #expect(known["expiresIn"]?.integer == 7200)
            #expect(known["visitor"] == ["uid": .string(world.user), "user_id": .string(world.user)])
            #expect(known["serverTime"]?.integer == world.server.clock.now.seconds)
            #expect(known["email"] == nil)

            _ = try await browser.submit(try await browser.open("/logout"))
            #expect(try payload(try await ask(world, browser: browser))["error"] != nil)
        }
    }

    @Test(
        "The hasSession script tells a third party's page no more than the user allowed", arguments: Backend.available)
    func thirdParty(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.stranger()
            try await register(world, stranger)
            var browser = Browser(world.server)
            try await browser.signIn()
            for (scope, name) in [("openid", nil), ("profile", "Ada Lovelace")] {
                let page = try await browser.open(world.authorizeAddress(["scope": scope], for: stranger))
                let answer = try await world.allow(page, in: &browser, ticking: [scope])
                _ = try await world.redeemAuthorization(try answer.requireRedirected("code"), as: stranger)
                let told = try payload(try await ask(world, client: stranger.id, browser: browser))
                #expect(told["userId"]?.integer.map(String.init) == world.user)
                #expect(told["displayName"]?.string == name)
            }
        }
    }

    @Test(
        "hasSession no longer names the user to a client that becomes a third party's",
        arguments: Backend.available)
    func becameThirdParty(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = world.backend
            try await register(world, client)
            var browser = Browser(world.server)
            let code = try await world.authorize(in: &browser, for: client).requireRedirected("code")
            let tokens = try await world.redeemAuthorization(code, as: client)
            let own = try payload(try await ask(world, client: client.id, browser: browser))
            #expect(own["userStatus"] == "connected" && own["displayName"] == "Ada Lovelace", "\(own)")
            #expect(try await world.change("clients", client.id, ["first_party": false]).status == 200)
            #expect(try await world.isLive(try tokens.require("access_token")))
            let told = try payload(try await ask(world, client: client.id, browser: browser))
            #expect(told["userStatus"] == "notConnected" && told["result"] == false, "\(told)")
            #expect(told["userId"] == nil && told["id"] == nil && told["displayName"] == nil)
        }
    }

    @Test(
        "A session bought with one merchant's token is not seen by another merchant's hasSession script",
        arguments: Backend.available)
    func bought(backend: Backend) async throws {
        try await World.with(backend) { world in
            for client in [world.app, world.rivalBackend] { try await register(world, client) }
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: try await world.signIn()))")
            #expect(try payload(try await ask(world, browser: webview))["userStatus"]?.string == "connected")
            let rival = try payload(try await ask(world, client: world.rivalBackend.id, browser: webview))
            #expect(rival["error"]?["code"]?.integer == 401)
        }
    }

    @Test(
        "hasSession escapes a user's name, so that no markup or line end in it breaks the script",
        arguments: Backend.available)
    func names(backend: Backend) async throws {
        try await World.with(backend) { world in
            let name = "</script><script>alert(1)</script>\u{2028}\u{2029}'\"\\ שלום 🧵"
            try await world.change("users", world.user, ["name": .string(name)])
            try await register(world, world.app)
            var browser = Browser(world.server)
            _ = try await world.redeemAuthorization(
                try await world.authorize(in: &browser).requireRedirected("code"))
            let answer = try await ask(world, browser: browser)
            #expect(!answer.body.contains("<"))
            #expect(!answer.body.unicodeScalars.contains { $0 == "\u{2028}" || $0 == "\u{2029}" })
            #expect(try payload(answer)["displayName"]?.string == name)
        }
    }

    private func register(_ world: World, _ client: World.Actor) async throws {
        let changed = try await world.change("clients", client.id, ["web_origins": [.string(Self.origin)]])
        #expect(changed.status == 200)
    }

    private func ask(
        _ world: World, path: String = "/ajax/hasSession.js", client: String? = nil, callback: String = "cb1",
        browser: Browser? = nil, headers: [String: String] = ["Referer": Self.origin + "/news"]
    ) async throws -> Answer {
        try await world.server.get(
            "\(path)?autologin=1&v=2&client_id=\(client ?? world.app.id)&callback=\(TestServer.encode(callback))",
            cookies: browser?.cookies ?? [:], headers: headers)
    }

    /// What the script hands to the callback.
    private func payload(_ answer: Answer) throws -> JSON {
        let start = try #require(answer.body.firstIndex(of: "{"))
        return try JSON(parsing: Array(answer.body[start...].dropLast(2).utf8))
    }
}
