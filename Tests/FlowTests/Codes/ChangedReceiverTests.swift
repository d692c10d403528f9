import JSON
import TestSupport
import Testing

@Suite("A code gives what its client may have when it is redeemed")
struct ChangedReceiverTests {
    @Test(
        "an exchange code of a user without a verified address is good only once it is verified, where the client asks",
        arguments: Backend.available)
    func unverified(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("clients", world.backend.id, ["require_verified_email": true])
            let code = try await world.code(of: try await world.signIn())
            let refused = try await world.redeem(code, as: world.backend)
            #expect(refused.status == 400 && refused.error == "invalid_grant", "\(refused)")
            #expect(world.server.log.says("unverified_user"))
            try await world.change("users", world.user, ["email_verified": true])
            #expect(try await world.redeem(code, as: world.backend).status == 200)
        }
    }

    @Test("a code gives no scope that its client has lost since", arguments: Backend.available)
    func scope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential(["scope": "profile email"])
            var browser = Browser(world.server)
            let answer = try await world.authorize(in: &browser, ["scope": "profile email"], for: client)
            let code = try answer.requireRedirected("code")
            #expect(try await world.change("clients", client.id, ["scope": "profile"]).status == 200)
            let token = try await world.redeemAuthorization(code, as: client)
            #expect(token.status == 200 && token.json["scope"] == "profile", "\(token)")
        }
    }
}
