import TestSupport
import Testing

@Suite("A site of https says that it wants no http")
struct TransportSecurityTests {
    private static let requests = [
        ("GET", "/login"), ("GET", "/healthz"), ("HEAD", "/healthz"), ("GET", "/no/such/page"), ("PUT", "/login"),
        ("POST", "/oauth/token"), ("GET", "/me"), ("GET", "/assets/spindle.css"), ("GET", "/admin/v1/users"),
        ("POST", "/login"), ("GET", "/account"),
    ]

    @Test("with every answer, good or bad, and for itself alone")
    func secure() async throws {
        try await TestServer.with(.sqlite, settings: ["issuer": "https://spindle.test"]) { server in
            for (method, path) in Self.requests {
                let answer = try await server.send(method, path)
                #expect(answer.header("strict-transport-security") == "max-age=31536000", "\(method) \(path)")
            }
        }
    }

    @Test("and one of http does not")
    func plain() async throws {
        try await TestServer.with(.sqlite) { server in
            for (method, path) in Self.requests {
                let answer = try await server.send(method, path)
                #expect(answer.header("strict-transport-security") == nil, "\(method) \(path)")
            }
        }
    }
}
