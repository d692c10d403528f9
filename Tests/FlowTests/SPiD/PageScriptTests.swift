import Cryptography
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("SPiD's JavaScript on a client's page")
struct PageScriptTests {
    private static let origin = "https://www.loom.example"

    @Test(
        "The hasSession script signs a connected user's id only for SPiD-compatible clients",
        arguments: Backend.available)
    func signature(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await page(of: world, ["spid_compatible": true])
            let strict = try await page(of: world, [:])
            var browser = Browser(world.server)
            try await browser.signIn()
            // A user who has not used the client is not named.
            #expect(try await told(world, "hasSession", spid.client, browser)["sig"] == nil)
            for client in [spid.client, strict.client] { _ = try await world.signIn(with: client) }
            let known = try await told(world, "hasSession", spid.client, browser)
            let parts = try #require(known["sig"]?.string).split(separator: ".").map(String.init)
            #expect(parts.count == 2)
            let mac = Digest.hmacSHA256(Array(parts[1].utf8), key: Array(spid.signSecret.utf8))
            #expect(parts[0] == Base64URL.encode(mac))
            let payload = try JSON(parsing: try #require(Base64URL.decode(parts[1])))
            #expect(payload["algorithm"] == "HMAC-SHA256")
            #expect(payload["userId"]?.integer.map(String.init) == world.user)
            let said = known.members?.map(\.name).filter { $0 != "sig" } ?? []
            #expect(payload.members?.map(\.name) == ["algorithm"] + said)
            for name in said { #expect(payload[name] == known[name]) }
            let token = try await world.signIn(with: spid.client).require("access_token")
            #expect(try await world.api("user/\(world.user)", token).data["uuid"] == known["uuid"])
            #expect(known["uuid"]?.string?.count == 36)
            let other = try await told(world, "hasSession", strict.client, browser)
            #expect(other["userId"] != nil && other["sig"] == nil)
        }
    }

    @Test(
        "The hasSession script tells which agreements the user accepted, and acceptAgreement accepts them",
        arguments: Backend.available)
    func agreements(backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": "https://spindle.test/terms"]) { world in
            let page = try await page(of: world, ["spid_compatible": true, "tos_uri": "https://loom.example/terms"])
            var browser = Browser(world.server)
            #expect(try await told(world, "acceptAgreement", page.client, browser)["error"] != nil)
            try await browser.signIn()
            #expect(try await told(world, "acceptAgreement", page.client, browser)["error"] != nil)
            _ = try await world.signIn(with: page.client)
            func isAccepted() async throws -> [Bool?] {
                let known = try await told(world, "hasSession", page.client, browser)
                #expect(known["userStatus"] == "connected")
                let hasAgreed = known["defaultAgreementAccepted"] == true && known["clientAgreementAccepted"] == true
                // `result` needs a connection and both agreements. Without them the answer is cached for a short time.
                #expect(known["result"] == .bool(hasAgreed))
                #expect(known["expiresIn"] == (hasAgreed ? 7200 : 300))
                return [known["defaultAgreementAccepted"]?.bool, known["clientAgreementAccepted"]?.bool]
            }
            #expect(try await isAccepted() == [false, false])
            #expect(try await told(world, "acceptAgreement", page.client, browser)["result"] == true)
            #expect(try await isAccepted() == [true, true])
            try await world.change("clients", page.client.id, ["tos_uri": "https://loom.example/new-terms"])
            #expect(try await isAccepted() == [true, false])
        }
    }

    @Test(
        "The page scripts of a third party's client can neither sign the user out nor accept terms",
        arguments: Backend.available)
    func thirdParty(backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": "https://spindle.test/terms"]) { world in
            let page = try await page(of: world, ["spid_compatible": true])
            var browser = Browser(world.server)
            try await browser.signIn()
            _ = try await world.signIn(with: page.client)
            try await world.change("clients", page.client.id, ["first_party": false])
            for name in ["acceptAgreement", "logout"] {
                #expect(try await told(world, name, page.client, browser)["error"]?["code"] == 403)
            }
            #expect(try await browser.isSignedIn())
            let agreed = try await world.server.database.rows("SELECT user_id FROM agreements")
            #expect(agreed.isEmpty)
        }
    }

    @Test("Signing out by script ends the session and clears its cookie", arguments: Backend.available)
    func logout(backend: Backend) async throws {
        try await World.with(backend) { world in
            let page = try await page(of: world, [:])
            var browser = Browser(world.server)
            try await browser.signIn()
            // A page cannot sign out a user who has not used its client.
            let stranger = try await told(world, "logout", page.client, browser)
            #expect(stranger["error"]?["code"] == 401 && stranger["response"]?["result"] == false)
            #expect(try await browser.isSignedIn())
            _ = try await world.signIn(with: page.client)
            let stale = browser
            let out = try await ask(world, "logout", page.client, stale)
            #expect(try payload(out) == ["result": true])
            #expect(out.header("content-type") == "application/javascript; charset=utf-8")
            #expect(out.header("cache-control") == "no-store")
            #expect(out.setCookie("spindle_session")?.contains("Max-Age=0") == true)
            #expect(try await !browser.isSignedIn())
            #expect(try await told(world, "hasSession", page.client, stale)["error"] != nil)
            #expect(try await told(world, "logout", page.client, browser)["result"] == true)
        }
    }

    @Test(
        "A page script's sign-out also ends the user's set-aside sessions in the browser, not other users'",
        arguments: Backend.available)
    func setAside(backend: Backend) async throws {
        try await World.with(backend) { world in
            let page = try await page(of: world, [:])
            _ = try await world.signIn(with: page.client)
            _ = try await world.person("bob@example.com")
            let asks = world.authorizeAddress(["prompt": "select_account"])
            var browser = Browser(world.server)
            try await browser.signIn(as: "bob@example.com")
            let bobs = try #require(browser.session)
            _ = try await browser.useAnother(asks, as: World.email)
            let first = try #require(browser.session)
            _ = try await browser.useAnother(asks, as: World.email)
            let second = try #require(browser.session)
            #expect(second != first)
            #expect(try await told(world, "logout", page.client, browser)["result"] == true)
            for (session, isLive) in [(first, false), (second, false), (bobs, true)] {
                let answer = try await world.server.get("/login", cookies: ["spindle_session": session])
                #expect(answer.body.contains("You are signed in") == isLive)
            }
        }
    }

    @Test("Only a script on a page with a registered origin can sign out or accept terms", arguments: Backend.available)
    func forgery(backend: Backend) async throws {
        try await World.with(backend, settings: ["terms": "https://spindle.test/terms"]) { world in
            let page = try await page(of: world, [:])
            var browser = Browser(world.server)
            try await browser.signIn()
            _ = try await world.signIn(with: page.client)
            let bad: [[String: String]] = [
                [:], ["Origin": "null"], ["Origin": "https://evil.example"], ["Referer": "https://evil.example/"],
                ["Referer": Self.origin + ".evil.example/"], ["Origin": "null", "Referer": Self.origin + "/"],
                ["Referer": Self.origin + "/", "Sec-Fetch-Dest": "image"],
                ["Referer": Self.origin + "/", "Sec-Fetch-Dest": "document"],
            ]
            for name in ["logout", "acceptAgreement"] {
                for headers in bad {
                    #expect(try await ask(world, name, page.client, browser, headers).status == 403, "\(headers)")
                }
                #expect(try await ask(world, name, world.backend, browser).status == 403)
                #expect(try await ask(world, name, page.client, browser, callback: "alert(1)").status == 400)
            }
            let known = try await told(world, "hasSession", page.client, browser)
            #expect(known["userStatus"] == "connected" && known["defaultAgreementAccepted"] == false)
            let script = ["Origin": Self.origin, "Sec-Fetch-Dest": "script"]
            #expect(try await ask(world, "logout", page.client, browser, script).status == 200)
            #expect(try await !browser.isSignedIn())
        }
    }

    @Test(
        "A merchant's page script cannot end a web view's session that another merchant's token bought",
        arguments: Backend.available)
    func bought(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await page(of: world, [:])
            let rival = try await page(of: world, [:], merchant: world.rival)
            for client in [own.client, rival.client] { _ = try await world.signIn(with: client) }
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: try await world.signIn()))")
            #expect(try await told(world, "logout", rival.client, webview)["error"] != nil)
            #expect(try await told(world, "hasSession", own.client, webview)["result"] == true)
            #expect(try await told(world, "logout", own.client, webview)["result"] == true)
            #expect(try await told(world, "hasSession", own.client, webview)["error"] != nil)
        }
    }

    @Test(
        "A sign-out by page script while a web view's app is disabled still holds once the app is enabled",
        arguments: Backend.available)
    func resting(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (own, rival) = (try await page(of: world, [:]), try await page(of: world, [:], merchant: world.rival))
            _ = try await world.signIn(with: own.client)
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: try await world.signIn()))")
            for (client, isSignedIn) in [(rival.client, true), (own.client, false)] {
                try await world.change("clients", world.app.id, ["disabled": true])
                let out = try await ask(world, "logout", client, webview)
                #expect(try payload(out) == ["result": true])
                #expect((out.setCookie("spindle_session") == nil) == isSignedIn)
                try await world.change("clients", world.app.id, ["disabled": false])
                let told = try await told(world, "hasSession", own.client, webview)
                #expect((told["result"] == true) == isSignedIn, "\(told)")
            }
        }
    }

    /// A client with a web page.
    private func page(
        of world: World, _ members: KeyValuePairs<String, JSON>, merchant: String? = nil
    ) async throws -> (client: World.Actor, signSecret: String) {
        let base: JSON = [
            "merchant_id": .string(merchant ?? world.merchant), "client_name": "A page of Loom's",
            "redirect_uris": ["https://www.loom.example/in"], "grant_types": ["authorization_code", "password"],
            "scope": "profile email", "web_origins": [.string(Self.origin)],
        ]
        let more = members.map { JSON.Member($0.key, $0.value) }
        let made = try await World.make(world.server, world.admin, "clients", .object((base.members ?? []) + more))
        let client = World.Actor(
            id: try made.require("client_id"), secret: try made.require("client_secret"),
            redirectURI: "https://www.loom.example/in")
        return (client, try made.require("sign_secret"))
    }

    private func ask(
        _ world: World, _ name: String, _ client: World.Actor, _ browser: Browser,
        _ headers: [String: String] = ["Referer": Self.origin + "/news"], callback: String = "cb1"
    ) async throws -> Answer {
        let query = "v=2&autologin=1&client_id=\(client.id)&callback=\(TestServer.encode(callback))&redirect_uri=x"
        return try await world.server.get("/ajax/\(name).js?\(query)", cookies: browser.cookies, headers: headers)
    }

    /// What the script hands to the callback.
    private func told(
        _ world: World, _ name: String, _ client: World.Actor, _ browser: Browser
    ) async throws -> JSON {
        try payload(try await ask(world, name, client, browser))
    }

    private func payload(_ answer: Answer) throws -> JSON {
        #expect(answer.status == 200)
        let start = try #require(answer.body.firstIndex(of: "{"))
        return try JSON(parsing: Array(answer.body[start...].dropLast(2).utf8))
    }
}
