import JSON
import Storage
import TestSupport
import Testing

@Suite("A node forgets the clients that it changed, and no others") struct KnownClientTests {
    @Test("any change, also one that is refused, makes a node forget every client", arguments: Backend.available)
    func others(backend: Backend) async throws {
        try await World.with(backend) { world in
            func status() async throws -> Int {
                try await world.token(["grant_type": "client_credentials"], as: world.rivalBackend).status
            }
            // After its first token a client is read once more.
            for _ in 1...2 { #expect(try await status() == 200) }
            // Behind its back: for a second it goes by what it knows.
            try await world.server.database.write { db in
                _ = try db.execute("DELETE FROM client_secrets WHERE client_id = \(world.rivalBackend.id)")
            }
            let refused = try await world.change(
                "clients", world.rivalBackend.id, ["token_endpoint_auth_method": "none"])
            expectProblem(refused, 400, member: "token_endpoint_auth_method")
            #expect(try await world.change("clients", world.backend.id, ["client_name": "Weaver"]).status == 200)
            #expect(try await world.change("merchants", world.merchant, ["name": "Loomery"]).status == 200)
            #expect(try await status() == 200)
            #expect(try await world.change("merchants", world.rival, ["name": "Emulous"]).status == 200)
            #expect(try await status() == 401)
        }
    }

    @Test("a client that was changed is still known as it was", arguments: Backend.available)
    func changed(backend: Backend) async throws {
        try await World.with(backend) { world in
            func status() async throws -> Int {
                try await world.token(["grant_type": "client_credentials"], as: world.backend).status
            }
            for (kind, id) in [("clients", world.backend.id), ("merchants", world.merchant)] {
                #expect(try await status() == 200)
                try await world.change(kind, id, ["disabled": true])
                #expect(try await status() == 401, "\(kind)")
                try await world.change(kind, id, ["disabled": false])
            }
            #expect(try await status() == 200)
            let path = "/admin/v1/clients/\(world.backend.id)"
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            #expect(try await status() == 401)
        }
    }
}
