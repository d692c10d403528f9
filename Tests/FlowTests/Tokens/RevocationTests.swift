import JSON
import TestSupport
import Testing

@Suite("Clients revoke their tokens (RFC 7009)")
struct RevocationTests {
    @Test(
        "Revoking an access token ends it alone; revoking a refresh token ends the whole token family",
        arguments: Backend.available)
    func own(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let access = try await revoke(try phone.require("access_token"), by: world.app, world)
            #expect(access.status == 200)
            #expect(try await !world.isLive(try phone.require("access_token")))

            let later = try await world.refresh(try phone.require("refresh_token"))
            #expect(later.status == 200)
            #expect(try await revoke(try later.require("refresh_token"), by: world.app, world).status == 200)
            #expect(try await !world.isLive(try later.require("access_token")))
            #expect(try await world.refresh(try later.require("refresh_token")).error == "invalid_grant")
        }
    }

    @Test("Revoking a replaced refresh token ends the token family too", arguments: Backend.available)
    func predecessor(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let later = try await world.refresh(try phone.require("refresh_token"))
            _ = try await revoke(try phone.require("refresh_token"), by: world.app, world)
            #expect(try await !world.isLive(try later.require("access_token")))
        }
    }

    @Test("A revocation by an unrelated client is answered 200 and does nothing", arguments: Backend.available)
    func stranger(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let publicStranger = try await World.client(
                world.server, world.admin,
                [
                    "merchant_id": .string(world.merchant), "client_name": "Another app",
                    "grant_types": ["password"], "scope": "profile", "token_endpoint_auth_method": "none",
                ])
            let thirdParty = try await world.confidential(["first_party": false])
            for client in [world.rivalBackend, publicStranger, thirdParty] {
                for token in [try phone.require("access_token"), try phone.require("refresh_token")] {
                    let answer = try await revoke(token, by: client, world)
                    #expect(answer.status == 200)
                    let unknown = try await revoke("unknown", by: client, world)
                    #expect(answer.body == unknown.body)
                }
            }
            #expect(try await world.isLive(try phone.require("access_token")))
            #expect(try await world.refresh(try phone.require("refresh_token")).status == 200)
        }
    }

    @Test("A backend may revoke an access token of its merchant's app", arguments: Backend.available)
    func sibling(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            _ = try await revoke(try phone.require("access_token"), by: world.backend, world)
            #expect(try await !world.isLive(try phone.require("access_token")))
        }
    }

    @Test(
        "A token revoked while its client or merchant is disabled stays revoked",
        arguments: Backend.available, ["clients", "merchants"])
    func resting(backend: Backend, kind: String) async throws {
        try await World.with(backend) { world in
            let (phone, elsewhere) = (try await world.signIn(), try await world.signIn())
            let alone = try await world.signIn()
            let id = kind == "clients" ? world.app.id : world.merchant
            try await world.change(kind, id, ["disabled": true])
            try await world.change("clients", world.backend.id, ["disabled": true])
            for token in [try phone.require("refresh_token"), try alone.require("access_token")] {
                try await expect(401, "invalid_client", try await revoke(token, by: world.app, world))
            }
            let siblings = try await revoke(try elsewhere.require("refresh_token"), by: world.backend, world)
            try await expect(401, "invalid_client", siblings)
            try await world.change(kind, id, ["disabled": false])

            #expect(try await !world.isLive(try phone.require("access_token")))
            #expect(try await world.refresh(try phone.require("refresh_token")).error == "invalid_grant")
            #expect(try await !world.isLive(try alone.require("access_token")))
            #expect(try await world.refresh(try alone.require("refresh_token")).status == 200)
            #expect(try await world.isLive(try elsewhere.require("access_token")), "a disabled sibling ends nothing")
        }
    }

    @Test(
        "At the revocation endpoint, an unknown token gets 200, a missing token or a wrong secret an error",
        arguments: Backend.available)
    func errors(backend: Backend) async throws {
        try await World.with(backend) { world in
            #expect(try await revoke("unknown", by: world.app, world).status == 200)
            try await expect(400, "invalid_request", try await revoke("", by: world.app, world))
            let phone = try await world.signIn()
            let guess = try await revoke(
                try phone.require("access_token"), by: world.backend.with(secret: "guess"), world)
            try await expect(401, "invalid_client", guess)
            #expect(try await world.isLive(try phone.require("access_token")))
        }
    }

    @Test(
        "Revoking a revoked token again takes no more statements, however many sessions its user bought",
        arguments: Backend.available)
    func dead(backend: Backend) async throws {
        try await World.with(backend) { world in
            let dead = try await world.signIn()
            let token = try dead.require("refresh_token")
            #expect(try await revoke(token, by: world.app, world).status == 200)
            let phone = try await world.signIn()
            func statements(_ token: String) async throws -> Int {
                let before = world.server.interruptions.statementsWritten
                #expect(try await revoke(token, by: world.app, world).status == 200)
                return world.server.interruptions.statementsWritten - before
            }
            let few = try await statements(token)
            for _ in 1...20 {
                var webview = Browser(world.server)
                _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phone))")
            }
            #expect(try await statements(token) == few)
            // A live token that bought no session costs no more either.
            let other = try await world.signIn()
            #expect(try await statements(try other.require("refresh_token")) < 12)
            #expect(try await world.isLive(try phone.require("access_token")))
        }
    }

    private func revoke(_ token: String, by client: World.Actor, _ world: World) async throws -> Answer {
        let form = [("token", token), ("token_type_hint", "access_token")]
        guard client.secret.isEmpty else {
            return try await world.server.post("/oauth/revoke", form: form, basic: client.basic)
        }
        return try await world.server.post("/oauth/revoke", form: form + [("client_id", client.id)])
    }
}
