import JSON
import Storage
import TestSupport
import Testing
import Values

/// A sign-in of a user whose deletion is pending is charged (write 1), then its place is remembered (2), and then the
/// account is offered back (3). A mailed code is taken, and the account offered back, by the first write.
@Suite("A change during the sign-in of a user whose deletion is pending counts")
struct RestoreRaceTests {
    private static let changes: [JSON] = [["password": "another quiet loom"], ["disabled": true]]

    /// Without a mail, whose delivery would be a write too.
    private func leave(_ world: World) async throws {
        let dueAt = world.server.clock.now + .days(14)
        try await world.server.database.write { db in _ = try db.execute("UPDATE users SET deletion_due_at = \(dueAt)")
        }
    }

    /// Whether `answer` offers nothing, and nothing is stored that could be used.
    private func expectNothing(_ answer: Answer, status: Int, _ world: World) async throws {
        #expect(world.server.interruptions.wasInterrupted)
        #expect(answer.status == status && answer.formAction != "/account/restore", "\(answer)")
        #expect(try await world.count("verifications WHERE purpose = 'restore' AND spent_at IS NULL") == 0)
    }

    @Test(
        "A user disabled or given a new password during the sign-in is not offered to restore the account",
        arguments: Backend.available, changes)
    func password(backend: Backend, change: JSON) async throws {
        try await World.with(backend) { world in
            try await leave(world)
            var thief = BrowserUser(world)
            let page = try await thief.browser.open("/login")
            world.server.interruptions.interrupt(beforeWrite: 3) {
                let changed = try await world.change("users", world.user, change)
                #expect(changed.status == 200)
            }
            let answer = try await thief.browser.submit(page, ["email": World.email, "password": World.password])
            try await expectNothing(answer, status: 400, world)
        }
    }

    @Test(
        "A mailed code cannot restore an account that gets a new password or is disabled during the sign-in",
        arguments: Backend.available, changes)
    func code(backend: Backend, change: JSON) async throws {
        try await World.with(backend) { world in
            try await leave(world)
            var thief = BrowserUser(world)
            let form = try await thief.press(
                try await thief.browser.open("/login"), action: "/login/code", ["email": World.email])
            let code = try #require(try await world.server.mail.letter(to: World.email).code)
            world.server.interruptions.interrupt {
                let changed = try await world.change("users", world.user, change)
                #expect(changed.status == 200)
            }
            try await expectNothing(try await thief.browser.submit(form, ["code": code]), status: 410, world)
        }
    }

    @Test(
        "A user who is disabled after the offer to restore the account cannot restore it",
        arguments: Backend.available)
    func disabled(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await leave(world)
            var ada = BrowserUser(world)
            let asked = try await ada.fill("/login", ["email": World.email, "password": World.password])
            #expect(asked.formAction == "/account/restore")
            world.server.interruptions.interrupt {
                try await world.server.database.write { db in _ = try db.execute("UPDATE users SET disabled_at = 1") }
            }
            #expect(try await ada.browser.submit(asked, ["decision": "keep"]).status == 410)
            #expect(world.server.interruptions.wasInterrupted)
            #expect(try await !ada.isSignedIn())
            #expect(try await world.count("users WHERE deletion_due_at IS NULL") == 0)
        }
    }
}
