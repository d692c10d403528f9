import JSON
import Server
import Storage
import TestSupport
import Testing
import Values

@Suite("A user's export has all data held about them, and no secret")
struct AccountDataTests {
    @Test(
        "A user's data export is one JSON file with all that the tables hold about the user, and no secret",
        arguments: Backend.available)
    func download(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn(scope: "email")
            let stranger = try await world.confidential(["client_name": "Stranger", "first_party": false])
            var visitor = try await world.signedIn(agent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0")
            let consent = try await visitor.browser.open(world.authorizeAddress(["scope": "profile"], for: stranger))
            _ = try await visitor.browser.submit(consent, ["decision": "allow", "scope": "profile"])
            _ = try await visitor.fill("/password", ["email": World.email])

            let answer = try await visitor.browser.open("/account/data")
            #expect(answer.status == 200)
            #expect(answer.header("content-type") == "application/json")
            #expect(answer.header("content-disposition") == "attachment; filename=\"spindle-\(world.user).json\"")
            #expect(answer.header("cache-control") == "no-store")
            #expect(answer.header("x-content-type-options") == "nosniff")
            let data = answer.json
            let shown = Set((data.members ?? []).map(\.name)).subtracting(["made_at"])
            #expect(shown == Set(StoredTable.all.flatMap(\.export).map(\.member)), "what the tables declare")
            #expect(data["account"]?["user_id"]?.string == world.user)
            #expect(data["account"]?["email"]?.string == World.email)
            #expect(data["account"]?["has_password"]?.bool == true)
            #expect(data["profile"]?["name"]?.string == "Ada Lovelace")
            let session = try #require(data["sessions"]?.array?.first)
            #expect(session["device"]?.string == "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0")
            #expect(session["address"]?.string == "127.0.0.1")
            #expect(session["last_seen_at"]?.string == "2027-01-15T08:00:00Z")
            let logins = data["logins"]?.array ?? []
            let kinds = Set(logins.compactMap { $0["type"]?.string })
            #expect(kinds == ["normal", "api"])
            #expect(logins.allSatisfy { $0["address"]?.string == "127.0.0.1" })
            #expect(data["known_places"]?.array?.isEmpty == false)
            #expect(data["pending_verifications"]?.array?.first?["purpose"]?.string == "reset_password")
            let clients = data["connections"]?.array?.compactMap { $0["client_name"]?.string }
            #expect(clients?.contains("Loom for phones") == true)
            #expect(data["consents"]?.array?.first?["scope"]?.string == "profile")
            #expect(data["permissions"]?.array?.contains { $0["client_id"]?.string == world.app.id } == true)
            #expect(data["issuer_subjects"]?.array?.isEmpty == true)
            try await expectNoSecrets(
                answer.body, world, [phone.require("access_token"), phone.require("refresh_token")])
        }
    }

    /// Expects neither the secrets that were handed out nor what is stored of them.
    private func expectNoSecrets(_ document: String, _ world: World, _ secrets: [String]) async throws {
        for secret in secrets + [World.password] { #expect(!document.contains(secret)) }
        let columns: [SQL] = [
            "SELECT password_hash AS value FROM users WHERE password_hash IS NOT NULL",
            "SELECT fingerprint AS value FROM sessions", "SELECT fingerprint AS value FROM access_tokens",
            "SELECT fingerprint AS value FROM refresh_tokens", "SELECT fingerprint AS value FROM known_devices",
            "SELECT link AS value FROM verifications WHERE link IS NOT NULL",
            "SELECT browser AS value FROM verifications WHERE browser IS NOT NULL",
        ]
        for column in columns {
            let stored: [String] = try await world.server.database.read { db in
                try db.rows(column).map { try $0.get("value") }
            }
            #expect(!stored.isEmpty, "\(column.text)")
            for value in stored { #expect(!document.contains(value)) }
        }
    }

    @Test(
        "A user whose sign-in is old must enter the password again to export their data",
        arguments: Backend.available)
    func confirm(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn()
            world.server.clock.advance(by: .minutes(11))
            let answer = try await visitor.browser.open("/account/data")
            #expect(answer.status == 303)
            #expect(answer.header("location")?.hasPrefix("/login?confirm=1&continue=") == true)
            let page = try await visitor.follow(answer)
            let wrong = try await visitor.browser.submit(page, ["email": World.email, "password": "a guess"])
            #expect(wrong.header("location") == nil)
            let confirmed = try await visitor.browser.submit(
                page, ["email": World.email, "password": World.password])
            #expect(try await visitor.follow(confirmed).status == 200)
            #expect(try await visitor.browser.open("/account/data").json["account"] != nil)
        }
    }

    @Test(
        "A platform administrator can export a user's data, a merchant administrator cannot",
        arguments: Backend.available)
    func administration(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.signIn(with: world.backend)
            let path = "/admin/v1/users/\(world.user)/data"
            let answer = try await world.server.get(path, bearer: world.admin)
            #expect(answer.status == 200)
            #expect(answer.json["account"]?["email"]?.string == World.email)
            let merchants = try await world.confidential(["scope": "profile admin:merchant"])
            let token = try await world.clientToken(merchants, scope: "admin:merchant")
            #expect(try await world.server.get("/admin/v1/users/\(world.user)", bearer: token).status == 200)
            #expect(try await world.server.get(path, bearer: token).status == 403)
            let nobody = "/admin/v1/users/1234567890123456/data"
            #expect(try await world.server.get(nobody, bearer: world.admin).status == 404)
            #expect(try await world.server.get(nobody, bearer: token).status == 403)
            #expect(try await world.server.get(path).status == 401)
        }
    }
}
