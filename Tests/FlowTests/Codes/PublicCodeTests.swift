import JSON
import TestSupport
import Testing

@Suite("A public client may receive codes for tokens of the app's earlier client")
struct PublicCodeTests {
    /// The app with its new SDK, which has no secret, and with its earlier one.
    private func clients(_ world: World) async throws -> (new: World.Actor, earlier: World.Actor) {
        let earlier = try await world.spidBackend(["scope": "openid profile email"])
        let new = try await World.client(
            world.server, world.admin,
            [
                "merchant_id": .string(world.merchant), "redirect_uris": ["com.loom.news:/login"],
                "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": "none",
                "scope": "openid profile", "spid_compatible": true,
                "public_exchange_codes_from": [.string(earlier.id)],
            ])
        return (new, earlier)
    }

    @Test(
        "A public client's exchange code gives the scope that token and client both have, once, in 30 seconds",
        arguments: Backend.available)
    func bought(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (new, earlier) = try await clients(world)
            let earlierTokens = try await world.signIn(scope: "openid profile email", with: earlier)
            let token = try earlierTokens.require("access_token")
            let code = try await world.exchange(token, for: new).require("code")
            let tokens = try await world.redeem(code, as: new)
            #expect(tokens.status == 200 && tokens.json["scope"] == "openid profile", "\(tokens)")
            #expect(tokens.json["id_token"] != nil && tokens.json["refresh_token"] != nil)
            #expect(try await world.isLive(tokens.require("access_token")))
            // A replay ends them.
            #expect(try await world.redeem(code, as: new).error == "invalid_grant")
            #expect(try await !world.isLive(tokens.require("access_token")))

            let late = try await world.exchange(token, for: new).require("code")
            world.server.clock.advance(by: .seconds(30))
            #expect(try await world.redeem(late, as: new).error == "invalid_grant")
            // No challenge was sent for this code.
            let bound = try await world.exchange(token, for: new).require("code")
            #expect(try await world.redeemAuthorization(bound, as: new).error == "invalid_grant")
            #expect(try await world.redeem(bound, as: new, redirectURI: "com.evil:/login").error == "invalid_grant")
            #expect(try await world.redeem(bound, as: world.app, redirectURI: new.redirectURI).error == "invalid_grant")
        }
    }

    @Test(
        "Only tokens of the listed clients buy a public client's code, and no front-channel token does",
        arguments: Backend.available)
    func others(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (new, earlier) = try await clients(world)
            let another = try await world.spidBackend()
            for client in [world.app, another, world.backend] {
                let token = try await world.signIn(with: client).require("access_token")
                try await expect(400, "invalid_request", try await world.exchange(token, for: new))
            }
            let foreign = try await world.spidBackend(of: world.rival)
            for id in [foreign.id, "nobody"] {
                let named: JSON = ["public_exchange_codes_from": [.string(id)]]
                expectProblem(
                    try await world.change("clients", new.id, named), 400, member: "public_exchange_codes_from")
            }
            let rivals = try await world.signIn(with: foreign).require("access_token")
            try await expect(403, "access_denied", try await world.exchange(rivals, for: new))

            _ = try await world.change(
                "clients", earlier.id,
                [
                    "response_types": ["token"], "grant_types": ["implicit", "authorization_code"],
                    "exchange_front_channel_tokens": true,
                ])
            _ = try await world.change("clients", new.id, ["public_exchange_codes_from": [.string(earlier.id)]])
            var browser = Browser(world.server)
            let back = try await world.authorize(in: &browser, ["response_type": "token"], for: earlier)
            let fragment = try #require(back.header("location")?.split(separator: "#").last)
            let pair = try #require(fragment.split(separator: "&").first { $0.hasPrefix("access_token=") })
            let shown = String(pair.dropFirst("access_token=".count))
            #expect(try await world.exchange(shown, for: world.backend).status == 200)
            try await expect(400, "invalid_request", try await world.exchange(shown, for: new))
        }
    }

    @Test(
        "Clearing public_exchange_codes_from or spid_compatible voids a public client's exchange codes",
        arguments: Backend.available)
    func setting(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (new, earlier) = try await clients(world)
            let token = try await world.signIn(with: earlier).require("access_token")
            let code = try await world.exchange(token, for: new).require("code")
            _ = try await world.change("clients", new.id, ["public_exchange_codes_from": []])
            try await expect(400, "invalid_request", try await world.exchange(token, for: new))
            #expect(try await world.redeem(code, as: new).error == "invalid_grant")

            let named: JSON = ["public_exchange_codes_from": [.string(earlier.id)]]
            expectProblem(
                try await world.change("clients", earlier.id, named), 400, member: "public_exchange_codes_from")
            expectProblem(
                try await world.change("clients", world.app.id, named), 400, member: "public_exchange_codes_from")
            let wrong: [JSON] = [[""], "x", .array(Array(repeating: "x", count: 11))]
            for value in wrong {
                let answer = try await world.change("clients", new.id, ["public_exchange_codes_from": value])
                expectProblem(answer, 400, member: "public_exchange_codes_from")
            }
            _ = try await world.change("clients", new.id, named)
            let other = try await world.exchange(token, for: new).require("code")
            _ = try await world.change("clients", new.id, ["spid_compatible": false])
            try await expect(400, "invalid_request", try await world.exchange(token, for: new))
            #expect(try await world.redeem(other, as: new).error == "invalid_grant")
        }
    }

    @Test(
        "A public client's code is refused once the client whose token bought it is no longer listed",
        arguments: Backend.available)
    func takenOff(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (new, earlier) = try await clients(world)
            let kept = try await world.spidBackend()
            func list(_ clients: [World.Actor]) async throws {
                let named: JSON = ["public_exchange_codes_from": .array(clients.map { .string($0.id) })]
                try #require(try await world.change("clients", new.id, named).status == 200)
            }
            try await list([earlier, kept])
            let leaked = try await world.signIn(with: earlier).require("access_token")
            let own = try await world.signIn(with: kept).require("access_token")
            let bought = try await world.exchange(leaked, for: new).require("code")
            let good = try await world.exchange(own, for: new).require("code")
            try await list([kept])
            #expect(try await world.redeem(bought, as: new).error == "invalid_grant")
            #expect(try await world.redeem(good, as: new).status == 200)
        }
    }
}
