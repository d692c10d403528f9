import JSON
import Storage
import TestSupport
import Testing

@Suite("What administration takes away during a registration stays taken")
struct RegistrationRaceTests {
    @Test(
        "A self-registered client that becomes first-party during its own update is not changed by it",
        arguments: Backend.available)
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

    @Test(
        "A self-registered client that becomes first-party during its own deletion is not deleted",
        arguments: Backend.available)
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

    @Test("A self-registered client whose deletion fails stays enabled, and can be deleted later")
    func halfDeleted() async throws {
        try await World.with(.sqlite) { world in
            let made = try await world.register()
            try await world.server.database.write { db in
                try db.execute(
                    """
                    CREATE TRIGGER refuse BEFORE UPDATE OF deleted_at ON clients
                    BEGIN SELECT RAISE(ABORT, 'no'); END
                    """)
            }
            let failed = try await made.send("DELETE")
            #expect(failed.status != 204 && failed.status != 401, "\(failed)")
            #expect(try await world.shown(made.id)["disabled"] == false)
            try await world.server.database.write { db in try db.execute("DROP TRIGGER refuse") }
            #expect(try await made.send("DELETE").status == 204)
        }
    }

    @Test(
        "A user's consent to a client that another node changed a moment before does not count",
        arguments: Backend.available)
    func consent(backend: Backend) async throws {
        try await World.with(backend) { here in
            try await here.server.beside { node in
                let there = here.at(node)
                let made = try await here.register(["client_name": "Nice weather"])
                let client = made.actor
                var browser = Browser(node)
                let page = try await there.authorize(in: &browser, for: client)
                #expect(!page.boxes.isEmpty)
                let other = made.update(["client_name": "Another", "redirect_uris": ["https://other.example/in"]])
                #expect(try await made.send("PUT", other).status == 200)
                // The other node knows the client as it was for a second more.
                _ = try await there.allow(page, in: &browser, ticking: page.boxes)
                here.server.clock.advance(by: .seconds(1))
                let now = World.Actor(id: client.id, secret: client.secret, redirectURI: "https://other.example/in")
                let silent = try await browser.open(there.authorizeAddress(["prompt": "none"], for: now))
                #expect(silent.redirected("error") == "consent_required", "\(silent)")
            }
        }
    }

    @Test(
        "A client's change ends the consents before it, even if the change's clock is half a second behind",
        arguments: Backend.available)
    func consentAndSkew(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register(["client_name": "Nice weather"])
            world.server.clock.advance(by: .seconds(1))
            var browser = Browser(world.server)
            #expect(try await world.consented(in: &browser, for: made.actor).redirected("code") != nil)
            world.server.clock.advance(by: .milliseconds(-500))
            #expect(try await made.send("PUT", made.update(["client_name": "Another"])).status == 200)
            let silent = try await browser.open(world.authorizeAddress(["prompt": "none"], for: made.actor))
            #expect(silent.redirected("error") == "consent_required", "\(silent)")
            let page = try await browser.open(world.authorizeAddress(for: made.actor))
            let back = try await world.allow(page, in: &browser, ticking: page.boxes)
            #expect(back.redirected("code") != nil, "\(back)")
        }
    }

    @Test(
        "A client's update does not restore a scope that an administrator removes during the request",
        arguments: Backend.available)
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

    @Test(
        "A registration is refused when its initial access token is deleted during the request",
        arguments: Backend.available)
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

    @Test("A registration is refused when its merchant is disabled during the request", arguments: Backend.available)
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
