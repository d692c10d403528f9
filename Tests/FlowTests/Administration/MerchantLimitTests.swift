import Directory
import JSON
import Storage
import TestSupport
import Testing
import Values

@testable import Authentication

@Suite("What a merchant creates and changes is limited")
struct MerchantLimitTests {
    @Test(
        "A merchant administrator creates at most 100 issuers, 100 webhooks and 1000 initial access tokens",
        arguments: Backend.available)
    func rows(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await administrator(world)
            func make(_ kind: String, _ number: Int, by token: String) async throws -> Answer {
                var json: [JSON.Member] = [.init("merchant_id", .string(world.merchant))]
                switch kind {
                case "issuers":
                    json.append(.init("issuer", .string("https://paper\(number).example")))
                    json.append(.init("secret", "a shared secret of at least 32 bytes"))
                case "webhooks":
                    json.append(.init("name", .string("hook-\(number)")))
                    json.append(.init("permissions", DittoStory.permissions))
                default: break
                }
                return try await World.make(world.server, token, kind, .object(json))
            }
            for (kind, most, name) in [
                ("issuers", 100, "issuers"), ("webhooks", 100, "webhooks"),
                ("initial-access-tokens", 1000, "initial access tokens"),
            ] {
                var ids: [String] = []
                for number in 0..<most {
                    let made = try await make(kind, number, by: own)
                    #expect(made.status == 201, "\(kind) \(number): \(made)")
                    ids.append(try made.require("id"))
                }
                let refused = try await make(kind, most, by: own)
                expectProblem(refused, 409)
                #expect(refused.json["detail"]?.string?.contains("\(most) \(name)") == true, "\(refused)")
                #expect(try await make(kind, most, by: world.admin).status == 201)
                // There are 101 with the platform's.
                for id in ids.suffix(2) {
                    let path = "/admin/v1/\(kind)/\(id)"
                    #expect(try await world.server.send("DELETE", path, bearer: own).status == 204)
                }
                #expect(try await make(kind, most + 1, by: own).status == 201, "\(kind) after a deletion")
            }
        }
    }

    @Test(
        "A merchant's administrators and backends together can create 3000 users at once, then one a second",
        arguments: Backend.available)
    func users(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await administrator(world)
            func make(_ number: Int, by token: String) async throws -> Answer {
                try await World.make(
                    world.server, token, "users", ["email": .string("reader\(number)@example.com")])
            }
            for number in 0..<3000 { #expect(try await make(number, by: own).status == 201) }
            let refused = try await make(3000, by: own)
            expectProblem(refused, 429)
            #expect(refused.header("retry-after") == "1")
            #expect(try await make(3000, by: world.admin).status == 201)
            let rival = try await administrator(world, of: world.rival)
            #expect(try await make(3001, by: rival).status == 201)
            // The merchant's backends share the limit.
            let backend = try await world.clientToken(try await world.spidBackend())
            #expect(try await world.api("signup", backend, ["email": "reader3002@example.com"]).status == 429)
            world.server.clock.advance(by: .seconds(1))
            #expect(try await make(3003, by: own).status == 201)
        }
    }

    private func administrator(_ world: World, of merchant: String? = nil) async throws -> String {
        let client = try await world.confidential(
            ["scope": "admin:merchant", "grant_types": ["client_credentials"]], of: merchant)
        return try await world.clientToken(client, scope: "admin:merchant")
    }

    @Test(
        "A merchant can change one user twenty times at once, then once in thirty seconds",
        arguments: Backend.available)
    func loop(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.signIn()
            let own = try await administrator(world)
            for number in 1...20 { #expect(try await change(world, number, by: own).status == 200) }
            let refused = try await change(world, 21, by: own)
            expectProblem(refused, 429)
            #expect(refused.header("retry-after") == "30")
            #expect(try await change(world, 20, by: own).status == 200, "the same again is no change")

            // Another client of the merchant shares the limit; the platform is not limited.
            let backend = try await world.spidBackend()
            #expect(try await world.signIn(with: backend).status == 200)
            let token = try await world.clientToken(backend)
            let path = "user/\(world.user)"
            #expect(try await world.api(path, token, ["displayName": "Augusta"]).status == 429)
            #expect(try await change(world, 22, by: world.admin).status == 200)
            world.server.clock.advance(by: .seconds(30))
            #expect(try await change(world, 23, by: own).status == 200)
        }
    }

    @Test(
        "One merchant's changes of a shared user do not count toward another merchant's limit",
        arguments: Backend.available)
    func rival(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.signIn()
            try await world.introduce(world.user, to: world.rival)
            #expect(try await world.signIn(with: world.rivalBackend).status == 200)
            let (own, rival) = (try await administrator(world), try await administrator(world, of: world.rival))
            for number in 1...20 { #expect(try await change(world, number, by: own).status == 200) }
            expectProblem(try await change(world, 21, by: own), 429)
            #expect(try await change(world, 22, by: rival).status == 200)
        }
    }

    @Test("A change of a user to the same values does not change updated_at", arguments: Backend.available)
    func nothing(backend: Backend) async throws {
        try await World.with(backend) { world in
            let first = try await change(world, 1, by: world.admin)
            world.server.clock.advance(by: .seconds(60))
            let again = try await change(world, 1, by: world.admin)
            #expect(again.status == 200 && again.json == first.json, "\(again)")
            #expect(try await change(world, 2, by: world.admin).json["updated_at"] != first.json["updated_at"])
        }
    }

    @Test(
        "A user who is removed from the merchant during the merchant's change of them is not changed",
        arguments: Backend.available)
    func left(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.signIn()
            let own = try await administrator(world)
            let interruptions = world.server.interruptions
            interruptions.interrupt {
                let path = "/admin/v1/users/\(world.user)"
                let answer = try await world.server.send("DELETE", path, bearer: own)
                #expect(answer.status == 204)
            }
            expectProblem(try await change(world, 1, by: own), 404)
            #expect(interruptions.wasInterrupted)
            let shown = try await world.server.get("/admin/v1/users/\(world.user)", bearer: world.admin)
            #expect(shown.json["nickname"] == nil)
        }
    }

    private func change(_ world: World, _ number: Int, by token: String) async throws -> Answer {
        try await world.server.send(
            "PATCH", "/admin/v1/users/\(world.user)", json: ["nickname": .string("Ada \(number)")], bearer: token)
    }

    @Test(
        "While a merchant creates too many users, an unknown subject's assertion is refused but not used up",
        arguments: Backend.available)
    func assertion(backend: Backend) async throws {
        try await World.with(backend) { world in
            let secret = "a shared secret of at least 32 bytes"
            let made = try await World.make(
                world.server, world.admin, "issuers",
                [
                    "merchant_id": .string(world.merchant), "issuer": "https://paper.example",
                    "secret": .string(secret), "audiences": ["loom"], "create_users": true,
                ])
            #expect(made.status == 201, "\(made)")
            func assertion(_ subject: String) -> String {
                let now = world.server.clock.now.seconds
                let claims: JSON = [
                    "iss": "https://paper.example", "sub": .string(subject), "aud": "loom", "jti": .string(subject),
                    "iat": .integer(now), "exp": .integer(now + 300),
                ]
                return SigningClient.hs256(claims, key: Array(secret.utf8))
            }
            func present(_ assertion: String) async throws -> Answer {
                try await world.token(
                    ["grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion],
                    as: world.backend)
            }
            #expect(try await present(assertion("kari")).status == 200)
            try await Self.useUp(world)
            let newcomer = assertion("ola")
            let refused = try await present(newcomer)
            #expect(refused.status == 429, "\(refused)")
            #expect(refused.header("retry-after") == "1")
            world.server.clock.advance(by: .seconds(1))
            #expect(try await present(newcomer).status == 200)
            #expect(try await present(assertion("nils")).status == 429)
            // A known subject creates no user.
            #expect(try await present(newcomer).error == "invalid_grant")
            let known = SigningClient.hs256(
                [
                    "iss": "https://paper.example", "sub": "kari", "aud": "loom",
                    "exp": .integer(world.server.clock.now.seconds + 300),
                ], key: Array(secret.utf8))
            #expect(try await present(known).status == 200)
        }
    }

    @Test(
        "A browser sign-in by an issuer's new user is refused while the merchant creates too many users",
        arguments: Backend.available)
    func browser(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            try await Self.useUp(story.here)
            var browser = Browser(story.here.server)
            let refused = try await story.signIn(&browser)
            story.expect(429, "new_users_throttled", refused, browser)
            #expect(refused.header("retry-after") == "1")
            story.here.server.clock.advance(by: .seconds(1))
            #expect(try await story.signIn(&browser).status == 303)
        }
    }

    @Test(
        "Registration by a provider's token is refused while the merchant creates too many users",
        arguments: Backend.available)
    func provider(backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            story.facebook("token", "1")
            try await Self.useUp(story.world)
            let refused = try await story.register("facebook", "token")
            #expect(refused.status == 429, "\(refused)")
            #expect(refused.header("retry-after") == "1")
            story.world.server.clock.advance(by: .seconds(1))
            #expect(try await story.register("facebook", "token").status == 200)
        }
    }

    /// Uses up the users that the merchant may make at once.
    private static func useUp(_ world: World) async throws {
        let (merchant, now) = (Merchant.ID(world.merchant), world.server.clock.now)
        let wait = try await world.server.database.write { db in
            for _ in 1...3000 { _ = try Throttle.chargeUser(by: merchant, at: now, in: db) }
            return try Throttle.chargeUser(by: merchant, at: now, in: db)
        }
        #expect(wait == .seconds(1))
    }
}
