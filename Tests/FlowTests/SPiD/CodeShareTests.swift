import JSON
import Storage
import TestSupport
import Testing
import Values

/// Codes to sign in with that apps and backends ask for, beside those who use them up.
@Suite("Mails with codes: who else gets some when strangers use them up") struct CodeShareTests {
    private static let settings = ["trusted_proxies": "127.0.0.0/8"]

    /// A client that may ask for codes.
    private func app(_ world: World, of merchant: String? = nil) async throws -> World.Actor {
        try await world.spidBackend(
            ["grant_types": ["passwordless", "password", "refresh_token", "client_credentials"]], of: merchant)
    }

    /// Strangers ask until no more mails go to Ada. Returns how many came.
    private func useUp(_ world: World, _ app: World.Actor, from address: String = "198.51.100.7") async throws -> Int {
        for _ in 1...8 { try await start(world, app, from: address) }
        return try await mails(world)
    }

    /// As an app asks, which shows no secret.
    private func start(_ world: World, _ app: World.Actor, from address: String) async throws {
        let answer = try await world.server.post(
            "/passwordless/start", ["client_id": app.id, "connection": "email", "email": World.email],
            headers: ["X-Forwarded-For": address])
        #expect(answer.status == 200)
    }

    /// As a backend asks.
    private func ask(_ world: World, _ backend: World.Actor) async throws {
        let token = try await world.clientToken(backend)
        let answer = try await world.api("passwordless/start", token, ["connection": "email", "email": World.email])
        #expect(answer.status == 200 || answer.status == 201, "\(answer)")
    }

    /// How many codes that work were stored, and mailed with them, since the last time.
    private func mails(_ world: World) async throws -> Int {
        try await world.server.database.write { db in
            let codes = try db.rows("SELECT id FROM verifications WHERE email = \(World.email) AND code IS NOT NULL")
            try db.execute("DELETE FROM verifications")
            return codes.count
        }
    }

    @Test(
        "Strangers who use up an address's codes leave a share to the app from where the user signed in",
        arguments: Backend.available)
    func app(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            try await world.change("users", world.user, ["email_verified": true])
            let app = try await app(world)
            #expect(try await world.signIn(with: app, from: "203.0.113.5").status == 200)
            #expect(try await useUp(world, app) == 5)
            try await start(world, app, from: "203.0.113.5")
            #expect(try await mails(world) == 1)
            try await start(world, app, from: "203.0.113.6")
            #expect(try await mails(world) == 0)
            // It is a share too, and no more.
            #expect(try await useUp(world, app, from: "203.0.113.5") == 4)
        }
    }

    @Test(
        "Strangers and other merchants' backends who use up an address's codes leave a share to a merchant it uses",
        arguments: Backend.available)
    func backend(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let (own, sibling) = (try await app(world), try await app(world))
            let foreign = try await app(world, of: world.rival)
            #expect(try await world.signIn(with: own, from: "203.0.113.5").status == 200)
            #expect(try await useUp(world, own) == 5)
            for _ in 1...6 { try await ask(world, foreign) }
            #expect(try await mails(world) == 0, "the rival has none of its own for who never used it")
            try await ask(world, own)
            #expect(try await mails(world) == 1)
            // All backends of a merchant have one share.
            for _ in 1...6 { try await ask(world, sibling) }
            #expect(try await mails(world) == 4)
            // A third party's client has no share, however many there are.
            for _ in 1...3 {
                let third = try await world.spidBackend([
                    "grant_types": ["passwordless", "client_credentials"], "first_party": false,
                ])
                let form: KeyValuePairs = ["connection": "email", "email": World.email]
                #expect(try await world.server.post("/passwordless/start", form, basic: third.basic).status == 200)
            }
            #expect(try await mails(world) == 0)
            // A secret shows that it is the backend.
            world.server.clock.advance(by: .minutes(12))
            try await start(world, own, from: "198.51.100.8")
            #expect(try await mails(world) == 1)
            try await start(world, own, from: "198.51.100.8")
            #expect(try await mails(world) == 0)
            let form: KeyValuePairs = ["connection": "email", "email": World.email]
            #expect(try await world.server.post("/passwordless/start", form, basic: own.basic).status == 200)
            #expect(try await mails(world) == 1)
        }
    }
}
