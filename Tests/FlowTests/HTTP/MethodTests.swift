import JSON
import TestSupport
import Testing

@Suite("Methods that a path does not have")
struct MethodTests {
    @Test("a known path with another method gets 405 and the methods it has", arguments: Backend.available)
    func notAllowed(backend: Backend) async throws {
        try await World.with(backend) { world in
            for (method, path, allow) in [
                ("GET", "/oauth/token", "OPTIONS, POST"), ("DELETE", "/oauth/token", "OPTIONS, POST"),
                ("PUT", "/me", "GET"), ("OPTIONS", "/me", "GET"),
                ("PUT", "/auth/session/unknown", "GET, POST"), ("POST", "/healthz", "GET, HEAD"),
            ] {
                let answer = try await world.server.send(method, path)
                #expect(answer.status == 405, "\(method) \(path)")
                #expect(answer.header("allow") == allow)
                #expect(answer.error == "invalid_request")
            }
            let admin = try await world.server.send("PUT", "/admin/v1/clients", bearer: world.admin)
            expectProblem(admin, 405)
            #expect(admin.header("allow") == "GET, POST")
            #expect(try await world.server.get("/no/such/page").status == 404)
        }
    }

    @Test(
        "HEAD is answered as GET without the body on metadata, keys, pages and what they need",
        arguments: Backend.available)
    func head(backend: Backend) async throws {
        try await World.with(backend) { world in
            for path in [
                "/healthz", "/readyz", "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server",
                "/oauth/jwks", "/.well-known/jwks.json", "/login", "/signup", "/password", "/account", "/verify",
                "/account/delete", "/assets/spindle.css", "/assets/submit.js", "/account/password",
                "/password/reset/unknown", "/signup/confirm/unknown", "/login/code/check",
            ] {
                let (get, head) = (try await world.server.get(path), try await world.server.send("HEAD", path))
                #expect(head.status == get.status, "\(path)")
                #expect(head.body.isEmpty, "\(path)")
                for name in ["content-length", "content-type", "cache-control", "location"] {
                    #expect(head.header(name) == get.header(name), "\(path)")
                }
                #expect(get.header("content-length") == "\(get.body.utf8.count)", "\(path)")
            }
        }
    }

    /// They spend a code, end a session, store a request, or are asked by programs that know the method.
    static let unsafe = [
        "/oauth/authorize", "/authorize", "/flow/login", "/flow/auth", "/flow/signup", "/flow/signin", "/flow/password",
        "/auth/forgotpassword", "/logout", "/v2/logout", "/flow/logout", "/auth/session/x", "/session/x",
        "/session/renew", "/session/handover", "/session", "/v2/session", "/login/with/x", "/login/with/x/callback",
        "/ajax/logout.js", "/ajax/acceptAgreement.js", "/account/data", "/me", "/userinfo", "/oauth/userinfo",
        "/admin/v1/users",
    ]

    @Test("HEAD is refused where a GET may change something", arguments: unsafe)
    func unsafeHead(path: String) async throws {
        try await TestServer.with(.sqlite) { server async throws -> Void in
            let head = try await server.send("HEAD", path)
            #expect(head.status == 405, "\(path)")
            #expect(head.header("allow")?.contains("HEAD") == false, "\(path)")
            #expect(head.header("set-cookie") == nil, "\(path)")
        }
    }

    @Test("HEAD spends no session code", arguments: Backend.available)
    func spends(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            let looked = try await world.server.send("HEAD", "/auth/session/\(code)")
            #expect(looked.status == 405)
            #expect(looked.header("set-cookie") == nil)
            #expect(try await world.server.get("/auth/session/\(code)").status == 302)
        }
    }

    @Test("a refused HEAD has no body that could begin the next answer", arguments: Backend.available)
    func headBody(backend: Backend) async throws {
        try await World.with(backend) { world in
            for path in ["/no/such/page", "/oauth/token", "/admin/v1/nothing", "/logout"] {
                let head = try await world.server.send("HEAD", path)
                #expect(head.status >= 400)
                #expect(head.body.isEmpty)
                // On the same connection, as a rule.
                #expect(try await world.server.get("/healthz").json["status"]?.string == "ok")
            }
        }
    }
}
