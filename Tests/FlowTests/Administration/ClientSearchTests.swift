import JSON
import TestSupport
import Testing

@Suite("Administration finds clients and merchants")
struct ClientSearchTests {
    @Test("Administration finds a client by id, name and redirect URI", arguments: Backend.available)
    func clients(backend: Backend) async throws {
        try await World.with(backend) { world in
            let uri = "https%3A%2F%2Floom.example%2Fwebview"
            func ids(_ query: String) async throws -> [String] {
                try await UserSearchTests.ids("clients?\(query)", in: world, limit: 1, named: "client_id")
            }
            #expect(try await ids("client_id=\(world.app.id)") == [world.app.id])
            #expect(try await ids("client_name=Loom's%20backend") == [world.backend.id])
            #expect(try await ids("redirect_uri=\(uri)") == [world.app.id])
            #expect(try await ids("redirect_uri=\(uri)&merchant_id=\(world.rival)") == [])
            #expect(try await ids("redirect_uri=https%3A%2F%2Floom.example") == [])
            #expect(
                try await ids("merchant_id=\(world.merchant)&sort=client_name") == [world.app.id, world.backend.id])
            #expect(
                try await ids("merchant_id=\(world.merchant)&sort=-client_name") == [world.backend.id, world.app.id])
            let changed = try await world.server.send(
                "PATCH", "/admin/v1/clients/\(world.app.id)", json: ["redirect_uris": ["https://new.example/in"]],
                bearer: world.admin)
            #expect(changed.status == 200, "\(changed)")
            #expect(try await ids("redirect_uri=\(uri)") == [])
            #expect(try await ids("redirect_uri=https%3A%2F%2Fnew.example%2Fin") == [world.app.id])
            let counted = try await world.server.get(
                "/admin/v1/clients?merchant_id=\(world.merchant)&limit=1&count=true", bearer: world.admin)
            #expect(counted.json["count"]?.integer == 2 && counted.json["items"]?.array?.count == 1)
        }
    }

    @Test("Administration finds a merchant by name and by a redirect URI of its clients", arguments: Backend.available)
    func merchants(backend: Backend) async throws {
        try await World.with(backend) { world in
            func ids(_ query: String) async throws -> [String] {
                try await UserSearchTests.ids("merchants?\(query)", in: world, limit: 1, named: "id")
            }
            #expect(try await ids("name=Rival") == [world.rival])
            #expect(try await ids("name=rival") == [])
            #expect(try await ids("sort=name") == [world.merchant, world.rival])
            #expect(try await ids("sort=-name") == [world.rival, world.merchant])
            #expect(try await ids("redirect_uri=https%3A%2F%2Floom.example%2Fin") == [world.merchant])
            let token = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let own = try await world.server.get("/admin/v1/merchants?name=Rival&count=true", bearer: token)
            #expect(own.json["items"] == .array([]) && own.json["count"]?.integer == 0, "\(own)")
        }
    }
}
