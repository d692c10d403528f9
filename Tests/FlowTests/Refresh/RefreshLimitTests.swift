import JSON
import TestSupport
import Testing

@Suite("Refresh tokens have a lifetime and a scope")
struct RefreshLimitTests {
    private static let day = Duration.seconds(86400)

    @Test(
        "A phone app's refresh token lives thirty days from its issue, to the millisecond",
        arguments: Backend.available)
    func slides(backend: Backend) async throws {
        try await World.with(backend) { world in
            let first = try await world.signIn().require("refresh_token")
            world.server.clock.advance(by: Self.day * 30 - .milliseconds(1))
            let second = try await world.refresh(first).require("refresh_token")
            world.server.clock.advance(by: Self.day * 30 - .milliseconds(1))
            let third = try await world.refresh(second).require("refresh_token")
            world.server.clock.advance(by: Self.day * 30)
            #expect(try await world.refresh(third).error == "invalid_grant")
        }
    }

    @Test("Each use of a refresh token that does not rotate extends its life", arguments: Backend.available)
    func keptSlides(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn(with: world.backend).require("refresh_token")
            for _ in 1...3 {
                world.server.clock.advance(by: Self.day * 29)
                #expect(try await world.refresh(token, as: world.backend).status == 200)
            }
            world.server.clock.advance(by: Self.day * 30)
            #expect(try await world.refresh(token, as: world.backend).error == "invalid_grant")
        }
    }

    @Test("A token family ends a year after its sign-in, however often it was refreshed", arguments: Backend.available)
    func year(backend: Backend) async throws {
        try await World.with(backend) { world in
            var token = try await world.signIn().require("refresh_token")
            let kept = try await world.signIn(with: world.backend).require("refresh_token")
            for _ in 1...14 {
                world.server.clock.advance(by: Self.day * 26)
                token = try await world.refresh(token).require("refresh_token")
                #expect(try await world.refresh(kept, as: world.backend).status == 200)
            }
            world.server.clock.advance(by: Self.day - .milliseconds(1))
            token = try await world.refresh(token).require("refresh_token")
            #expect(try await world.refresh(kept, as: world.backend).status == 200)
            world.server.clock.advance(by: .milliseconds(1))
            #expect(try await world.refresh(token).error == "invalid_grant")
            #expect(try await world.refresh(kept, as: world.backend).error == "invalid_grant")
        }
    }

    @Test(
        "With refresh_family_lifetime while_used, a client's token families live as long as they are used",
        arguments: Backend.available)
    func whileUsed(backend: Backend) async throws {
        try await World.with(backend) { world in
            for client in [world.app, world.backend] {
                let set = try await world.change("clients", client.id, ["refresh_family_lifetime": "while_used"])
                try #require(set.status == 200)
            }
            var tokens = [try await world.signIn().require("refresh_token")]
            let kept = try await world.signIn(with: world.backend).require("refresh_token")
            // More than three years.
            for _ in 1...40 {
                world.server.clock.advance(by: Self.day * 29)
                tokens.append(try await world.refresh(try #require(tokens.last)).require("refresh_token"))
                #expect(try await world.refresh(kept, as: world.backend).status == 200)
            }
            // A copy of a used token still ends the family.
            let late = try await world.refresh(try #require(tokens.last)).require("refresh_token")
            #expect(try await world.refresh(tokens[tokens.count - 2]).error == "invalid_grant")
            #expect(try await world.refresh(late).error == "invalid_grant")
            world.server.clock.advance(by: Self.day * 30)
            #expect(try await world.refresh(kept, as: world.backend).error == "invalid_grant")
        }
    }

    @Test(
        "A client's changed refresh_family_lifetime applies to existing token families at their next use",
        arguments: Backend.available)
    func changedFamily(backend: Backend) async throws {
        try await World.with(backend) { world in
            func set(_ lifetime: JSON) async throws {
                let own = World.Actor(id: world.server.adminID, secret: world.server.adminSecret, redirectURI: "")
                let grant: KeyValuePairs = ["grant_type": "client_credentials", "scope": "admin"]
                let admin = try await world.token(grant, as: own).require("access_token")
                let changed = try await world.server.send(
                    "PATCH", "/admin/v1/clients/\(world.app.id)", json: ["refresh_family_lifetime": lifetime],
                    bearer: admin)
                try #require(changed.status == 200)
            }
            let first = try await world.signIn().require("refresh_token")
            try await set(86400)
            world.server.clock.advance(by: Self.day - .milliseconds(1))
            let second = try await world.refresh(first).require("refresh_token")
            world.server.clock.advance(by: .milliseconds(1))
            #expect(try await world.refresh(second).error == "invalid_grant")
            // Longer again, before the token expires: it had been issued for a day.
            let other = try await world.signIn().require("refresh_token")
            try await set("while_used")
            world.server.clock.advance(by: Self.day - .milliseconds(1))
            let longer = try await world.refresh(other).require("refresh_token")
            world.server.clock.advance(by: Self.day * 29)
            let last = try await world.refresh(longer).require("refresh_token")
            // Shorter: at once, whatever it was issued for.
            try await set(86400)
            #expect(try await world.refresh(last).error == "invalid_grant")
        }
    }

    @Test("A client can have its own lifetimes for refresh tokens and access tokens", arguments: Backend.available)
    func perClient(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential(["refresh_token_lifetime": 3600, "access_token_lifetime": 60])
            let answer = try await world.signIn(with: client)
            #expect(answer.json["expires_in"]?.integer == 60)
            world.server.clock.advance(by: .seconds(60))
            #expect(try await !world.isLive(try answer.require("access_token")))
            world.server.clock.advance(by: .seconds(3540))
            #expect(try await world.refresh(try answer.require("refresh_token"), as: client).error == "invalid_grant")
        }
    }

    @Test(
        "A refresh token that does not rotate gets its client's shorter lifetime at its next use",
        arguments: Backend.available)
    func shortened(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn(with: world.backend).require("refresh_token")
            let set = try await world.change("clients", world.backend.id, ["refresh_token_lifetime": 3600])
            try #require(set.status == 200)
            world.server.clock.advance(by: .seconds(300))
            #expect(try await world.refresh(token, as: world.backend).status == 200)
            world.server.clock.advance(by: .seconds(3600) - .milliseconds(1))
            #expect(try await world.refresh(token, as: world.backend).status == 200)
            world.server.clock.advance(by: .seconds(3600))
            #expect(try await world.refresh(token, as: world.backend).error == "invalid_grant")
        }
    }

    @Test("An access token lives an hour by default, to the millisecond", arguments: Backend.available)
    func accessToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            world.server.clock.advance(by: .seconds(3600) - .milliseconds(1))
            #expect(try await world.isLive(token))
            world.server.clock.advance(by: .milliseconds(1))
            #expect(try await world.server.get("/me", bearer: token).status == 401)
        }
    }

    @Test("A refresh may narrow the scope of one access token, and never widen it", arguments: Backend.available)
    func scope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn(scope: "openid profile")
            let narrow = try await world.refresh(try phone.require("refresh_token"), scope: "profile")
            #expect(narrow.json["scope"]?.string == "profile")
            let refreshToken = try narrow.require("refresh_token")
            for wider in ["profile email", "admin", "profile admin:merchant", "nonsense"] {
                let refused = try await world.refresh(refreshToken, scope: wider)
                #expect(refused.status == 400)
                #expect(refused.error == "invalid_scope")
            }
            // The refusals spent nothing, and the grant is as wide as before.
            #expect(try await world.refresh(refreshToken).json["scope"]?.string == "openid profile")
        }
    }

    @Test("A refresh does not grant a scope that the client has lost", arguments: Backend.available)
    func lostScope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            try await world.change("clients", world.app.id, ["scope": "profile"])
            #expect(try await world.refresh(try phone.require("refresh_token")).json["scope"]?.string == "profile")
        }
    }

    @Test("A client that lost the refresh grant cannot refresh", arguments: Backend.available)
    func lostGrant(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            try await world.change("clients", world.app.id, ["grant_types": ["password"]])
            #expect(try await world.refresh(try phone.require("refresh_token")).error == "unauthorized_client")
            #expect(try await world.signIn().json["refresh_token"] == nil)
        }
    }
}
