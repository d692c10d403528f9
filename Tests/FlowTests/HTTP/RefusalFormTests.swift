import JSON
import Storage
import TestSupport
import Testing

@Suite("Refusals have the form of their interface, wherever they arise")
struct RefusalFormTests {
    @Test(
        "below /admin/v1 a path without an endpoint answers with a problem document too", arguments: Backend.available)
    func problems(backend: Backend) async throws {
        try await World.with(backend) { world in
            expectProblem(try await world.server.get("/admin/v1/nothing", bearer: world.admin), 404)
            expectProblem(try await world.server.get("/admin/v1", bearer: world.admin), 404)
            try await world.server.database.write { db in
                _ = try db.execute(
                    "UPDATE clients SET authentication_method = 'odd' WHERE id = \(world.rivalBackend.id)")
            }
            expectProblem(try await world.server.get("/admin/v1/clients", bearer: world.admin), 500)
        }
    }

    @Test("a NUL in Basic credentials or in any field of a form gets 400", arguments: Backend.available)
    func nul(backend: Backend) async throws {
        try await World.with(backend) { world in
            let form: KeyValuePairs = ["grant_type": "client_credentials"]
            for basic in [("\(world.backend.id)\0", world.backend.secret), (world.backend.id, "\0"), ("\0", "\0")] {
                let answer = try await world.server.post("/oauth/token", form, basic: basic)
                #expect(answer.status == 401)
                #expect(answer.error == "invalid_client")
            }
            for (name, value) in [("client_id", "a\0"), ("unknown\0", "x"), ("unknown", "\0")] {
                let answer = try await world.server.post(
                    "/oauth/token", form: form.map { ($0.key, $0.value) } + [(name, value)])
                #expect(answer.status == 400)
                #expect(answer.error == "invalid_request")
            }
            let raw = try await world.server.send(
                "POST", "/oauth/token", body: Array("grant_type=client_credentials&client_id=a\0".utf8),
                headers: ["Content-Type": "application/x-www-form-urlencoded"])
            #expect(raw.error == "invalid_request")
        }
    }

    @Test("token answers forbid caching to HTTP/1.0 as well (RFC 6749 §5.1)", arguments: Backend.available)
    func pragma(backend: Backend) async throws {
        try await World.with(backend) { world in
            let granted = try await world.signIn()
            let refused = try await world.signIn(password: "wrong wrong")
            for answer in [granted, refused] {
                #expect(answer.header("cache-control") == "no-store")
                #expect(answer.header("pragma") == "no-cache")
                #expect(answer.header("content-type") == "application/json")
            }
        }
    }
}
