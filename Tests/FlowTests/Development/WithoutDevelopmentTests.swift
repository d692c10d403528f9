import JSON
import Storage
import TestSupport
import Testing

@Suite("Without --dev nothing of development mode exists")
struct WithoutDevelopmentTests {
    @Test(
        "without --dev there is no development address and no banner, and the login page is the normal one",
        arguments: Backend.available)
    func absent(backend: Backend) async throws {
        try await World.with(backend) { world in
            #expect(try !world.server.routes.contains { $0.contains("development") })
            for path in [Developer.path, "/development/answer"] {
                #expect(try await world.server.get(path).status == 404)
                #expect(try await world.server.post(path, ["username": "alice", "outcome": "sign_in"]).status == 404)
            }
            var browser = Browser(world.server)
            let login = try await browser.open(world.authorizeAddress())
            #expect(login.status == 200 && login.body.contains("name=\"password\""))
            #expect(!login.body.contains("development") && !login.body.contains("username\" value"))
            // The form of development mode, sent to where people sign in.
            for password in ["", World.password] {
                let form = ["username": "alice", "outcome": "sign_in", "email": "alice", "password": password]
                #expect(try await browser.submit(login, form).status == 400)
                #expect(browser.session == nil)
            }
            #expect(try await browser.submit(login, ["username": "x"], to: Developer.path).status == 404)
        }
    }

    @Test("without --dev a request for a chosen lifetime gets the ordinary tokens", arguments: Backend.available)
    func noTrial(backend: Backend) async throws {
        try await World.with(backend) { world in
            for lifetime in ["5", "nonsense"] {
                let code = try await world.authorizationCode([
                    "scope": "openid offline_access", "development_id_token_lifetime": lifetime,
                    "development_refresh_token": "0",
                ])
                let answer = try await world.redeemAuthorization(code)
                let claims = try await world.idToken(in: answer)
                #expect(claims["exp"]?.integer == claims["iat"]?.integer.map { $0 + 3600 })
                #expect(answer.json["refresh_token"] != nil)
            }
            let trials = try await world.server.database.read { db in
                try db.rows("SELECT id FROM token_families WHERE trial IS NOT NULL").count
                    + db.rows("SELECT fingerprint FROM authorization_codes WHERE trial IS NOT NULL").count
            }
            #expect(trials == 0)
        }
    }
}
