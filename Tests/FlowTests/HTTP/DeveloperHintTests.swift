import JSON
import TestSupport
import Testing

@Suite("A refusal tells the developer what to correct")
struct DeveloperHintTests {
    private func told(_ answer: Answer) -> String {
        answer.json["error_description"]?.string ?? answer.json["detail"]?.string ?? "\(answer)"
    }

    @Test("invalid_scope names the scope and what would allow it", arguments: Backend.available)
    func scope(backend: Backend) async throws {
        try await World.with(backend) { world in
            func own(_ scope: String) async throws -> Answer {
                try await world.server.post(
                    "/oauth/token", ["grant_type": "client_credentials", "scope": scope], basic: world.backend.basic)
            }
            let one = try await own("profile groups")
            #expect(one.error == "invalid_scope")
            #expect(
                told(one) == "The scope 'groups' cannot be granted by this request: add it to the client's scope.")
            let long = String(repeating: "x", count: 100)
            #expect(
                told(try await own("a b c d e f \(long)"))
                    == "The scopes 'a', 'b', 'c', 'd', 'e', ... cannot be granted by this request: add them to the "
                    + "client's scope.")
            #expect(told(try await own(long)).contains("'\(long.prefix(61))...'"))
            // The same text for a client that administers and one that does not.
            let phone = try await world.signIn()
            let administering = try await world.confidential(["scope": "profile admin:merchant"])
            for client in [world.backend, administering] {
                let address = world.authorizeAddress(["scope": "admin:merchant"], for: client)
                let answer = try await world.server.get(address)
                #expect(
                    answer.redirected("error_description")
                        == "The scope 'admin:merchant' cannot be granted by this request: client_credentials alone "
                        + "grants an admin scope, to a client that has it.", "\(answer)")
            }
            let wider = try await world.refresh(try phone.require("refresh_token"), scope: "profile address")
            #expect(told(wider).hasPrefix("The scope 'address' cannot be granted by this request: "))
            let nothing = try await world.server.get(
                world.authorizeAddress(["scope": "groups roles"], for: world.backend))
            #expect(
                nothing.redirected("error_description")
                    == "This client is registered for none of the requested scopes ('groups', 'roles'): add them to "
                    + "the client's scope.")
        }
    }

    @Test("Blanks before, after and between the tokens of a scope are ignored", arguments: Backend.available)
    func blanks(backend: Backend) async throws {
        try await World.with(backend) { world in
            for scope in ["  profile", "profile ", "profile  profile", " profile   "] {
                let answer = try await world.server.post(
                    "/oauth/token", ["grant_type": "client_credentials", "scope": scope], basic: world.backend.basic)
                #expect(answer.json["scope"]?.string == "profile", "\(answer)")
            }
        }
    }

    @Test("invalid_target names the member that would allow the resource, and the parameter in place of audience")
    func target() async throws {
        try await World.with(.sqlite) { world in
            func ask(_ name: String, _ value: String) async throws -> Answer {
                try await world.server.post(
                    "/oauth/token", form: [("grant_type", "client_credentials"), (name, value)],
                    basic: world.backend.basic)
            }
            let unknown = try await ask("resource", "https://api.example")
            #expect(unknown.error == "invalid_target" && told(unknown).contains("add it to the client's resources"))
            for name in [
                "https://api.example", "\(world.server.origin).evil.example/", "\(world.server.origin)9/",
                "\(world.server.origin)@evil.example/",
            ] {
                let audience = try await ask("audience", name)
                #expect(
                    audience.error == "invalid_target" && told(audience).contains("resource (RFC 8707) in place of"))
            }
            // Auth0's SDKs name this server's userinfo.
            #expect(try await ask("audience", "http://spindle.test/userinfo").status == 200)
            let asked = try await world.server.get(
                world.authorizeAddress(["audience": "https://api.example"], for: world.backend))
            #expect(asked.redirected("error") == "invalid_target")
        }
    }

    @Test("The refusal of a wrong method names the right one")
    func method() async throws {
        try await World.with(.sqlite) { world in
            let token = try await world.server.get("/oauth/token")
            #expect(token.status == 405)
            #expect(told(token) == "Use POST here, not GET.")
            let put = try await world.server.send("PUT", "/admin/v1/users/1", bearer: world.admin)
            #expect(told(put) == "Use DELETE, GET or PATCH here, not PUT.")
        }
    }

    @Test("The refusal of a token in the wrong place says where it belongs, and does not repeat it")
    func wrongPlace() async throws {
        try await World.with(.sqlite) { world in
            let token = try await world.signIn().require("access_token")
            for path in ["/me", "/oauth/userinfo", "/admin/v1/users"] {
                func send(_ path: String, _ header: String?) async throws -> Answer {
                    try await world.server.get(path, headers: header.map { ["Authorization": $0] } ?? [:])
                }
                for (path, header, hint) in [
                    (path, nil, "Send it in the Authorization header, after 'Bearer '."),
                    (path, "Token \(token)", "must begin with 'Bearer '"), (path, token, "must begin with 'Bearer '"),
                    (path, "Basic eDp5", "must begin with 'Bearer '"), (path, "Bearer", "one text without blanks"),
                    (path, "Bearer \(token) x", "one text without blanks"),
                    ("\(path)?access_token=\(token)", nil, "One in the URL does not count"),
                ] {
                    let answer = try await send(path, header)
                    #expect(answer.status == 401)
                    #expect(told(answer).hasPrefix("An access token is missing. "), "\(path) \(answer)")
                    #expect(told(answer).contains(hint), "\(path) \(header ?? "-"): \(answer)")
                    #expect(!answer.body.contains(token))
                    // RFC 6750 §3.1.
                    #expect(answer.header("www-authenticate") == "Bearer realm=\"spindle\"")
                }
            }
        }
    }

    @Test("The refusal of an unknown path names the nearest endpoint, or where all are listed")
    func path() async throws {
        try await World.with(.sqlite) { world in
            for (path, meant) in [
                ("/oauth2/token", "/oauth/token"), ("/realms/x/protocol/openid-connect/token", "/oauth/token"),
                ("/oauth/tokn", "/oauth/token"), ("/oauth2/v2.0/authorize", "/oauth/authorize"),
                ("/x/.well-known/openid-configuration", "/.well-known/openid-configuration"),
                ("/admin/v1/client", "/admin/v1/clients"), ("/admin/users", "/admin/v1/users"),
            ] {
                let answer = try await world.server.get(path)
                #expect(told(answer) == "There is no such endpoint: did you mean \(meant)?", "\(path): \(answer)")
            }
            for path in ["/nothing/like/it", "/clients", "/\(String(repeating: "a", count: 80))/token"] {
                #expect(told(try await world.server.get(path)).contains("/.well-known/openid-configuration lists"))
            }
            #expect(told(try await world.server.get("/admin/v1/nothing")) == "There is no such endpoint.")
        }
    }

    @Test("The refusal of a wrong grant_type lists the server's, and that of a missing code_challenge names the method")
    func values() async throws {
        try await World.with(.sqlite) { world in
            let grant = try await world.server.post(
                "/oauth/token", ["grant_type": "client_credential"], basic: world.backend.basic)
            #expect(grant.error == "unsupported_grant_type")
            #expect(told(grant).hasPrefix("grant_type must be one of authorization_code, client_credentials, "))
            let challenge = try await world.server.get(
                world.authorizeAddress(["code_challenge": "", "code_challenge_method": ""]))
            #expect(
                challenge.redirected("error_description")
                    == "code_challenge is missing: a client without a secret must use PKCE (RFC 7636), with "
                    + "code_challenge_method S256.")
        }
    }

    @Test("An unknown client and a wrong secret get one text, which leads to the log")
    func client() async throws {
        try await World.with(.sqlite) { world in
            let form: KeyValuePairs = ["grant_type": "client_credentials"]
            let wrong = try await world.server.post("/oauth/token", form, basic: (world.backend.id, "wrong"))
            let unknown = try await world.server.post("/oauth/token", form, basic: ("nobody", "wrong"))
            #expect(wrong.body == unknown.body)
            #expect(told(wrong).contains("X-Request-Id"))
        }
    }

    @Test("The refusal of a registration without a token says which token it needs and who makes it")
    func registration() async throws {
        try await World.with(.sqlite) { world in
            let answer = try await world.server.send("POST", "/oauth/register", json: [:])
            #expect(answer.status == 401)
            #expect(told(answer).contains("initial access token, which an administrator makes"))
            let managed = try await world.server.get("/oauth/register/x")
            #expect(told(managed).contains("registration_access_token"))
        }
    }

    @Test(
        "The refusal of broken JSON names line, column and the likely fault",
        arguments: [
            ("{'email': 'x'}", "line 1, column 2: names and texts stand in double quotes"),
            ("{\"email\": \"x\",}", "line 1, column 15: nothing follows the last comma"),
            ("{\n  \"email\": \"x\"\n  \"name\": \"y\"}", "line 3, column 3: a comma or colon is missing before it"),
            ("{\"email\": \"x\"", "line 1, column 14: it ends too early"), ("", "line 1, column 1: it ends too early"),
            ("[]", "is JSON, but not an object"), ("{\"a\": 1, \"a\": 2}", "two members with the same name"),
            ("{\"email\": x}", "line 1, column 11"),
        ])
    func json(body: String, hint: String) async throws {
        try await World.with(.sqlite) { world in
            let type = ["Content-Type": "application/json"]
            let answer = try await world.server.send(
                "POST", "/admin/v1/users", body: Array(body.utf8), bearer: world.admin, headers: type)
            expectProblem(answer, 400)
            #expect(told(answer).contains(hint), "\(answer)")
            let token = try await world.server.send("POST", "/oauth/token", body: Array(body.utf8), headers: type)
            #expect(told(token).contains(hint.replacing("\"", with: "'")), "\(token)")
        }
    }

    @Test("An https issuer that is reached by http says so on the page and in the log, not that cookies are missing")
    func issuer() async throws {
        try await TestServer.with(.sqlite, settings: ["issuer": "https://login.example.com"]) { server in
            let host = server.origin.replacing("http://", with: "")
            let page = try await server.get("/login", headers: ["Accept": "text/html"])
            let form = page.fields.map { ($0.key, $0.value) } + [("email", "a@example.com"), ("password", "x")]
            let http = try await server.post(
                "/login", form: form, headers: ["Origin": "http://\(host)", "Accept": "text/html"])
            #expect(http.status == 403)
            #expect(http.words.contains("This page needs https") && http.words.contains("https://login.example.com"))
            #expect(server.log.says("reason=https_issuer_reached_by_http"))
            let foreign = try await server.post("/login", form: form, headers: ["Origin": "https://evil.example"])
            #expect(foreign.status == 403 && !foreign.words.contains("needs https"))
            #expect(server.log.says("reason=foreign_form"))
        }
    }
}
