import JSON
import Storage
import TestSupport
import Testing

@Suite("A node forgets only the cached clients that it changed") struct ClientCacheTests {
    @Test(
        "A refused change, or a change of another client, does not remove a client from a node's cache",
        arguments: Backend.available)
    func others(backend: Backend) async throws {
        try await World.with(backend) { world in
            func status() async throws -> Int {
                try await world.token(["grant_type": "client_credentials"], as: world.rivalBackend).status
            }
            // The node reads a client again after its first token.
            for _ in 1...2 { #expect(try await status() == 200) }
            // A change in the database alone, which the node does not notice for a second.
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

    @Test(
        "A client that is changed, disabled or deleted at a node is read anew by that node at once",
        arguments: Backend.available)
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

    @Test(
        "A token request of a client that another node has just deleted gets invalid_client",
        arguments: Backend.available)
    func racingDelete(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode(for: world.backend)
            // As another node does: this one knows the client for a second more.
            try await world.server.database.write { db in
                _ = try db.execute("DELETE FROM clients WHERE id = \(world.backend.id)")
            }
            let overtaken = try await world.redeemAuthorization(code, as: world.backend)
            #expect(overtaken.status == 401)
            #expect(overtaken.error == "invalid_client")
            world.server.clock.advance(by: .seconds(1))
            #expect(try await world.redeemAuthorization(code, as: world.backend).error == "invalid_client")
        }
    }

    @Test("A clock set back does not keep a disabled client cached for longer", arguments: Backend.available)
    func clockSetBack(backend: Backend) async throws {
        try await World.with(backend) { world in
            let form: KeyValuePairs = ["grant_type": "client_credentials"]
            #expect(try await world.token(form, as: world.backend).status == 200)
            try await world.server.database.write { db in
                _ = try db.execute("UPDATE clients SET disabled_at = 1 WHERE id = \(world.backend.id)")
            }
            world.server.clock.advance(by: .seconds(-3600))
            #expect(try await world.token(form, as: world.backend).error == "invalid_client")
        }
    }
}
