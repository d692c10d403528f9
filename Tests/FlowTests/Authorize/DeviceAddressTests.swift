import JSON
import TestSupport
import Testing

@Suite("Redirect URIs that any app on a device can claim (RFC 8252 §8.6)")
struct DeviceAddressTests {
    private static let loopback = "http://127.0.0.1:49152/back"

    /// Requests of the phone for its own scheme and for a port of the device.
    private func addresses(_ world: World, _ changes: KeyValuePairs<String, String> = [:]) async throws -> [String] {
        let desktop = try await World.client(
            world.server, world.admin,
            [
                "merchant_id": .string(world.merchant), "client_name": "Loom for desks",
                "redirect_uris": ["http://127.0.0.1/back"], "grant_types": ["authorization_code"],
                "scope": "openid profile", "token_endpoint_auth_method": "none",
            ])
        let more = changes.map { "&\($0.key)=\(TestServer.encode($0.value))" }.joined()
        return [
            world.authorizeAddress(["redirect_uri": World.scheme]) + more,
            world.authorizeAddress(["redirect_uri": Self.loopback], for: desktop) + more,
        ]
    }

    @Test(
        "A public client at a redirect URI that any app can claim gets no code without the user's tap",
        arguments: Backend.available)
    func silent(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            for address in try await addresses(world) {
                // Each time: an earlier answer does not show which app asks now.
                for _ in 1...2 {
                    let page = try await browser.open(address)
                    #expect(page.status == 200 && page.isPage)
                    #expect(page.header("location") == nil)
                    #expect(page.words.contains("Continue as <bdi>\(World.email)"))
                    let answered = try await browser.submit(page, ["decision": "continue"])
                    let back = try await browser.open(try #require(answered.header("location")))
                    #expect(back.status == 302 && back.redirected("code") != nil)
                }
                let none = try await browser.open(address + "&prompt=none")
                #expect(none.redirected("error") == "interaction_required")
                #expect(none.redirected("code") == nil)
            }
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: try await world.signIn()))")
            let scheme = world.authorizeAddress(["redirect_uri": World.scheme, "prompt": "none"])
            #expect(try await webview.open(scheme).redirected("error") == "interaction_required")
        }
    }

    @Test("A public client's redirect URI with a loopback host gets no code silently, however it is spelled")
    func spellings() async throws {
        try await World.with(.sqlite) { world in
            let places = [
                "127.0.0.1:8443", "127.1", "[::1]", "[::ffff:7f00:1]", "0.0.0.0", "localhost", "localhost.:8443",
                "loom.localhost",
            ].map { "https://\($0)/back" }
            let desktop = try await World.client(
                world.server, world.admin,
                [
                    "merchant_id": .string(world.merchant), "client_name": "Loom for desks",
                    "redirect_uris": .array((places + ["https://loom.example/back"]).map { .string($0) }),
                    "grant_types": ["authorization_code"], "scope": "openid", "token_endpoint_auth_method": "none",
                ])
            var browser = Browser(world.server)
            try await browser.signIn()
            func answer(at place: String) async throws -> Answer {
                let request = world.authorizeAddress(["redirect_uri": place, "prompt": "none"], for: desktop)
                return try await browser.open(request)
            }
            for place in places {
                #expect(try await answer(at: place).redirected("error") == "interaction_required", "\(place)")
            }
            #expect(try await answer(at: "https://loom.example/back").redirected("code") != nil)
        }
    }

    @Test(
        "An app with a custom-scheme redirect URI gets no code silently, even with a secret; a backend does",
        arguments: Backend.available)
    func known(backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await world.confidential(["redirect_uris": [.string(World.scheme)]])
            let spid = try await world.spidBackend(["redirect_uris": ["spid-loom://login"]])
            let local = try await world.confidential(["redirect_uris": ["http://localhost:3000/in"]])
            var browser = Browser(world.server)
            try await browser.signIn()
            for address in [
                world.authorizeAddress(), world.authorizeAddress(["prompt": "none"]),
                world.authorizeAddress(["redirect_uri": "http://localhost:3000/in"], for: local),
            ] {
                #expect(try await browser.open(address).redirected("code") != nil)
            }
            for (client, uri) in [(app, World.scheme), (spid, "spid-loom://login")] {
                let page = try await browser.open(world.authorizeAddress(["redirect_uri": uri], for: client))
                #expect(page.status == 200 && page.words.contains("Continue"), "\(page)")
                let none = try await browser.open(
                    world.authorizeAddress(["redirect_uri": uri, "prompt": "none"], for: client))
                #expect(none.redirected("error") == "interaction_required", "\(none)")
            }
        }
    }

    @Test(
        "A client with a custom-scheme redirect URI gets no ID token silently, even if it authenticates",
        arguments: Backend.available)
    func tokens(backend: Backend) async throws {
        try await World.with(backend) { world in
            let proven = try await world.confidential([
                "redirect_uris": [.string(World.scheme)], "response_types": ["code", "id_token", "code id_token"],
                "scope": "openid profile",
            ])
            var browser = Browser(world.server)
            try await browser.signIn()
            for type in ["id_token", "code id_token"] {
                let address = world.authorizeAddress(
                    ["response_type": type, "scope": "openid", "nonce": "n"], for: proven)
                let page = try await browser.open(address)
                #expect(page.status == 200 && page.words.contains("Continue as <bdi>\(World.email)"), "\(page)")
                let none = try await browser.open(address + "&prompt=none")
                #expect(none.header("location")?.contains("interaction_required") == true, "\(none)")
            }
        }
    }

    @Test(
        "A user who just signed in or consented for the app need not tap Continue as well",
        arguments: Backend.available)
    func signedIn(backend: Backend) async throws {
        try await World.with(backend) { world in
            for address in try await addresses(world) {
                var browser = Browser(world.server)
                let signedIn = try await browser.submit(
                    try await browser.open(address), ["email": World.email, "password": World.password])
                let way = try #require(signedIn.header("location"))
                #expect(try await browser.open(way).redirected("code") != nil)
                // Not for the next request.
                #expect(try await browser.open(address).isPage)

                let consent = try await browser.open(address + "&prompt=consent")
                let back = try await world.allow(consent, in: &browser, ticking: consent.boxes)
                #expect(back.redirected("code") != nil)
            }
        }
    }

    @Test(
        "A tap on Continue counts once, within five minutes, only for that request, user and browser",
        arguments: Backend.available)
    func forged(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("grace@example.com")
            var browser = Browser(world.server)
            try await browser.signIn()
            for address in try await addresses(world) {
                let page = try await browser.open(address)
                let answered = try await browser.submit(page, ["decision": "continue"])
                let way = try #require(answered.header("location"))
                let id = try #require(answered.redirected("continue"))
                // For another request, in another browser, of another user, twice, and late.
                #expect(try await browser.open("\(address)&continue=\(id)").isPage)
                var grace = Browser(world.server)
                try await grace.signIn(as: "grace@example.com")
                #expect(try await grace.open(way).isPage)
                var other = Browser(world.server)
                try await other.signIn()
                #expect(try await other.open(way).isPage)
                world.server.clock.advance(by: .seconds(299))
                #expect(try await browser.open(way).redirected("code") != nil)
                let again = try await browser.open(way)
                #expect(again.isPage)
                _ = try await browser.submit(again, ["decision": "continue"])
                world.server.clock.advance(by: .seconds(300))
                #expect(try await browser.open(way).isPage)
            }
        }
    }
}
