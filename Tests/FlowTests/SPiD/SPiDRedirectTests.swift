import JSON
import TestSupport
import Testing

@Suite("Authorization answers and redirect URIs as SPiD's SDKs use them")
struct SPiDRedirectTests {
    private static let origin = "https://backend.example"

    /// The names of the parameters that the client gets, in order.
    private func names(_ answer: Answer, _ mark: Character) throws -> [String] {
        let location = try #require(answer.header("location"), "\(answer)")
        let tail = try #require(location.split(separator: mark, maxSplits: 1).last)
        return tail.split(separator: "&").map { String($0.prefix { $0 != "=" }) }
    }

    @Test(
        "Authorization answers to a SPiD-compatible client have iss only if authorization_response_iss is on",
        arguments: Backend.available)
    func issuer(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend(["web_origins": [.string(Self.origin)]])
            var browser = Browser(world.server)
            try await browser.signIn()
            for (wants, tail) in [(false, []), (true, ["iss"])] {
                let changed = try await world.change(
                    "clients", spid.id, ["authorization_response_iss": .bool(wants)])
                #expect(changed.status == 200)
                for (mode, mark) in [("query", "?"), ("fragment", "#")] as [(String, Character)] {
                    let changes: KeyValuePairs = ["response_mode": mode]
                    let given = try await browser.open(world.authorizeAddress(changes, for: spid))
                    #expect(try names(given, mark) == ["code", "state"] + tail)
                    let silent = try await world.server.get(
                        world.authorizeAddress(["response_mode": mode, "prompt": "none"], for: spid))
                    #expect(try names(silent, mark) == ["error", "error_description", "state"] + tail)
                }
                for mode in ["form_post", "web_message"] {
                    let page = try await browser.open(world.authorizeAddress(["response_mode": mode], for: spid))
                    #expect(page.status == 200 && page.body.contains("name=\"code\""), "\(page)")
                    #expect(page.body.contains("name=\"iss\"") == wants, "\(mode)")
                }
                let nothing = try await browser.open(world.authorizeAddress(["response_type": "none"], for: spid))
                #expect(try names(nothing, "?") == ["state"] + tail)
            }
            // Every other client gets iss.
            let own = try await browser.open(world.authorizeAddress())
            #expect(try names(own, "?") == ["code", "state", "iss"])
        }
    }

    @Test(
        "SPiD's SDK for PHP is redirected to its redirect URI with a code added and nothing else",
        arguments: Backend.available)
    func currentURI(backend: Backend) async throws {
        try await World.with(backend) { world in
            let page = "https://backend.example/callback?article=7"
            let spid = try await world.spidBackend(["redirect_uris": [.string(page)]])
            var browser = Browser(world.server)
            try await browser.signIn()
            let query = "client_id=\(spid.id)&response_type=code&redirect_uri=\(TestServer.encode(page))"
            let picker = try await browser.open("/flow/login?\(query)")
            let back = try await browser.pick(try #require(picker.choices.first), on: picker)
            let location = try #require(back.header("location"))
            let code = try back.requireRedirected("code")
            #expect(location.replacing("&code=\(code)", with: "") == page)
        }
    }

    @Test(
        "A user who cancels at the login page is sent to the client's cancel address with spid_page=login",
        arguments: Backend.available)
    func cancelling(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend(["web_origins": ["https://www.loom.example/news"]])
            for (address, location) in [
                (
                    "https://www.loom.example/news/today?a=b#top",
                    "https://www.loom.example/news/today?a=b&spid_page=login"
                ),
                (spid.redirectURI, spid.redirectURI + "?spid_page=login"),
            ] {
                var browser = Browser(world.server)
                let page = try await browser.open(
                    "/flow/login" + request(world, ["cancel_redirect_uri": address], spid))
                let left = try await world.answer(page, in: browser, "cancel")
                #expect(left.status == 302 && left.header("location") == location)
            }
        }
    }

    @Test(
        "A SPiD-compatible client's unregistered cancel address is ignored, and the login page has no cancel button",
        arguments: Backend.available)
    func unregistered(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend(["web_origins": ["https://www.loom.example/news"]])
            for bad in [
                "https://evil.example/", "https://www.loom.example/newspaper", "https://www.loom.example/",
                "https://www.loom.example/news/../admin", "https://www.loom.example/news/%2e%2e/admin",
                "https://www.loom.example/news%2f..%2fadmin", "https://www.loom.example@evil.example/news",
                "https://www.loom.example\\@evil.example/news", "//www.loom.example/news", "javascript:alert(1)",
                "http://www.loom.example/news", "https://www.loom.example:8443/news",
            ] {
                var browser = Browser(world.server)
                let page = try await browser.open("/flow/login" + request(world, ["cancel_redirect_uri": bad], spid))
                #expect(page.status == 200 && page.formAction == "/login", "\(bad)")
                #expect(world.server.log.says("reason=unregistered_cancel_uri"), "\(bad)")
                #expect(!page.body.contains("value=\"cancel\""))
                #expect(!page.body.contains("evil.example"))
                // Cancelling by a form of one's own leads to the client.
                let left = try await world.answer(
                    page, in: browser, "cancel", over: ["request": try #require(page.fields["continue"])])
                #expect(left.header("location")?.hasPrefix(spid.redirectURI + "?error=access_denied") == true)
                let signedIn = try await browser.submit(page, ["email": World.email, "password": World.password])
                let back = try await browser.open(try #require(signedIn.header("location")))
                #expect(back.redirected("code") != nil)
            }
            var browser = Browser(world.server)
            let bad: KeyValuePairs = ["cancel_redirect_uri": "https://evil.example/"]
            let page = try await browser.open("/flow/login" + request(world, bad, spid))
            let again = try await browser.submit(page, ["email": World.email, "password": "a guess"])
            #expect(again.status != 303 && !again.body.contains("value=\"cancel\""))
        }
    }

    private func request(
        _ world: World, _ changes: KeyValuePairs<String, String>, _ client: World.Actor
    ) -> String {
        String(world.authorizeAddress(changes, for: client).dropFirst("/oauth/authorize".count))
    }

    // MARK: How redirect URIs are compared

    private static let registered = "https://loom.example/in?place=oslo"
    private static let alike = [
        registered, "https://loom.example/in", "https://loom.example/in/", "https://loom.example/in/?place=oslo",
        registered + "&code=abc&state=xyz", "https://loom.example/in?",
    ]
    private static let others = [
        "https://loom.example/", "https://loom.example/in/side", "https://loom.example/IN", "http://loom.example/in",
        "https://evil.example/in?place=oslo", "https://loom.example/in//", "https://loom.example/in#place",
        "https://loom.example:443/in", "https://loom.example/i%6E", "?place=oslo", "/",
    ]

    @Test(
        "Only a SPiD-compatible client may redeem an authorization code with another query in redirect_uri",
        arguments: Backend.available)
    func authorizationCode(backend: Backend) async throws {
        try await World.with(backend) { world in
            let uris: JSON = [.string(Self.registered), "https://loom.example/other"]
            let spid = try await world.spidBackend(["redirect_uris": uris])
            let strict = try await world.confidential(["redirect_uris": uris])
            for (client, isSPiD) in [(spid, true), (strict, false)] {
                var browser = Browser(world.server)
                try await browser.signIn()
                for uri in Self.alike {
                    let code = try await self.code(world, in: &browser, for: client)
                    let redeemed = try await redeem(code, uri, world, client)
                    #expect(redeemed.status == (isSPiD || uri == Self.registered ? 200 : 400), "\(uri) \(isSPiD)")
                }
                let code = try await self.code(world, in: &browser, for: client)
                // Another registered URI is not the one that the code is bound to.
                for uri in Self.others + ["https://loom.example/other"] {
                    #expect(try await redeem(code, uri, world, client).error == "invalid_grant", "\(uri)")
                }
                #expect(try await redeem(code, "", world, client).error == "invalid_request")
                #expect(try await redeem(code, Self.registered, world, client).status == 200)
            }
        }
    }

    @Test(
        "Only a SPiD-compatible client may redeem an exchange code with another query in redirect_uri",
        arguments: Backend.available)
    func exchangeCode(backend: Backend) async throws {
        try await World.with(backend) { world in
            let uris: JSON = [.string(Self.registered), "https://loom.example/other"]
            let spid = try await world.spidBackend(["redirect_uris": uris])
            let strict = try await world.confidential(["redirect_uris": uris])
            let phone = try await world.signIn().require("access_token")
            for (client, isSPiD) in [(spid, true), (strict, false)] {
                for bound in ["", Self.registered] {
                    for uri in Self.alike {
                        let code = try await world.exchange(phone, for: client, redirectURI: bound).require("code")
                        let redeemed = try await world.redeem(code, as: client, redirectURI: uri)
                        #expect(redeemed.status == (isSPiD || uri == Self.registered ? 200 : 400), "\(uri) \(isSPiD)")
                    }
                    let code = try await world.exchange(phone, for: client, redirectURI: bound).require("code")
                    for uri in Self.others + (bound.isEmpty ? [] : ["https://loom.example/other"]) {
                        let refused = try await world.redeem(code, as: client, redirectURI: uri)
                        #expect(refused.error == "invalid_grant", "\(uri)")
                    }
                    #expect(try await world.redeem(code, as: client, redirectURI: Self.registered).status == 200)
                }
            }
        }
    }

    @Test(
        "The authorization endpoint and the exchange compare even a SPiD client's redirect URIs exactly",
        arguments: Backend.available)
    func exactly(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend(["redirect_uris": [.string(Self.registered)]])
            let phone = try await world.signIn().require("access_token")
            for uri in Self.alike.dropFirst() + Self.others {
                let page = try await world.server.get(world.authorizeAddress(["redirect_uri": uri], for: spid))
                #expect(page.status == 400 && page.isPage && page.header("location") == nil, "\(uri)")
                #expect(try await world.exchange(phone, for: spid, redirectURI: uri).status == 400, "\(uri)")
            }
        }
    }

    private func code(_ world: World, in browser: inout Browser, for client: World.Actor) async throws -> String {
        let address = world.authorizeAddress(["redirect_uri": Self.registered], for: client)
        return try await browser.open(address).requireRedirected("code")
    }

    private func redeem(
        _ code: String, _ uri: String, _ world: World, _ client: World.Actor
    ) async throws -> Answer {
        try await world.redeemAuthorization(code, as: client, ["redirect_uri": uri])
    }
}
