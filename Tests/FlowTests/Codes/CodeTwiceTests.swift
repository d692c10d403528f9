import JSON
import TestSupport
import Testing

@Suite("A SPiD-compatible client may redeem each code twice, as SPiD's SDK for Java does")
struct CodeTwiceTests {
    private func code(_ world: World, for client: World.Actor) async throws -> String {
        try await world.authorizationCode(for: client)
    }

    @Test(
        "With codes_redeemed_twice a second redemption ends the first one's tokens, and a third ends all",
        arguments: Backend.available)
    func thrice(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend(["codes_redeemed_twice": true])
            let code = try await code(world, for: client)
            let first = try await world.redeemAuthorization(code, as: client)
            #expect(try await world.isLive(first.require("access_token")))
            let second = try await world.redeemAuthorization(code, as: client)
            #expect(second.status == 200 && second.json["user_id"]?.string == world.user)
            #expect(try await !world.isLive(first.require("access_token")))
            #expect(try await world.refresh(first.require("refresh_token"), as: client).error == "invalid_grant")
            #expect(try await world.isLive(second.require("access_token")))
            let refreshed = try await world.refresh(second.require("refresh_token"), as: client)
            #expect(refreshed.status == 200)

            #expect(try await world.redeemAuthorization(code, as: client).error == "invalid_grant")
            #expect(world.server.log.says("code_replayed"))
            #expect(try await !world.isLive(second.require("access_token")))
            #expect(try await !world.isLive(refreshed.require("access_token")))
            #expect(try await world.redeemAuthorization(code, as: client).error == "invalid_grant")
        }
    }

    @Test(
        "With codes_redeemed_twice only the same client, redirect URI and verifier redeem again, in a minute",
        arguments: Backend.available)
    func bound(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend(["codes_redeemed_twice": true])
            let code = try await code(world, for: client)
            let first = try await world.redeemAuthorization(code, as: client)
            let other = try await world.spidBackend(["codes_redeemed_twice": true])
            let wrong = [
                try await world.redeemAuthorization(code, as: other),
                try await world.redeemAuthorization(code, as: client.with(secret: "guess")),
                try await world.redeemAuthorization(code, as: client, ["redirect_uri": "https://evil.example/"]),
                try await world.redeemAuthorization(code, as: client, ["code_verifier": challenge]),
            ]
            for answer in wrong { #expect(answer.status == 400, "\(answer)") }
            #expect(try await world.isLive(first.require("access_token")))
            world.server.clock.advance(by: .seconds(60))
            #expect(try await world.redeemAuthorization(code, as: client).error == "invalid_grant")
            #expect(try await !world.isLive(first.require("access_token")))
        }
    }

    @Test(
        "With codes_redeemed_twice a second redemption fails once tokens are revoked or the setting is off",
        arguments: Backend.available)
    func ended(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend(["codes_redeemed_twice": true])
            let revoked = try await code(world, for: client)
            let first = try await world.redeemAuthorization(revoked, as: client)
            let token = try first.require("refresh_token")
            _ = try await world.server.post("/oauth/revoke", ["token": token], basic: client.basic)
            #expect(try await world.redeemAuthorization(revoked, as: client).error == "invalid_grant")

            let code = try await code(world, for: client)
            let tokens = try await world.redeemAuthorization(code, as: client)
            _ = try await world.change("clients", client.id, ["codes_redeemed_twice": false])
            #expect(try await world.redeemAuthorization(code, as: client).error == "invalid_grant")
            #expect(try await !world.isLive(tokens.require("access_token")))
        }
    }

    @Test(
        "An exchange code is redeemed only once, even by a client with codes_redeemed_twice",
        arguments: Backend.available)
    func exchangeCode(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend(["codes_redeemed_twice": true])
            let token = try await world.signIn().require("access_token")
            let code = try await world.exchange(token, for: client).require("code")
            let first = try await world.redeem(code, as: client)
            #expect(try await world.redeem(code, as: client).error == "invalid_grant")
            #expect(try await !world.isLive(first.require("access_token")))
        }
    }

    @Test(
        "Only a SPiD-compatible client with a secret can have the setting codes_redeemed_twice",
        arguments: Backend.available)
    func setting(backend: Backend) async throws {
        try await World.with(backend) { world in
            for client in [world.backend, world.app] {
                expectProblem(
                    try await world.change("clients", client.id, ["codes_redeemed_twice": true]), 400,
                    member: "codes_redeemed_twice")
            }
            expectProblem(
                try await world.change(
                    "clients", world.app.id, ["spid_compatible": true, "codes_redeemed_twice": true]), 400,
                member: "codes_redeemed_twice")
        }
    }

    @Test(
        "With codes_redeemed_twice a third redemption ends the tokens even if the clock was set back",
        arguments: Backend.available)
    func late(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend(["codes_redeemed_twice": true])
            let code = try await code(world, for: client)
            _ = try await world.redeemAuthorization(code, as: client)
            let second = try await world.redeemAuthorization(code, as: client)
            world.server.clock.advance(by: .seconds(-2))
            #expect(try await world.redeemAuthorization(code, as: client).error == "invalid_grant")
            #expect(try await !world.isLive(second.require("access_token")))
        }
    }

    @Test(
        "With codes_redeemed_twice one of two concurrent redemptions has live tokens; of fifty none has",
        arguments: Backend.available)
    func atOnce(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend(["codes_redeemed_twice": true])
            for (count, live) in [(2, 1), (50, 0)] {
                let code = try await code(world, for: client)
                let answers = try await race(count) {
                    try await world.redeemAuthorization(code, as: client)
                }
                let won = answers.filter { $0.status == 200 }
                #expect(won.count == 2 && answers.filter { $0.error == "invalid_grant" }.count == count - 2)
                var living = 0
                for answer in won where try await world.isLive(answer.require("access_token")) { living += 1 }
                #expect(living == live, "of \(count)")
            }
        }
    }
}
