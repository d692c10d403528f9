import JSON
import TestSupport
import Testing

@Suite("Offline access: which tokens live on after their user signs out of the browser")
struct OfflineAccessTests {
    /// Allows a client what it asks for, signs out of that browser, and says whether its tokens live on.
    private func survives(
        _ world: World, _ client: World.Actor, _ changes: KeyValuePairs<String, String>
    ) async throws -> Bool {
        var browser = Browser(world.server)
        let code = try await world.consented(in: &browser, changes, for: client).requireRedirected("code")
        let tokens = try await world.redeemAuthorization(code, as: client)
        let (access, refresh) = (try tokens.require("access_token"), try tokens.require("refresh_token"))
        #expect(try await world.isLive(access))
        _ = try await browser.submit(try await browser.open("/logout"))
        let isLive = try await world.isLive(access)
        #expect((try await world.refresh(refresh, as: client).status == 200) == isLive)
        return isLive
    }

    private static let scope: JSON = "openid profile offline_access"

    @Test(
        "Without offline_access a third party's tokens end with the session, even those without openid",
        arguments: Backend.available)
    func stranger(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.stranger(["scope": Self.scope])
            #expect(try await !survives(world, stranger, ["scope": "profile"]))
            #expect(try await !survives(world, stranger, ["scope": "openid profile"]))
            #expect(try await survives(world, stranger, ["scope": "profile offline_access"]))
        }
    }

    @Test(
        "Tokens of first-party and SPiD-compatible clients outlive the session if their scope lacks openid",
        arguments: Backend.available)
    func own(backend: Backend) async throws {
        try await World.with(backend) { world in
            for members: KeyValuePairs<String, JSON> in [
                ["first_party": true, "scope": Self.scope], ["spid_compatible": true, "scope": Self.scope],
            ] {
                let client = try await world.stranger(members)
                #expect(try await survives(world, client, ["scope": "profile", "access_type": "offline"]))
                #expect(try await !survives(world, client, ["scope": "openid", "access_type": "offline"]))
            }
        }
    }

    @Test(
        "The parameter access_type=offline asks for offline_access, and the user may refuse it",
        arguments: Backend.available)
    func accessType(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.stranger(["scope": Self.scope])
            let asked: KeyValuePairs = ["scope": "openid", "access_type": "offline", "prompt": "consent"]
            var browser = Browser(world.server)
            let page = try await world.authorize(in: &browser, asked, for: stranger)
            #expect(page.boxes.contains("offline_access"))
            let back = try await world.allow(page, in: &browser, ticking: [])
            let narrow = try await world.redeemAuthorization(try back.requireRedirected("code"), as: stranger)
            #expect(narrow.json["scope"] == "openid", "what was not ticked was not asked for again")
            _ = try await browser.submit(try await browser.open("/logout"))
            #expect(try await !world.isLive(try narrow.require("access_token")))

            #expect(try await survives(world, stranger, asked))
            #expect(try await !survives(world, stranger, ["scope": "openid", "access_type": "online"]))
            // A client that is not registered for offline_access cannot get it this way.
            let lesser = try await world.stranger()
            #expect(try await !survives(world, lesser, asked))
        }
    }

    @Test(
        "A client that loses the scope offline_access loses a user's tokens when the user signs out",
        arguments: Backend.available)
    func lost(backend: Backend) async throws {
        try await World.with(backend) { world in
            for isKept in [true, false] {
                let stranger = try await world.stranger(["scope": Self.scope])
                let asked: KeyValuePairs = ["scope": "openid offline_access"]
                var browser = Browser(world.server)
                let code = try await world.consented(in: &browser, asked, for: stranger).requireRedirected("code")
                let tokens = try await world.redeemAuthorization(code, as: stranger)
                #expect(tokens.json["scope"] == "openid offline_access", "\(tokens)")
                let scope: JSON = isKept ? "openid offline_access" : "openid profile"
                #expect(try await world.change("clients", stranger.id, ["scope": scope]).status == 200)
                _ = try await browser.submit(try await browser.open("/logout"))
                #expect(try await world.isLive(try tokens.require("access_token")) == isKept)
                let refreshed = try await world.refresh(try tokens.require("refresh_token"), as: stranger)
                #expect((refreshed.error == "invalid_grant") != isKept, "\(refreshed)")
            }
        }
    }

    @Test(
        "A front-channel access token ends at the logout of its session, whatever its scope and response type",
        arguments: Backend.available, ["token", "code token", "id_token token"])
    func frontChannel(backend: Backend, type: String) async throws {
        try await World.with(backend) { world in
            var party = try await ConformanceParty(world, type: type)
            let scope = type.contains("id_token") ? "openid email" : "email"
            let token = try (try await party.authorize(["scope": scope])).require("access_token")
            var other = try await ConformanceParty(world, type: type)
            let kept = try (try await other.authorize(["scope": scope])).require("access_token")
            _ = try await party.browser.submit(try await party.browser.open("/logout"))
            #expect(try await !world.isLive(token))
            #expect(try await world.isLive(kept), "another browser's")
        }
    }
}
