import HTTP
import JSON
import TestSupport
import Testing

@testable import HTTPSupport

@Suite("A path leads to its endpoint, which answers only its own methods")
struct RoutingTests {
    @Test("Repeated and trailing slashes of a path are ignored")
    func slashes() async throws {
        try await TestServer.with(.sqlite) { server async throws -> Void in
            for path in ["/healthz", "/healthz/", "//healthz", "///healthz//", "/healthz?a=/b", "/healthz/?"] {
                #expect(try await server.get(path).status == 200, "\(path)")
            }
            for path in ["/", "//", "/healthz/more", "/health", "/healthzz", "/?/healthz"] {
                #expect(try await server.get(path).status == 404, "\(path)")
            }
        }
    }

    @Test("A path to the admin API with repeated or trailing slashes is unknown")
    func operators() async throws {
        try await TestServer.with(.sqlite) { server async throws -> Void in
            let path = "/admin/v1/merchants"
            #expect(try await server.get(path).status != 404)
            for odd in ["/" + path, path + "/", path + "//", "//" + path, "/admin//v1/merchants"] {
                #expect(try await server.get(odd).status == 404, "\(odd)")
            }
        }
    }

    @Test("A path in another letter case or with percent-escapes is unknown")
    func spelling() async throws {
        try await TestServer.with(.sqlite) { server async throws -> Void in
            for path in ["/Healthz", "/%68ealthz", "/healthz%2f", "/healthz%00"] {
                #expect(try await server.get(path).status == 404, "\(path)")
            }
        }
    }

    @Test("A request with an unknown method gets 404, as at an unknown path")
    func methods() async throws {
        try await TestServer.with(.sqlite) { server async throws -> Void in
            #expect(try await server.send("PROPFIND", "/healthz").status == 404)
            #expect(try await server.send("get", "/healthz").status == 404)
            #expect(try await server.send("OPTIONS", "/healthz").header("allow") == "GET, HEAD")
        }
    }

    @Test("A path parameter matches exactly one segment, and not an empty one")
    func parameters() async throws {
        try await World.with(.sqlite) { world async throws -> Void in
            let id = world.backend.id
            let answer = try await world.server.get("/admin/v1/clients/\(id)", bearer: world.admin)
            #expect(answer.json["client_id"]?.string == id)
            #expect(try await world.server.get("/admin/v1/clients/", bearer: world.admin).status == 404)
            let longer = try await world.server.get("/admin/v1/clients/a/b", bearer: world.admin)
            #expect(longer.status == 404)
        }
    }

    /// The template that `path` leads to; nil for none.
    private func template(_ path: String, among templates: [String]) -> String? {
        var routes = Routes()
        for template in templates { routes.get(template) { _, _ in Response(status: .ok) } }
        let table = RouteTable(routes.all)
        let number = table.find(.get, path)
        return number == RouteTable.notFound ? nil : table.routes[number].template.text
    }

    @Test("A route with a fixed segment goes before one with a path parameter, whichever was added first")
    func precedence() {
        for templates in [["/a/{b}", "/a/b"], ["/a/b", "/a/{b}"]] {
            #expect(template("/a/b", among: templates) == "/a/b")
            #expect(template("/a/c", among: templates) == "/a/{b}")
            #expect(template("/a/", among: templates) == nil)
        }
    }

    @Test("A route with a path parameter is tried where the one with a fixed segment does not match")
    func backtracking() {
        let templates = ["/a/b/c", "/a/{x}/d", "/{y}/b/e", "/a/b"]
        for (path, expected) in [
            ("/a/b/c", "/a/b/c"), ("/a/b/d", "/a/{x}/d"), ("/a/b/e", "/{y}/b/e"), ("/a/b", "/a/b"), ("/a/c", nil),
            ("/a/b/f", nil), ("/z/b/e", "/{y}/b/e"), ("/", nil), ("", nil),
        ] {
            #expect(template(path, among: templates) == expected, "\(path)")
        }
    }

    @Test("A HEAD request is routed to a GET route that is marked safe, and to no other route")
    func head() {
        var routes = Routes()
        routes.get("/page", isSafe: true) { _, _ in Response(status: .ok) }
        routes.post("/page") { _, _ in Response(status: .ok) }
        routes.get("/code") { _, _ in Response(status: .ok) }
        let table = RouteTable(routes.all)
        #expect(table.find(.head, "/page") == table.find(.get, "/page"))
        #expect(table.find(.head, "/code") != table.find(.get, "/code"))
        #expect(table.find(.head, "/other") == RouteTable.notFound)
    }

    @Test("A path parameter's value is its segment as sent, not percent-decoded")
    func values() throws {
        let parameters = PathParameters(path: "//a/x%2Fy/b//z/", template: PathTemplate("/a/{first}/b/{second}"))
        #expect(try parameters.require("first") == "x%2Fy")
        #expect(try parameters.require("second") == "z")
        #expect(parameters.all.map(\.name) == ["first", "second"])
        #expect(throws: HTTPRefusal.self) { try parameters.require("third") }
    }

    @Test(
        "A known path with a method that it lacks gets 405 and an Allow header with its methods",
        arguments: Backend.available)
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
        "HEAD gets the headers of GET without the body on metadata, key sets, pages and their assets",
        arguments: Backend.available)
    func headAsGet(backend: Backend) async throws {
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

    /// They spend a code, end a session, store a request, or are for programs.
    static let unsafe = [
        "/oauth/authorize", "/authorize", "/flow/login", "/flow/auth", "/flow/signup", "/flow/signin", "/flow/password",
        "/auth/forgotpassword", "/logout", "/v2/logout", "/flow/logout", "/auth/session/x", "/session/x",
        "/session/renew", "/session/handover", "/session", "/v2/session", "/login/with/x", "/login/with/x/callback",
        "/ajax/logout.js", "/ajax/acceptAgreement.js", "/account/data", "/me", "/userinfo", "/oauth/userinfo",
        "/admin/v1/users",
    ]

    @Test("HEAD gets 405 at addresses where GET may change something or answers a program", arguments: unsafe)
    func unsafeHead(path: String) async throws {
        try await TestServer.with(.sqlite) { server async throws -> Void in
            let head = try await server.send("HEAD", path)
            #expect(head.status == 405, "\(path)")
            #expect(head.header("allow")?.contains("HEAD") == false, "\(path)")
            #expect(head.header("set-cookie") == nil, "\(path)")
        }
    }

    @Test("HEAD does not spend a session code", arguments: Backend.available)
    func spends(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            let looked = try await world.server.send("HEAD", "/auth/session/\(code)")
            #expect(looked.status == 405)
            #expect(looked.header("set-cookie") == nil)
            #expect(try await world.server.get("/auth/session/\(code)").status == 302)
        }
    }

    @Test(
        "A refused HEAD request gets no body, which would be read as the start of the next answer",
        arguments: Backend.available)
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
