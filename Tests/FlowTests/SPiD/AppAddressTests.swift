import JSON
import TestSupport
import Testing

@Suite("Addresses in a SPiD-compatible client's app, beside those that are registered")
struct AppAddressTests {
    private static let place = "spid-loom://login?persist-user=true&path=validate-after-signup"
    private static let strange = [
        "spid-loom://other?path=x", "spid-loom://login.evil/x", "spid-loom://login@evil/x", "spid-loom://login:1/x",
        "spid-loom:/login?path=x", "spid-evil://login?path=x", "spid-loom://login\\evil?path=x",
        "spid-loom://login?path=x#top", "spid-loom://login?path=\u{E5}", "https://login?path=x",
        "javascript://login?path=x",
        "spid-loom://login?" + String(repeating: "a", count: 2000),
    ]

    private func client(_ world: World) async throws -> World.Actor {
        try await world.spidBackend(["redirect_uris": ["spid-loom://login", "com.loom.news:/in", "https://a.loom/x"]])
    }

    @Test(
        "A user signed up by an app returns, without a code, to an address with its custom scheme and host",
        arguments: Backend.available)
    func signUp(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await client(world)
            let token = try await world.clientToken(client)
            func make(_ address: String) async throws -> Answer {
                try await world.api(
                    "signup", token,
                    ["email": "grace@example.com", "password": "a quiet loom", "redirectUri": address])
            }
            for address in Self.strange + ["https://a.loom/y"] {
                #expect(try await make(address).status == 400, "\(address)")
            }
            try #require(try await make(Self.place).status == 201)
            let letter = try await world.server.mail.letter(to: "grace@example.com")
            let link = try #require(letter.link(containing: "/signup/address/"))
            var visitor = BrowserUser(world)
            let page = try await visitor.browser.open(link.replacing("http://spindle.test", with: ""))
            let done = try await visitor.browser.submit(page, ["password": "a quiet loom"])
            let onward = try #require(done.header("location"))
            let back = try await visitor.browser.open(onward)
            #expect(back.status == 302 && back.header("location") == Self.place)
            // The address is checked again when the user goes there.
            try await world.change("clients", client.id, ["redirect_uris": ["spid-loom://elsewhere"]])
            #expect(try await visitor.browser.open(onward).status == 400)
        }
    }

    @Test(
        "A password reset may return to an address with the app's custom scheme and host; no code goes there",
        arguments: Backend.available)
    func password(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await client(world)
            func open(_ path: String, _ address: String, _ more: String = "") async throws -> Answer {
                try await world.server.get(
                    "\(path)?client_id=\(client.id)&redirect_uri=\(TestServer.encode(address))\(more)")
            }
            for address in [Self.place, "com.loom.news:/other?path=x"] {
                #expect(try await open("/flow/password", address).status == 303, "\(address)")
                for entrance in ["/oauth/authorize", "/flow/login"] {
                    for type in ["code", "token", "code%20id_token", "nonsense"] {
                        let page = try await open(entrance, address, "&response_type=\(type)&nonce=n&scope=openid")
                        #expect(page.status == 400 && page.header("location") == nil, "\(entrance) \(type)")
                    }
                }
                let token = try await world.signIn(with: client).require("access_token")
                for type in ["code", "session"] {
                    let sold = try await world.exchange(token, for: client, type: type, redirectURI: address)
                    try await expect(400, "invalid_request", sold)
                }
            }
            for address in Self.strange + ["https://a.loom/y", "com.loom.news://other"] {
                let page = try await open("/flow/password", address)
                #expect(page.status == 400 && page.header("location") == nil, "\(address)")
            }
            // A client that is not SPiD-compatible has only its registered address.
            _ = try await world.change("clients", client.id, ["spid_compatible": false])
            #expect(try await open("/flow/password", Self.place).status == 400)
            #expect(try await open("/flow/password", "spid-loom://login").status == 303)
        }
    }

    @Test("A logout may lead to an address with the app's custom scheme and host", arguments: Backend.available)
    func logout(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await client(world)
            let logout = "/logout?client_id=\(client.id)&redirect_uri="
            let out = try await world.server.get(logout + TestServer.encode(Self.place))
            #expect(out.status == 302 && out.header("location") == Self.place)
            for address in Self.strange {
                let page = try await world.server.get(logout + TestServer.encode(address))
                #expect(page.header("location") == nil, "\(address)")
            }
        }
    }
}
