import JSON
import Mail
import TestSupport
import Testing
import Values

@Suite("Deleting oneself and staying, over and over, floods nobody")
struct DeletionLimitTests {
    private func leave(_ visitor: inout BrowserUser) async throws -> Answer {
        try await visitor.browser.submit(
            try await visitor.browser.open("/account/delete"), ["current_password": World.password])
    }

    @Test(
        "a user asks for deletion five times, and then once an hour; staying is possible at any time",
        arguments: Backend.available)
    func throttled(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("users", world.user, ["email_verified": true])
            let credentials = ["email": World.email, "password": World.password]
            for _ in 1...5 {
                var visitor = try await world.signedIn()
                #expect(try await leave(&visitor).status == 200)
                let asked = try await visitor.fill("/login", credentials)
                #expect(try await visitor.browser.submit(asked, ["decision": "keep"]).status == 303)
                _ = try await world.server.mail.letter(to: World.email)
            }
            var visitor = try await world.signedIn()
            let refused = try await leave(&visitor)
            #expect(refused.status == 429 && refused.header("retry-after") == "3600")
            #expect(refused.body.contains("role=\"alert\""))
            #expect(try await visitor.isSignedIn())
            #expect(try await world.user()["deletion_due_at"] == nil)
            world.server.clock.advance(by: .hours(1))
            visitor = try await world.signedIn()
            #expect(try await leave(&visitor).status == 200)
        }
    }

    @Test(
        "a mailbox that nobody has shown to read is told five things, and then one in twelve minutes",
        arguments: Backend.available)
    func notices(backend: Backend) async throws {
        try await World.with(backend) { world in
            for isVerified in [false, true] {
                let email = "grace\(isVerified)@example.com"
                let grace = try await world.person(email)
                if isVerified { try await world.change("users", grace, ["email_verified": true]) }
                var visitor = try await world.signedIn(as: email)
                var password = World.password
                for number in 1...7 {
                    let new = "loom number \(number) of many"
                    let done = try await visitor.change(
                        "password", ["current_password": password, "new_password": new])
                    #expect(done.header("location") == "/account?done=password")
                    password = new
                }
                let told = isVerified ? 7 : 5
                for _ in 1...told { _ = try await world.server.mail.letter(to: email) }
                #expect(world.server.mail.letters(to: email).count == told)
            }
        }
    }

    @Test(
        "a user who signs in over and over while a deletion is pending leaves ten offers to stay",
        arguments: Backend.available)
    func offers(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            _ = try await leave(&visitor)
            let credentials = ["email": World.email, "password": World.password]
            for _ in 1...12 { _ = try await visitor.fill("/login", credentials) }
            #expect(try await world.count("verifications WHERE purpose = 'restore'") == 10)
            let last = try await visitor.fill("/login", credentials)
            #expect(try await visitor.browser.submit(last, ["decision": "keep"]).status == 303)
        }
    }
}
