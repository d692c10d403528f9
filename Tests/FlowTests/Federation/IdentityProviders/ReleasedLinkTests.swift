import Directory
import JSON
import Storage
import TestSupport
import Testing
import Values

@testable import Federation

@Suite("Connecting a provider's account that an app had linked, after its user removed the provider elsewhere")
struct ReleasedLinkTests {
    /// Facebook, as `merchant` registers it.
    private static func facebook(of merchant: String, in world: World) async throws -> String {
        let made = try await World.make(
            world.server, world.admin, "issuers",
            [
                "merchant_id": .string(merchant), "provider": "facebook", "create_users": true,
                "audiences": [.string(ProviderStandIn.facebookApp)],
                "client_id": .string(ProviderStandIn.facebookApp),
                "app_secret": .string(ProviderStandIn.facebookSecret),
            ])
        try #require(made.status == 201, "\(made)")
        return try made.require("id")
    }

    @Test("the provider stays removed for other merchants", arguments: Backend.available)
    func released(backend: Backend) async throws {
        let graph = try ProviderStandIn()
        let settings = graph.settings.merging(IdentityProviderStory.settings) { $1 }
        try await World.with(backend, settings: settings) { world in
            let here = try await Self.facebook(of: world.merchant, in: world)
            let there = try await Self.facebook(of: world.rival, in: world)
            let user = try #require(UserID(world.user))
            func isRemoved() async throws -> [Bool] {
                try await world.server.database.read { db in
                    let rivals = TrustedIssuer.ID(there)
                    return [
                        try RemovedSignIns.has(user, removed: rivals, in: db),
                        try RemovedSignIns.contain("2", of: rivals, in: db),
                    ]
                }
            }
            graph.give(
                facebook: "ada",
                ProviderStandIn.Token(app: ProviderStandIn.facebookApp, subject: "1", claims: ["name": "Ada"]))
            try await world.link(here, "1", isConfined: true)
            try await world.link(there, "2")
            var ada = try await world.signedIn()
            let code = try await ada.browser.open(world.authorizeAddress()).requireRedirected("code")
            #expect(try await world.redeemAuthorization(code).status == 200)
            let removed = try await ada.change("links/remove", ["issuer": there, "subject": "2"])
            #expect(removed.header("location") == "/account?done=link", "\(removed)")
            // And at a merchant that is gone.
            let id = try #require(Int64(world.user))
            try await world.server.database.change(
                """
                INSERT INTO removed_sign_ins (user_id, merchant_id, issuer, provider, subject, created_at)
                VALUES (\(id), 'gone', 'https://www.facebook.com', 'facebook', '', 1)
                """)
            #expect(try await isRemoved() == [true, true])

            graph.answer("/facebook/oauth/access_token", ["access_token": "ada", "token_type": "bearer"])
            let departure = try await ada.change("links/connect", ["issuer": here])
            let state = try departure.requireRedirected("state")
            let back = try await ada.browser.open("/login/with/\(here)/callback?code=c&state=\(state)")
            #expect(back.header("location") == "/account?done=connected", "\(back)")
            #expect(try await isRemoved() == [false, false])
            #expect(try await world.count("removed_sign_ins") == 0)
        }
        graph.stop()
    }
}
