import JSON
import TestSupport
import Testing

@Suite("A third party's own token shows what users allow it, of what it is registered for")
struct ThirdPartyScopeTests {
    @Test(
        "A third party sees the same of its user at `/user/{id}`, whether the user uses the merchant's own app or not",
        arguments: Backend.available)
    func ownApp(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.confidential(["first_party": false])
            let token = try await world.clientToken(stranger)
            func seen() async throws -> Answer {
                try await world.server.get("/user/\(world.user)", bearer: token)
            }
            _ = try await world.signIn(scope: "email", with: stranger)
            let before = try await seen()
            #expect(before.status == 200 && before.json["email"] == "ada@example.com", "\(before)")
            _ = try await world.signIn()
            let during = try await seen()
            #expect(during.status == 200 && during.json == before.json, "\(during)")
            var visitor = try await world.signedIn()
            #expect(try await visitor.change("apps/revoke", ["client": world.app.id]).status == 303)
            let after = try await seen()
            #expect(after.status == 200 && after.json == before.json, "\(after)")

            let other = try await world.person("bea@example.com")
            _ = try await world.signIn(as: "bea@example.com")
            #expect(try await world.server.get("/user/\(other)", bearer: token).status == 403)
        }
    }

    @Test(
        "A scope that administration takes from a third party is neither read by it nor named on the account page",
        arguments: Backend.available)
    func narrowed(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["given_name": "Ada"])
            let stranger = try await world.spidBackend(["first_party": false])
            _ = try await world.signIn(scope: "profile email", with: stranger)
            var visitor = try await world.signedIn()
            for (scope, hasEmail) in [("profile email", true), ("profile", false)] {
                try await world.change("clients", stranger.id, ["scope": .string(scope)])
                world.server.clock.advance(by: .seconds(1))
                let token = try await world.clientToken(stranger)
                let told = try await world.api("user/\(world.user)", token).data
                #expect(told["name"]?["givenName"] == "Ada" && (told["email"] != nil) == hasEmail, "\(scope): \(told)")
                let page = try await visitor.browser.open("/account").words
                #expect(page.contains("See your name and profile"))
                #expect(page.contains("See your e-mail address") == hasEmail, "\(scope)")
            }
        }
    }
}
