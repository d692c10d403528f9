import HTTP
import JSON
import TestSupport
import Testing

@Suite("A path of SPiD's API without a version means version 2") struct UnversionedTests {
    @Test("A path of the API without a version answers as version 2 does", arguments: Backend.available)
    func same(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let loom = try await world.spidBackend()
            let own = try await world.clientToken(loom)
            let user = try await world.signIn(with: loom).require("access_token")
            let calls = [
                ("me", user), ("me.json", user), ("user/\(world.user)", user), ("users", own), ("clients", own),
                ("client/\(loom.id).json", own), ("user/\(world.user)/logins", own), ("endpoints", own),
                ("logins?limit=1", own), ("me", "unknown"), ("users?since=never", own),
            ]
            for (path, token) in calls {
                let versioned = try await world.api(path, token)
                let plain = try await world.server.get("/api/" + path, bearer: token)
                #expect(plain.status == versioned.status, "\(path)")
                #expect(plain.data == versioned.data && plain.error == versioned.error, "\(path)")
                #expect(plain.json["debug"] == versioned.json["debug"], "\(path)")
            }
            let accepted = try await world.server.post("/api/user/\(world.user)/agreements/accept", [:], bearer: user)
            #expect(accepted.status == 200 && accepted.data["result"] == true)
        }
    }

    @Test("Every route of version 2 has its alias, except the token endpoint, which has one without `/api`")
    func every() async throws {
        try await World.with(.sqlite) { world in
            let routes = try Set(world.server.routes)
            let versioned = routes.filter { $0.contains(" /api/2/") && !$0.hasSuffix(" /api/2/oauth/token") }
            #expect(versioned.count > 40)
            for route in versioned { #expect(routes.contains(route.replacing(" /api/2/", with: " /api/")), "\(route)") }
            #expect(!routes.contains("POST /api/oauth/token") && routes.contains("POST /oauth/token"))
        }
    }

    @Test("An unknown path below /api, and a wrong method, are refused in the container")
    func refused() async throws {
        try await World.with(.sqlite) { world in
            for path in ["/api/nothing", "/api/3/me", "/api", "/api/oauth/token"] {
                let unknown = try await world.server.get(path)
                #expect(unknown.status == 404 && unknown.json["name"] == "SPP Container", "\(path)")
            }
            let wrong = try await world.server.send("DELETE", "/api/me")
            #expect(wrong.status == 405 && wrong.json["name"] == "SPP Container")
            #expect(try await world.server.get("/apiary").json["name"] == nil)
        }
    }
}
