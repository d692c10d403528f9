import Storage
import TestSupport
import Testing

@Suite("A copied cookie is used while its owner sets a new password")
struct RenewalRaceTests {
    /// Sets a new password in `owner`'s browser, before the next write of another request.
    private func interrupt(_ world: World, by owner: BrowserUser) {
        world.server.interruptions.interrupt {
            var owner = owner
            let answer = try await owner.change(
                "password", ["current_password": World.password, "new_password": PasswordChangeTests.new])
            #expect(answer.header("location") == "/account?done=password")
        }
    }

    @Test("a code that is stored after the new password is redeemed", arguments: Backend.available)
    func code(backend: Backend) async throws {
        try await World.with(backend) { world in
            let owner = try await world.signedIn()
            var thief = owner
            interrupt(world, by: owner)
            let answer = try await thief.browser.open(world.authorizeAddress())
            #expect(world.server.interruptions.wasInterrupted)
            guard let code = answer.redirected("code") else { return }
            #expect(try await world.redeemAuthorization(code).error == "invalid_grant")
        }
    }

    @Test("signing out everywhere else takes the session over", arguments: Backend.available)
    func takeover(backend: Backend) async throws {
        try await World.with(backend) { world in
            let owner = try await world.signedIn()
            var thief = owner
            let page = try await thief.browser.open("/account")
            interrupt(world, by: owner)
            _ = try await thief.press(page, action: "/account/sessions/end-others", [:])
            #expect(world.server.interruptions.wasInterrupted)
            #expect(try await !thief.isSignedIn())
            let live = try await world.server.database.rows("SELECT id FROM sessions WHERE ended_at IS NULL")
            #expect(live.count == 1, "the owner's")
        }
    }
}
