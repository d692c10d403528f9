import JSON
import TestSupport
import Testing

@Suite("Google's subjects of one user, at two merchants") struct AnotherSubjectTests {
    private static let email = "ola@loom.example"

    @Test(
        "another subject is linked by e-mail to a user who has one, at another merchant", arguments: Backend.available)
    func otherMerchant(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let world = story.world
            let host = try IssuerHost(named: "https://accounts.google.com")
            for merchant in [world.merchant, world.rival] {
                try await story.trust(
                    host, ["link_by_email": true, "merchant_id": .string(merchant)], provider: "google")
            }
            let rival = try await IssuerStory.client(world, of: world.rival)
            let ola = try await World.make(
                world.server, world.admin, "users",
                ["email": .string(Self.email), "password": .string(World.password), "email_verified": true]
            ).require("user_id")
            func signIn(_ subject: String, as client: World.Actor) async throws -> Answer {
                let claims: KeyValuePairs<String, JSON> = [
                    "sub": .string(subject), "email": .string(Self.email), "email_verified": true,
                    "hd": "loom.example",
                ]
                return try await story.present(host.sign(story.claims(host, claims)), as: client)
            }
            let linked = try await signIn("first", as: story.app)
            #expect(linked.json["user_id"]?.string == ola, "\(linked)")
            // The address has passed to somebody else.
            for client in [story.app, rival] {
                story.expect("address_taken", try await signIn("second", as: client))
            }
            #expect(try await story.links() == 1)
            let again = try await signIn("first", as: rival)
            #expect(again.json["user_id"]?.string == ola, "\(again)")
            #expect(try await story.links() == 2)
        }
    }
}
