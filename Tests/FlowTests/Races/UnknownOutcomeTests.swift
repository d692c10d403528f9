import Storage
import TestSupport
import Testing

/// On PostgreSQL a COMMIT may be done without an answer: then the closure runs again, and recognizes its own work.
@Suite("A COMMIT whose outcome is unknown is repeated without harm")
struct UnknownOutcomeTests {
    @Test(
        "A user who signs in and consents while commit outcomes are unknown is not asked again",
        arguments: Backend.available)
    func consent(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.stranger()
            world.server.interruptions.forgetsOutcomes = true
            var browser = Browser(world.server)
            let page = try await browser.open(world.authorizeAddress(["scope": "profile"], for: client))
            let signedIn = try await browser.submit(page, ["email": World.email, "password": World.password])
            let consent = try await browser.open(try #require(signedIn.header("location")))
            #expect(consent.formAction == "/oauth/consent")
            let allowed = try await browser.submit(consent, ["decision": "allow", "scope": "profile"])
            let answer = try await browser.open(try #require(allowed.header("location")))
            #expect(answer.redirected("code") != nil, "\(answer)")
        }
    }

    @Test(
        "A registration whose commit outcome is unknown counts once against its initial access token",
        arguments: Backend.available)
    func registration(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.initialToken()
            world.server.interruptions.forgetsOutcomes = true
            #expect(try await world.sendRegistration(with: token).status == 201)
            world.server.interruptions.forgetsOutcomes = false
            let counts = try await world.server.database.read { db in
                try db.rows("SELECT registrations FROM initial_access_tokens")
                    .map { try $0.get("registrations", as: Int.self) }
            }
            #expect(counts == [1])
        }
    }

    @Test("A race test's interruption is triggered by the request's own write, not by a background write")
    func background() async throws {
        try await World.with(.sqlite) { world in
            world.server.interruptions.interrupt {}
            _ = try await Task { try await world.server.database.write { db in try db.execute("DELETE FROM logins") } }
                .value
            #expect(!world.server.interruptions.wasInterrupted)
            _ = try await world.signIn()
            #expect(world.server.interruptions.wasInterrupted)
        }
    }
}
