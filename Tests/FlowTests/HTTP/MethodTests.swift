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

    @Test("HEAD works for the health endpoints, and spends no session code", arguments: Backend.available)
    func head(backend: Backend) async throws {
        try await World.with(backend) { world in
            for path in ["/healthz", "/readyz"] {
                let answer = try await world.server.send("HEAD", path)
                #expect(answer.status == 200)
                #expect(answer.body.isEmpty)
            }
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
            for path in ["/no/such/page", "/oauth/token", "/admin/v1/nothing"] {
                let head = try await world.server.send("HEAD", path)
                #expect(head.status >= 400)
                #expect(head.body.isEmpty)
                // On the same connection, as a rule.
                #expect(try await world.server.get("/healthz").json["status"]?.string == "ok")
            }
        }
    }
}
