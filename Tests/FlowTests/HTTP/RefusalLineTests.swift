import JSON
import Logging
import TestSupport
import Testing

@Suite("Every refusal leaves one line in the log, which says whom it concerns")
struct RefusalLineTests {
    /// What the one line about `answer` must say, besides the id of the request.
    private func expect(
        _ answer: Answer, in world: World, _ reason: String, route: String, client: String = "-", user: String = "-",
        address: String = "127.0.0.1", sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let lines = world.server.log.records(of: answer).filter { $0.message != "mail held back" }
        let said = lines.map { line in
            ["reason", "route", "client", "user", "address"].map { line.metadata[$0]?.description ?? "missing" }
        }
        #expect(said == [[reason, route, client, user, address]], "\(answer)", sourceLocation: sourceLocation)
        let secrets = [World.email, World.password, "Bearer", "@"]
        for text in lines.flatMap({ $0.metadata.values.map(\.description) }) {
            #expect(!secrets.contains { text.contains($0) }, "\(text)", sourceLocation: sourceLocation)
        }
    }

    @Test("A refusal at the token endpoint names the client, and the user if known", arguments: Backend.available)
    func tokens(backend: Backend) async throws {
        try await World.with(backend) { world in
            let route = "POST /oauth/token"
            let (app, user) = (world.app, world.user)
            let wrong = try await world.signIn(password: "wrong")
            expect(wrong, in: world, "wrong_password", route: route, client: app.id, user: user)
            let stranger = try await world.signIn(as: "nobody@example.com", password: "wrong")
            expect(stranger, in: world, "unknown_user", route: route, client: app.id)
            let code = try await world.redeem("no-such-code", as: world.backend)
            expect(code, in: world, "unknown_code", route: route, client: world.backend.id)
            let refresh = try await world.refresh("no-such-token")
            expect(refresh, in: world, "unknown_refresh_token", route: route, client: app.id)
            let phone = try await world.signIn(scope: "openid offline_access")
            let sold = try await world.code(of: phone)
            let stolen = try await world.redeem(sold, as: world.rivalBackend)
            expect(
                stolen, in: world, "code_of_another_client", route: route, client: world.rivalBackend.id, user: user)
            let other = try await world.refresh(try phone.require("refresh_token"), as: world.backend)
            expect(
                other, in: world, "refresh_token_of_another_client", route: route, client: world.backend.id, user: user)
            let secret = try await world.token(
                ["grant_type": "client_credentials"], as: world.backend.with(secret: "wrong"))
            expect(secret, in: world, "wrong_secret", route: route, client: world.backend.id)
            let unknown = try await world.token(
                ["grant_type": "client_credentials"],
                as: World.Actor(id: "no-such-client", secret: "x", redirectURI: ""))
            expect(unknown, in: world, "unknown_client", route: route)
        }
    }

    @Test("A throttled sign-in names client, user, limit and wait", arguments: Backend.available)
    func throttled(backend: Backend) async throws {
        try await World.with(backend) { world in
            var answer = try await world.signIn(password: "wrong")
            for _ in 1...80 where answer.status != 429 { answer = try await world.signIn(password: "wrong") }
            expect(
                answer, in: world, "sign_in_throttled", route: "POST /oauth/token", client: world.app.id,
                user: world.user)
            let line = try #require(world.server.log.records(of: answer).first)
            #expect(line.metadata["detail"] == "bucket=pair")
            #expect(line.metadata["retry_after"]?.description == answer.header("retry-after"))
        }
    }

    @Test("A refused call with a token names the token's client and user", arguments: Backend.available)
    func calls(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn(scope: "profile").require("access_token")
            let scope = try await world.server.get("/oauth/userinfo", bearer: token)
            expect(
                scope, in: world, "insufficient_scope", route: "GET /oauth/userinfo", client: world.app.id,
                user: world.user)
            let foreign = try await world.server.post(
                "/oauth/exchange", ["clientId": world.rivalBackend.id, "type": "code"], bearer: token)
            expect(
                foreign, in: world, "foreign_merchant", route: "POST /oauth/exchange", client: world.app.id,
                user: world.user)
            expect(try await world.server.get("/me"), in: world, "no_token", route: "GET /me")
            let dead = try await world.server.get("/me", bearer: "no-such-token")
            expect(dead, in: world, "unknown_token", route: "GET /me")
            let spid = try await world.server.get("/api/2/user/99999", bearer: token)
            expect(
                spid, in: world, "another_user", route: "GET /api/2/user/{id}", client: world.app.id, user: world.user)
        }
    }

    @Test("A refusal of administration names the administrator's client", arguments: Backend.available)
    func administration(backend: Backend) async throws {
        try await World.with(backend) { world in
            let admin = world.server.adminID
            let missing = try await world.server.get("/admin/v1/users/999999", bearer: world.admin)
            expect(missing, in: world, "not_found", route: "GET /admin/v1/users/{id}", client: admin)
            let malformed = try await world.server.send(
                "POST", "/admin/v1/clients", json: ["client_nam": "x"], bearer: world.admin)
            expect(malformed, in: world, "malformed_member", route: "POST /admin/v1/clients", client: admin)
            let query = try await world.server.get("/admin/v1/users?emial=x", bearer: world.admin)
            expect(query, in: world, "malformed_query", route: "GET /admin/v1/users", client: admin)
            let token = try await world.clientToken(world.backend)
            let stranger = try await world.server.get("/admin/v1/users", bearer: token)
            expect(
                stranger, in: world, "insufficient_scope", route: "GET /admin/v1/users", client: world.backend.id)
        }
    }

    @Test("A refused page or form has a line in the log, also without cookies", arguments: Backend.available)
    func pages(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let page = try await browser.open("/login")
            let wrong = try await browser.submit(page, ["email": World.email, "password": "wrong"])
            expect(wrong, in: world, "wrong_password", route: "POST /login", user: world.user)
            let foreign = try await browser.submit(page, ["email": World.email, "form_token": "bad"])
            #expect(foreign.status == 403)
            expect(foreign, in: world, "foreign_form", route: "POST /login")
            let blocked = try await world.server.post(
                "/login", form: page.fields.map { ($0.key, $0.value) }, headers: ["Sec-Fetch-Site": "same-origin"])
            #expect(blocked.status == 403)
            expect(blocked, in: world, "cookies_needed", route: "POST /login")
            let client = try await browser.open("/oauth/authorize?client_id=unknown")
            expect(client, in: world, "unknown_client", route: "GET /oauth/authorize")
            let unregistered = try await browser.open(
                "/oauth/authorize?client_id=\(world.app.id)&redirect_uri=https://x.example/")
            expect(
                unregistered, in: world, "unregistered_redirect_uri", route: "GET /oauth/authorize",
                client: world.app.id)
            try await browser.signIn()
            let denied = try await browser.open(
                "/oauth/authorize?client_id=\(world.app.id)&redirect_uri=https://loom.example/in&response_type=code")
            expect(
                denied, in: world, "pkce_required", route: "GET /oauth/authorize", client: world.app.id,
                user: world.user)
            let path = try await browser.open("/no/such/page", headers: ["Accept": "text/html"])
            expect(path, in: world, "not_found", route: "GET /")
        }
    }

    @Test("A mail that is held back has a line with its kind, its reason and the user", arguments: Backend.available)
    func heldMails(backend: Backend) async throws {
        try await World.with(backend) { world in
            func held(_ answer: Answer) -> [[String]] {
                world.server.log.records(of: answer).filter { $0.message == "mail held back" }.map { line in
                    ["reason", "kind", "user", "route"].map { line.metadata[$0]?.description ?? "missing" }
                }
            }
            func ask(_ email: String) async throws -> Answer {
                var browser = Browser(world.server)
                return try await browser.submit(try await browser.open("/password"), ["email": email])
            }
            let stranger = try await ask("nobody@example.com")
            #expect(stranger.status == 200)
            #expect(held(stranger) == [["no_user", "resetPassword", "-", "POST /password"]])
            var last = stranger
            for _ in 1...6 {
                last = try await ask(World.email)
                #expect(last.status == 200)
            }
            #expect(held(last) == [["mailbox_throttled", "resetPassword", world.user, "POST /password"]])
            #expect(!world.server.log.says("nobody@example.com"))
        }
    }
}
