import JSON
import TestSupport
import Testing

@Suite("X-Request-Id leads from an answer to the log")
struct RequestIDTests {
    private static var own: Regex<Substring> { /[0-9a-f]{32}/ }

    @Test(
        "Every answer has an X-Request-Id, and the log says the reason of a refusal at it", arguments: Backend.available
    )
    func everyAnswer(backend: Backend) async throws {
        try await World.with(backend) { world in
            var ids: Set<String> = []
            for (method, path) in [
                ("GET", "/healthz"), ("HEAD", "/healthz"), ("GET", "/login"), ("GET", "/no/such/page"), ("PUT", "/me"),
                ("GET", "/me"), ("OPTIONS", "/oauth/token"), ("POST", "/oauth/token"), ("GET", "/admin/v1/users"),
                ("GET", "/api/2/me"), ("GET", "/oauth/authorize"), ("GET", "/assets/spindle.css"),
            ] {
                let id = try await world.server.send(method, path).header("x-request-id") ?? "none"
                #expect(id.wholeMatch(of: Self.own) != nil, "\(method) \(path): \(id)")
                #expect(ids.insert(id).inserted)
            }
            let refused = try await world.server.post(
                "/oauth/token", ["grant_type": "authorization_code", "code": "x", "redirect_uri": "https://x.example"],
                basic: world.backend.basic)
            #expect(refused.error == "invalid_grant")
            #expect(refused.json["error_description"]?.string?.contains("X-Request-Id") == true)
            let id = try #require(refused.header("x-request-id"))
            #expect(world.server.log.lines.contains { $0.contains("request_id=\(id)") && $0.contains("reason=") })
        }
    }

    @Test("A caller's own X-Request-Id comes back, and one that is no id is passed over", arguments: Backend.available)
    func callers(backend: Backend) async throws {
        try await World.with(backend) { world in
            for id in ["a", "Order-7.2_x", String(repeating: "z", count: 64)] {
                let answer = try await world.server.get("/me", headers: ["X-Request-Id": id])
                #expect(answer.header("x-request-id") == id)
            }
            for id in ["", "a b", "a,b", "<b>", String(repeating: "z", count: 65)] {
                let answer = try await world.server.get("/me", headers: ["X-Request-Id": id])
                #expect(answer.header("x-request-id")?.wholeMatch(of: Self.own) != nil, "\(id)")
            }
        }
    }

    private static let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test(
        "The log takes X-Request-Id and traceparent from a trusted proxy, and from no other caller",
        arguments: Backend.available)
    func proxies(backend: Backend) async throws {
        func send(_ world: World, _ trace: String) async throws {
            _ = try await world.server.get("/me", headers: ["X-Request-Id": "order-7", "traceparent": trace])
        }
        try await World.with(backend, settings: ["trusted_proxies": "127.0.0.0/8"]) { world in
            try await send(world, Self.trace)
            #expect(world.server.log.says("request_id=order-7"))
            #expect(world.server.log.says("traceparent=\(Self.trace)"))
            try await send(world, "00-no-trace-01")
            #expect(!world.server.log.says("no-trace"))
        }
        try await World.with(backend) { world in
            try await send(world, Self.trace)
            #expect(!world.server.log.says("order-7"))
            #expect(!world.server.log.says("traceparent"))
        }
    }

    @Test(
        "An error page shows the id of its request in the log, to quote; other pages do not",
        arguments: Backend.available)
    func pages(backend: Backend) async throws {
        try await World.with(backend) { world in
            let html = ["Accept": "text/html", "Accept-Language": "en"]
            for path in ["/oauth/authorize?client_id=unknown", "/no/such/page", "/auth/session/unknown"] {
                let page = try await world.server.get(path, headers: html)
                let id = try #require(page.header("x-request-id"))
                #expect(page.body.contains("Reference, if you ask for help: <code>\(id)</code>"), "\(path): \(page)")
            }
            // Of a caller that is no trusted proxy the log has no id.
            let named = try await world.server.get(
                "/no/such/page", headers: html.merging(["X-Request-Id": "mine"]) { $1 })
            #expect(named.header("x-request-id") == "mine")
            #expect(named.body.contains(/Reference, if you ask for help: <code>[0-9a-f]{32}<\/code>/))
            #expect(try await !world.server.get("/login", headers: html).body.contains("Reference"))
        }
    }
}
