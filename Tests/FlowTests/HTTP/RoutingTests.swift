import JSON
import TestSupport
import Testing

@Suite("A path leads to its endpoint")
struct RoutingTests {
    @Test("repeated and trailing slashes are ignored")
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

    @Test("repeated slashes do not lead to administration past a proxy that compares how a path begins")
    func operators() async throws {
        try await TestServer.with(.sqlite) { server async throws -> Void in
            for path in ["/admin/v1/merchants", "/admin/v1/merchants/"] {
                #expect(try await server.get(path).status != 404, "\(path)")
                for odd in ["/" + path, path + "//", "//" + path] {
                    #expect(try await server.get(odd).status == 404, "\(odd)")
                }
            }
            #expect(try await server.get("/admin//v1/merchants").status == 404)
        }
    }

    @Test("another letter case or an escape makes another path")
    func spelling() async throws {
        try await TestServer.with(.sqlite) { server async throws -> Void in
            for path in ["/Healthz", "/%68ealthz", "/healthz%2f", "/healthz%00"] {
                #expect(try await server.get(path).status == 404, "\(path)")
            }
        }
    }

    @Test("an unknown method gets the answer of an unknown path")
    func methods() async throws {
        try await TestServer.with(.sqlite) { server async throws -> Void in
            #expect(try await server.send("PROPFIND", "/healthz").status == 404)
            #expect(try await server.send("get", "/healthz").status == 404)
            #expect(try await server.send("OPTIONS", "/healthz").header("allow") == "GET, HEAD")
        }
    }

    @Test("a parameter matches one segment that is not empty")
    func parameters() async throws {
        try await World.with(.sqlite) { world async throws -> Void in
            let id = world.backend.id
            for path in ["/admin/v1/clients/\(id)", "/admin/v1/clients/\(id)/"] {
                let answer = try await world.server.get(path, bearer: world.admin)
                #expect(answer.json["client_id"]?.string == id, "\(path)")
            }
            let list = try await world.server.get("/admin/v1/clients/", bearer: world.admin)
            #expect(list.json["items"] != nil)
            let longer = try await world.server.get("/admin/v1/clients/a/b", bearer: world.admin)
            #expect(longer.status == 404)
        }
    }
}
