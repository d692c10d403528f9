import JSON
import TestSupport
import Testing

@Suite("SPiD clients may repeat their redirect URI with another query at the token endpoint, and nowhere else")
struct RedirectComparisonTests {
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
        "An authorization code is redeemed with another query only if the client is SPiD-compatible",
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
                // The other registered one is not the one that the code was bound to.
                for uri in Self.others + ["https://loom.example/other"] {
                    #expect(try await redeem(code, uri, world, client).error == "invalid_grant", "\(uri)")
                }
                #expect(try await redeem(code, "", world, client).error == "invalid_request")
                #expect(try await redeem(code, Self.registered, world, client).status == 200)
            }
        }
    }

    @Test(
        "An exchange code is redeemed with another query only if the client is SPiD-compatible",
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

    @Test("The authorization endpoint and the exchange compare redirect URIs exactly", arguments: Backend.available)
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
