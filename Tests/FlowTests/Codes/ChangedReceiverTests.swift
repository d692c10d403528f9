import JSON
import Storage
import TestSupport
import Testing
import Values

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

    @Test(
        "a code that went to an address which the client has given up since is not redeemed",
        arguments: Backend.available)
    func removedAddress(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (left, kept) = ("https://left.example/back", "https://kept.example/back")
            let client = try await world.confidential([
                "scope": "profile", "redirect_uris": [.string(left), .string(kept)],
            ])
            var browser = Browser(world.server)
            let atLeft = try await world.authorize(in: &browser, ["redirect_uri": left], for: client)
            let atKept = try await world.authorize(in: &browser, ["redirect_uri": kept], for: client)
            #expect(try await world.change("clients", client.id, ["redirect_uris": [.string(kept)]]).status == 200)
            let refused = try await world.redeemAuthorization(
                try atLeft.requireRedirected("code"), as: client, ["redirect_uri": left])
            #expect(refused.status == 400 && refused.error == "invalid_grant", "\(refused)")
            #expect(world.server.log.says("redirect_uri_removed"))
            let redeemed = try await world.redeemAuthorization(
                try atKept.requireRedirected("code"), as: client, ["redirect_uri": kept])
            #expect(redeemed.status == 200, "\(redeemed)")
        }
    }

    @Test("an access token gives no scope that its client has lost", arguments: Backend.available)
    func narrowedToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn(scope: "profile email", with: world.backend).require("access_token")
            #expect(try await world.server.get("/me", bearer: token).json["email"]?.string == World.email)
            try await world.change("clients", world.backend.id, ["scope": "profile"])
            let me = try await world.server.get("/me", bearer: token)
            #expect(me.status == 200 && me.json["email"] == nil && me.json["name"] != nil, "\(me)")
            #expect(try await world.introspect(token, as: world.backend).json["scope"]?.string == "profile")
        }
    }
}
