import Directory
import JSON
import Storage
import TestSupport
import Testing
import Values
@testable import Authentication

@Suite("A merchant's issuers make users no faster than its administrator") struct IssuerUserBoundTests {
    @Test(
        "an assertion of an unknown person is refused while the merchant has too many new users, and good afterwards",
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
            // Who is known is not made again.
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
        "a user who comes back from an issuer is not made while its merchant has too many new ones, but told to wait",
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
        "a provider's user is not registered while the merchant has too many new ones", arguments: Backend.available)
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
