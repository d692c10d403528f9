import TestSupport
import Testing

@Suite("Strict-Transport-Security is sent by an https server only")
struct TransportSecurityTests {
    private static let requests = [
        ("GET", "/login"), ("GET", "/healthz"), ("HEAD", "/healthz"), ("GET", "/no/such/page"), ("PUT", "/login"),
        ("POST", "/oauth/token"), ("GET", "/me"), ("GET", "/assets/spindle.css"), ("GET", "/admin/v1/users"),
        ("POST", "/login"), ("GET", "/account"), ("GET", "/" + String(repeating: "a", count: 9_000)),
    ]

    @Test("Every answer of an https server has Strict-Transport-Security, without includeSubDomains")
    func secure() async throws {
        try await TestServer.with(.sqlite, settings: ["issuer": "https://spindle.test"]) { server in
            for (method, path) in Self.requests {
                let answer = try await server.send(method, path)
                #expect(answer.header("strict-transport-security") == "max-age=31536000", "\(method) \(path)")
            }
        }
    }

    @Test("An http server sends no Strict-Transport-Security")
    func plain() async throws {
        try await TestServer.with(.sqlite) { server in
            for (method, path) in Self.requests {
                let answer = try await server.send(method, path)
                #expect(answer.header("strict-transport-security") == nil, "\(method) \(path)")
            }
        }
    }
}
