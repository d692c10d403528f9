import JSON
import Storage
import TestSupport
import Testing

@Suite("What an administrator takes away during a registration stays taken")
struct RegistrationRaceTests {
    @Test("an update is refused when the client became first-party meanwhile", arguments: Backend.available)
    func promoted(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register()
            let body = made.update(["redirect_uris": ["https://attacker.example/back"]])
            world.server.interruptions.interrupt {
                try await world.change("clients", made.id, ["first_party": true])
            }
            try await expect(401, "invalid_token", try await made.send("PUT", body))
            #expect(world.server.interruptions.wasInterrupted)
            #expect(try await world.shown(made.id)["redirect_uris"] == [.string(World.returnURI)])
        }
    }

    @Test("a deletion is refused when the client became first-party meanwhile", arguments: Backend.available)
    func deleted(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register()
            world.server.interruptions.interrupt {
                try await world.change("clients", made.id, ["first_party": true])
            }
            try await expect(401, "invalid_token", try await made.send("DELETE"))
            #expect(world.server.interruptions.wasInterrupted)
            #expect(try await world.shown(made.id)["disabled"] == false)
        }
    }

    @Test("an update does not restore a scope that was taken away meanwhile", arguments: Backend.available)
    func scope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register()
            try await world.change("clients", made.id, ["scope": "openid payments"])
            let body = made.update(["scope": "openid payments", "client_name": "Another name"])
            world.server.interruptions.interrupt { try await world.change("clients", made.id, ["scope": "openid"]) }
            try await expect(400, "invalid_client_metadata", try await made.send("PUT", body))
            #expect(world.server.interruptions.wasInterrupted)
            #expect(try await world.shown(made.id)["scope"] == "openid")
            // With nothing in its way the same change is made.
            try await world.change("clients", made.id, ["scope": "openid payments"])
            #expect(try await made.send("PUT", body).status == 200)
        }
    }

    @Test("a registration is refused when its initial access token was deleted meanwhile", arguments: Backend.available)
    func initialToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.initialToken()
            world.server.interruptions.interrupt {
                try await world.server.database.write { _ = try $0.execute("DELETE FROM initial_access_tokens") }
            }
            try await expect(401, "invalid_token", try await world.sendRegistration(with: token))
            #expect(world.server.interruptions.wasInterrupted)
            #expect(try await world.registeredClients() == 0)
        }
    }

    @Test("a registration is refused when its merchant was disabled meanwhile", arguments: Backend.available)
    func merchant(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.initialToken()
            world.server.interruptions.interrupt {
                try await world.change("merchants", world.merchant, ["disabled": true])
            }
            try await expect(401, "invalid_token", try await world.sendRegistration(with: token))
            #expect(world.server.interruptions.wasInterrupted)
            #expect(try await world.registeredClients() == 0)
        }
    }
}

extension World {
    fileprivate func shown(_ client: String) async throws -> JSON {
        try await server.get("/admin/v1/clients/\(client)", bearer: admin).json
    }

    fileprivate func registeredClients() async throws -> Int {
        try await server.database.read { db in
            try db.rows("SELECT id FROM clients WHERE registration_token IS NOT NULL").count
        }
    }
}
