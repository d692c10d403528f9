import JSON
import TestSupport
import Testing

@Suite("The session service: a page asks by a fetch with the browser's cookies, as account-sdk-browser does")
struct SessionServiceTests {
    private static let origin = "https://www.loom.example"

    @Test(
        "A browser without a session gets no result from /v2/session, and an error from /session",
        arguments: Backend.available)
    func nobody(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await client(world)
            let five = try await ask(world, spid, "/v2/session")
            // Version 5 takes even a false result for a session, and keeps an sp_id where there is an expiresIn.
            #expect(five.status == 200)
            #expect(five.json.members?.map(\.name) == ["serverTime", "baseDomain", "userStatus"])
            #expect(five.json["userStatus"]?.string == "unknown")
            let four = try await ask(world, spid, "/session")
            #expect(four.status == 200 && four.json["result"] == nil)
            #expect(four.json["error"]?["code"]?.integer == 401)
            #expect(four.json["response"]?["result"] == false && four.json["response"]?["expiresIn"]?.integer == 300)
        }
    }

    @Test(
        "The session service tells whether the user uses the client, never used it, or signed out of it",
        arguments: Backend.available)
    func users(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await client(world)
            var browser = Browser(world.server)
            try await browser.signIn()
            let stranger = try await ask(world, spid, "/v2/session", browser)
            #expect(stranger.json["result"] == false && stranger.json["userStatus"]?.string == "notConnected")
            #expect(stranger.json["userId"] == nil && stranger.json["sig"] == nil)
            #expect(stranger.json["sp_id"] == nil && stranger.json["expiresIn"] == nil)

            let path = world.authorizeAddress(for: spid)
            let code = try await browser.open(path).requireRedirected("code")
            #expect(try await world.redeemAuthorization(code, as: spid).status == 200)
            for path in ["/session", "/v2/session"] {
                let known = try await ask(world, spid, path, browser).json
                #expect(known["result"] == true && known["userStatus"]?.string == "connected")
                #expect(known["userId"]?.integer.map(String.init) == world.user)
                #expect(known["sdrn"]?.string == "sdrn:spid.no:user:\(world.user)")
                #expect(known["sp_id"]?.string != nil && known["expiresIn"]?.integer ?? 0 > 0)
                #expect(known["tracking"] == false)
                #expect(known["displayName"]?.string == "Ada Lovelace" && known["email"] == nil)
                #expect(known["sig"]?.string?.contains(".") == true)
            }
            let logout = try await browser.open("/logout?logout_scope=client&client_id=\(spid.id)")
            _ = try await browser.submit(logout)
            let left = try await ask(world, spid, "/v2/session", browser).json
            #expect(left["userStatus"]?.string == "unknown" && left["result"] == nil && left["expiresIn"] == nil)
        }
    }

    @Test(
        "A user's session-service pairId is the same for one merchant's clients, and differs by merchant",
        arguments: Backend.available)
    func pairs(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            var pairs: [String] = []
            for merchant in [world.merchant, world.merchant, world.rival] {
                try await world.introduce(world.user, to: merchant)
                let spid = try await world.spidBackend(["web_origins": [.string(Self.origin)]], of: merchant)
                let way = try await browser.open(world.authorizeAddress(for: spid))
                let code = try way.requireRedirected("code")
                #expect(try await world.redeemAuthorization(code, as: spid).status == 200)
                pairs.append(try await ask(world, spid, "/v2/session", browser).require("pairId"))
            }
            #expect(pairs[0] == pairs[1] && pairs[0] != pairs[2])
            for pair in pairs { #expect(pair.wholeMatch(of: /[0-9a-f]{64}/) != nil && !pair.contains(world.user)) }
        }
    }

    @Test(
        "The session service and hasSession give the displayName that was set through SPiD's API",
        arguments: Backend.available)
    func displayNames(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await client(world)
            var browser = Browser(world.server)
            try await browser.signIn()
            let code = try await browser.open(world.authorizeAddress(for: spid)).requireRedirected("code")
            let token = try await world.redeemAuthorization(code, as: spid).require("access_token")
            let changed = try await world.api("user/\(world.user)", token, ["displayName": "Countess"])
            #expect(changed.status == 200 && changed.data["displayName"] == "Countess", "\(changed)")
            let script = try await browser.open(
                "/ajax/hasSession.js?client_id=\(spid.id)&callback=f", headers: ["Referer": Self.origin + "/"])
            #expect(script.body.contains(#""displayName":"Countess""#), "\(script)")
            #expect(try await ask(world, spid, "/v2/session", browser).json["displayName"] == "Countess")
        }
    }

    @Test("Only a page of the client's own registered origins may read the session service's answer")
    func origins() async throws {
        try await World.with(.sqlite) { world in
            let spid = try await client(world)
            let good = try await ask(world, spid, "/v2/session")
            #expect(good.header("access-control-allow-origin") == Self.origin)
            #expect(good.header("access-control-allow-credentials") == "true")
            #expect(good.header("vary") == "Origin" && good.header("cache-control") == "no-store")
            let other = try await world.spidBackend()
            try await world.change("clients", other.id, ["web_origins": ["https://other.example"]])
            let strangers = [
                "https://evil.example", "https://other.example", "null", "http://www.loom.example",
                Self.origin + ".evil.example", Self.origin + ":8443", Self.origin.uppercased(), Self.origin + "/", "",
            ]
            for origin in strangers {
                let headers = origin.isEmpty ? ["Referer": Self.origin + "/"] : ["Origin": origin]
                let answer = try await ask(world, spid, "/v2/session", headers: headers)
                #expect(answer.status == 403, "\(origin)")
                #expect(answer.header("access-control-allow-origin") == nil)
                #expect(answer.header("access-control-allow-credentials") == nil)
            }
            let preflight = try await world.server.send("OPTIONS", "/v2/session", headers: ["Origin": Self.origin])
            #expect(preflight.header("access-control-allow-origin") == nil, "no call needs one")
        }
    }

    @Test("The session service refuses a client that is missing, unknown, disabled or not SPiD-compatible")
    func clients() async throws {
        try await World.with(.sqlite) { world in
            try await world.change("clients", world.app.id, ["web_origins": [.string(Self.origin)]])
            #expect(try await ask(world, world.app, "/v2/session").status == 403)
            let spid = try await client(world)
            try await world.change("clients", spid.id, ["disabled": true])
            world.server.clock.advance(by: .seconds(1))
            #expect(try await ask(world, spid, "/v2/session").status == 403)
            for query in ["", "?client_sdrn=\(spid.id)", "?client_sdrn=sdrn:a:client:", "?client_id="] {
                let answer = try await world.server.get("/v2/session\(query)", headers: ["Origin": Self.origin])
                #expect(answer.status == 400 && answer.header("access-control-allow-origin") == nil, "\(query)")
            }
            let unknown = try await world.server.get(
                "/v2/session?client_sdrn=sdrn:spid.no:client:nobody", headers: ["Origin": Self.origin])
            #expect(unknown.status == 403)
        }
    }

    private func client(_ world: World) async throws -> World.Actor {
        try await world.spidBackend(["web_origins": [.string(Self.origin)]])
    }

    private func ask(
        _ world: World, _ client: World.Actor, _ path: String, _ browser: Browser? = nil,
        headers: [String: String] = ["Origin": origin, "Sec-Fetch-Mode": "cors"]
    ) async throws -> Answer {
        try await world.server.get(
            "\(path)?client_sdrn=sdrn%3Aschibsted.com%3Aclient%3A\(client.id)&sdk_version=5.2.7",
            cookies: browser?.cookies ?? [:], headers: headers)
    }

    @Test(
        "A client with require_verified_email gets no unverified user by session, user context, varnishId or refresh",
        arguments: Backend.available)
    func unverified(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let page = "https://www.loom.example"
            let client = try await world.spidBackend(["web_origins": [.string(page)]])
            let tokens = try await world.signIn(with: client)
            let own = try await world.clientToken(client)
            var visitor = try await world.signedIn()
            let headers = ["Origin": page]
            for isRequired in [false, true] {
                try await world.change("clients", client.id, ["require_verified_email": .bool(isRequired)])
                let service = try await visitor.browser.open("/v2/session?client_id=\(client.id)", headers: headers)
                #expect((service.json["result"] == true) == !isRequired, "\(service)")
                #expect((service.json["sp_id"] != nil) == !isRequired)
                let context = try await visitor.browser.open("/user-context?client_id=\(client.id)", headers: headers)
                #expect((context.json["identifier"] != nil) == !isRequired)
                let varnish = try await world.api("user/\(world.user)/varnishId", own)
                #expect(varnish.status == (isRequired ? 403 : 200), "\(varnish)")
                let refreshed = try await world.refresh(try tokens.require("refresh_token"), as: client)
                #expect(refreshed.status == (isRequired ? 400 : 200), "\(refreshed)")
            }
            // The token works again once the user confirms the address.
            try await world.change("users", world.user, ["email_verified": true])
            #expect(try await world.refresh(try tokens.require("refresh_token"), as: client).status == 200)
            let service = try await visitor.browser.open("/v2/session?client_id=\(client.id)", headers: headers)
            #expect(service.json["result"] == true, "\(service)")
        }
    }
}
