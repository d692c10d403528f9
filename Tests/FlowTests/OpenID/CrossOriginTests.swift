import JSON
import TestSupport
import Testing
import Values

@Suite("CORS: pages of registered origins can read what their apps call, and no other pages")
struct CrossOriginTests {
    private static let origin = "https://www.loom.example"
    private static let other = "https://www.rival.example"

    private func withOrigins(_ backend: Backend, _ story: (World) async throws -> Void) async throws {
        try await World.with(backend) { world in
            try await world.change("clients", world.app.id, ["web_origins": [.string(Self.origin)]])
            try await world.change("clients", world.rivalBackend.id, ["web_origins": [.string(Self.other)]])
            try await story(world)
        }
    }

    private func preflight(
        _ world: World, _ path: String, from origin: String, for method: String = "POST",
        fields: String = "auth0-client,content-type"
    ) async throws -> Answer {
        try await world.server.send(
            "OPTIONS", path,
            headers: [
                "Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": fields,
            ])
    }

    private func allowed(_ answer: Answer) -> String? {
        #expect(answer.header("vary") == "Origin")
        #expect(answer.header("access-control-allow-credentials") == nil)
        return answer.header("access-control-allow-origin")
    }

    @Test(
        "A CORS preflight is allowed for a registered origin of any client, and for no other origin",
        arguments: Backend.available)
    func beforehand(backend: Backend) async throws {
        try await withOrigins(backend) { world in
            for (path, methods) in [
                ("/oauth/token", "POST"), ("/oauth/revoke", "POST"), ("/oauth/userinfo", "GET, POST"),
                ("/userinfo", "GET, POST"),
            ] {
                for origin in [Self.origin, Self.other] {
                    let answer = try await preflight(world, path, from: origin)
                    #expect(answer.status == 204)
                    #expect(allowed(answer) == origin)
                    #expect(answer.header("access-control-allow-methods") == methods)
                    #expect(answer.header("access-control-allow-headers") == "auth0-client, content-type")
                    #expect(answer.header("access-control-max-age") == "3600")
                }
                for origin in ["https://evil.example", "null", "https://www.loom.example.evil.example", ""] {
                    let answer = try await preflight(world, path, from: origin)
                    #expect(allowed(answer) == nil)
                    #expect(answer.header("access-control-allow-methods") == nil)
                }
            }
            // Introspection is not for web pages: it takes a confidential client.
            #expect(try await preflight(world, "/oauth/introspect", from: Self.origin).status == 405)
        }
    }

    @Test(
        "A new web origin is allowed within a minute; a disabled client's or merchant's is refused as fast",
        arguments: Backend.available)
    func memory(backend: Backend) async throws {
        try await withOrigins(backend) { world in
            let new = "https://new.loom.example"
            #expect(allowed(try await preflight(world, "/oauth/token", from: new)) == nil)
            try await world.change("clients", world.backend.id, ["web_origins": [.string(new)]])
            try await world.change("clients", world.app.id, ["disabled": true])
            try await world.change("merchants", world.rival, ["disabled": true])
            world.server.clock.advance(by: .seconds(61))
            #expect(allowed(try await preflight(world, "/oauth/token", from: new)) == new)
            #expect(allowed(try await preflight(world, "/oauth/token", from: Self.origin)) == nil)
            #expect(allowed(try await preflight(world, "/oauth/token", from: Self.other)) == nil)
        }
    }

    @Test(
        "A success is readable by pages of its client's own origins, a refusal by those of every registered one",
        arguments: Backend.available)
    func answers(backend: Backend) async throws {
        try await withOrigins(backend) { world in
            let good = ["username": World.email, "password": World.password, "scope": "openid"]
            func ask(_ path: String, _ form: [String: String], from origin: String?) async throws -> Answer {
                try await world.server.post(
                    path, form: form.map { ($0.key, $0.value) }, headers: origin.map { ["Origin": $0] } ?? [:])
            }
            func form(_ changes: [String: String]) -> [String: String] {
                good.merging(["client_id": world.app.id, "grant_type": "password"]) { $1 }.merging(changes) { $1 }
            }
            let signedIn = try await ask("/oauth/token", form([:]), from: Self.origin)
            #expect(signedIn.status == 200)
            #expect(allowed(signedIn) == Self.origin)
            #expect(signedIn.header("access-control-expose-headers") == "WWW-Authenticate, Retry-After, X-Request-Id")
            for (changes, status) in [
                (["password": "wrong"], 400), (["grant_type": "poetry"], 400), (["client_secret": "x"], 401),
            ] {
                let refused = try await ask("/oauth/token", form(changes), from: Self.origin)
                #expect(refused.status == status)
                #expect(allowed(refused) == Self.origin)
            }
            for origin in [Self.other, "https://evil.example", nil] {
                #expect(allowed(try await ask("/oauth/token", form([:]), from: origin)) == nil)
            }
            // A refusal says nothing about a client, so pages of every registered origin may read it.
            for client in ["unknown", world.app.id] {
                let refused = form(["client_id": client, "grant_type": "poetry"])
                for origin in [Self.origin, Self.other] {
                    #expect(allowed(try await ask("/oauth/token", refused, from: origin)) == origin)
                }
                #expect(allowed(try await ask("/oauth/token", refused, from: "https://evil.example")) == nil)
            }

            let token = try signedIn.require("access_token")
            func userinfo(_ token: String, from origin: String) async throws -> Answer {
                try await world.server.get("/oauth/userinfo", bearer: token, headers: ["Origin": origin])
            }
            #expect(allowed(try await userinfo(token, from: Self.origin)) == Self.origin)
            #expect(allowed(try await userinfo(token, from: Self.other)) == nil)
            #expect(allowed(try await userinfo("nonsense", from: Self.origin)) == Self.origin)
            #expect(allowed(try await userinfo("nonsense", from: "https://evil.example")) == nil)
            world.server.clock.advance(by: .hours(2))
            let late = try await userinfo(token, from: Self.origin)
            #expect(late.status == 401)
            #expect(allowed(late) == Self.origin)

            let revoked = try await ask(
                "/oauth/revoke", ["token": token, "client_id": world.app.id], from: Self.origin)
            #expect(revoked.status == 200)
            #expect(allowed(revoked) == Self.origin)
        }
    }

    @Test(
        "The log has a line for a refused CORS preflight, and for a success that a page may not read",
        arguments: Backend.available)
    func logged(backend: Backend) async throws {
        try await withOrigins(backend) { world in
            func says(_ reason: String, _ origin: String) -> Bool {
                world.server.log.lines.contains { $0.contains("reason=\(reason)") && $0.contains("origin=\(origin)") }
            }
            _ = try await preflight(world, "/oauth/token", from: "https://evil.example")
            #expect(says("unregistered_origin", "https://evil.example"))
            _ = try await world.server.post(
                "/oauth/token", ["grant_type": "client_credentials"], basic: world.backend.basic,
                headers: ["Origin": Self.other])
            #expect(says("origin_of_another_client", Self.other))
            #expect(!says("unregistered_origin", Self.origin))
        }
    }

    /// Header fields of tracing libraries, of MCP clients, and our own.
    private static let added = "authorization,baggage,dpop,mcp-protocol-version,sentry-trace,traceparent,x-b3-traceid"

    @Test("A CORS preflight allows the header fields it asks for, except those in which proxies name a client")
    func fields() async throws {
        try await withOrigins(.sqlite) { world in
            for path in ["/oauth/token", "/oauth/revoke", "/oauth/userinfo", "/oauth/jwks", "/oauth/register"] {
                for (asked, allowed): (String, String?) in [
                    (Self.added, Self.added.split(separator: ",").joined(separator: ", ")),
                    ("TraceParent , X-Request-ID", "traceparent, x-request-id"),
                    ("forwarded,traceparent,x-forwarded-for,x-real-ip", "traceparent"),
                    ("not a token,,a(b),tracestate", "tracestate"), ("", nil),
                ] {
                    let answer = try await preflight(world, path, from: Self.origin, fields: asked)
                    #expect(answer.status == 204)
                    #expect(answer.header("access-control-allow-headers") == allowed, "\(path) \(asked)")
                }
            }
        }
    }

    @Test(
        "Pages of any origin may read discovery and the JWKS without cookies, whatever header fields they add",
        arguments: Backend.available)
    func published(backend: Backend) async throws {
        try await World.with(backend) { world in
            for path in [
                "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server", "/oauth/jwks",
                "/.well-known/jwks.json",
            ] {
                for origin in ["https://evil.example", "null"] {
                    let asked = try await preflight(world, path, from: origin, for: "GET", fields: "traceparent")
                    #expect(asked.status == 204 && asked.body.isEmpty)
                    #expect(asked.header("access-control-allow-origin") == "*")
                    #expect(asked.header("access-control-allow-methods")?.contains("GET") == true)
                    #expect(asked.header("access-control-allow-headers") == "traceparent")
                    #expect(asked.header("access-control-allow-credentials") == nil)
                    let read = try await world.server.get(
                        path, headers: ["Origin": origin, "traceparent": "00-a-b-00"])
                    #expect(read.status == 200)
                    #expect(read.header("access-control-allow-origin") == "*")
                    #expect(read.header("access-control-allow-credentials") == nil)
                }
            }
        }
    }

    @Test(
        "A page of any origin with a token may register and manage a client, and can read every answer",
        arguments: Backend.available)
    func registration(backend: Backend) async throws {
        try await World.with(backend) { world in
            let headers = ["Origin": "https://www.anywhere.example", "Content-Type": "application/json"]
            let asked = try await preflight(
                world, "/oauth/register", from: "https://www.anywhere.example", fields: "authorization,content-type")
            #expect(asked.status == 204 && asked.header("access-control-allow-origin") == "*")
            #expect(asked.header("access-control-allow-methods") == "POST")
            #expect(asked.header("access-control-allow-headers") == "authorization, content-type")
            func readable(_ answer: Answer, _ status: Int) {
                #expect(answer.status == status, "\(answer)")
                #expect(answer.header("access-control-allow-origin") == "*")
                #expect(answer.header("access-control-allow-credentials") == nil)
                #expect(answer.header("access-control-expose-headers")?.contains("WWW-Authenticate") == true)
            }
            let document: JSON = ["redirect_uris": ["https://www.anywhere.example/in"]]
            func send(_ method: String, _ path: String, _ json: JSON?, _ token: String) async throws -> Answer {
                try await world.server.send(
                    method, path, body: Array((json?.text ?? "").utf8), bearer: token, headers: headers)
            }
            readable(try await send("POST", "/oauth/register", document, "wrong"), 401)
            let token = try await world.initialToken()
            readable(try await send("POST", "/oauth/register", ["redirect_uris": "x"], token), 400)
            let made = try await send("POST", "/oauth/register", document, token)
            readable(made, 201)
            let own = try made.require("registration_access_token")
            let path = "/oauth/register/\(try made.require("client_id"))"
            let managing = try await preflight(world, path, from: "https://www.anywhere.example", for: "PUT")
            #expect(managing.status == 204 && managing.header("access-control-allow-origin") == "*")
            #expect(managing.header("access-control-allow-methods") == "GET, PUT, DELETE")
            readable(try await send("GET", path, nil, "wrong"), 401)
            readable(try await send("GET", path, nil, own), 200)
            readable(try await send("DELETE", path, nil, own), 204)
        }
    }
}
