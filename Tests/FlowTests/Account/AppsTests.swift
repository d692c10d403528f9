import JSON
import Storage
import TestSupport
import Testing

@Suite("Users revoke what they allowed an app")
struct AppsTests {
    @Test("A user who revokes an app ends its tokens at once, and no other client's", arguments: Backend.available)
    func revoke(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn(scope: "profile")
            let backendTokens = try await world.redeem(try await world.code(of: phone), as: world.backend)
            var visitor = try await world.signedIn()
            #expect(try await visitor.browser.open("/account").body.contains("Loom for phones"))
            let answer = try await visitor.change("apps/revoke", ["client": world.app.id])
            #expect(answer.header("location") == "/account?done=app")
            #expect(try await !world.isLive(try phone.require("access_token")))
            #expect(try await world.refresh(try phone.require("refresh_token")).error == "invalid_grant")
            #expect(try await world.isLive(try backendTokens.require("access_token")))
            let page = try await visitor.follow(answer).body
            #expect(!page.contains("Loom for phones"))
            #expect(page.contains("Loom&#39;s backend") || page.contains("Loom's backend"))
            #expect(try await visitor.change("apps/revoke", ["client": world.app.id]).status == 303)
        }
    }

    @Test(
        "A user who revokes an app ends no other user's tokens; revoking an unknown app does nothing",
        arguments: Backend.available)
    func foreign(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.newcomer("mallory@example.com")
            let phone = try await world.signIn()
            var mallory = try await world.signedIn(as: "mallory@example.com")
            let page = try await mallory.browser.open("/account")
            #expect(!page.body.contains("Loom for phones"))
            for client in [world.app.id, world.rivalBackend.id, "", "nobody"] {
                let answer = try await mallory.press(page, action: "/account/apps/revoke", ["client": client])
                #expect(answer.status == 303)
            }
            #expect(try await world.isLive(try phone.require("access_token")))
            #expect(try await world.refresh(try phone.require("refresh_token")).status == 200)
        }
    }

    @Test("A user can revoke apps fifty times at once, then once in ten seconds")
    func overAndOver() async throws {
        try await World.with(.sqlite) { world in
            var visitor = try await world.signedIn()
            let client = world.rivalBackend.id
            for _ in 1...50 {
                #expect(try await visitor.change("apps/revoke", ["client": client]).status == 303)
            }
            let refused = try await visitor.change("apps/revoke", ["client": client])
            #expect(refused.status == 429 && refused.header("retry-after") == "10" && refused.isPage, "\(refused)")
        }
    }

    @Test("The account page reads hardly more database rows after many sign-ins at an app than after two")
    func many() async throws {
        try await World.with(.sqlite) { world in
            var visitor = try await world.signedIn()
            func rows() async throws -> Int {
                let before = world.server.interruptions.rowsRead
                #expect(try await visitor.browser.open("/account").body.contains("Loom for phones"))
                return world.server.interruptions.rowsRead - before
            }
            for scope in ["profile", "email"] { _ = try await world.signIn(scope: scope) }
            let few = try await rows()
            for scope in ["profile", "email"] { for _ in 1...10 { _ = try await world.signIn(scope: scope) } }
            #expect(try await rows() < few + 10, "\(few)")
        }
    }

    @Test("Revoking an app that does not exist stores nothing", arguments: Backend.available)
    func unused(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            for name in [String(repeating: "x", count: 50_000), "nobody", ""] {
                let answer = try await visitor.change("apps/revoke", ["client": name])
                #expect(answer.status == 303, "\(answer.status)")
            }
            #expect(try await world.server.database.rows("SELECT user_id FROM exchange_code_ends").isEmpty)
        }
    }
}
