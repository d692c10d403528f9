import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("A code gives no more than its source and its client have at the redemption")
struct CodeSourceTests {
    @Test("A phone's logout voids the exchange and session codes that its token bought", arguments: Backend.available)
    func loggedOut(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let code = try await world.code(of: phone)
            let session = try await world.sessionCode(of: phone)
            #expect(try await world.server.get("/logout", bearer: try phone.require("access_token")).status == 200)
            #expect(try await world.redeem(code, as: world.backend).error == "invalid_grant")
            let opened = try await world.server.get("/auth/session/\(session)")
            #expect(opened.status == 410)
            #expect(opened.header("set-cookie") == nil)
        }
    }

    @Test("Codes and tokens of a disabled user are void", arguments: Backend.available)
    func disabledUser(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let code = try await world.code(of: phone)
            let authorization = try await world.authorizationCode()
            try await world.change("users", world.user, ["disabled": true])
            #expect(try await world.redeem(code, as: world.backend).error == "invalid_grant")
            #expect(try await world.redeemAuthorization(authorization).error == "invalid_grant")
            #expect(try await !world.isLive(try phone.require("access_token")))
            #expect(try await world.refresh(try phone.require("refresh_token")).error == "invalid_grant")
        }
    }

    @Test("A disabled client redeems no code, and its tokens are inactive", arguments: Backend.available)
    func disabledReceiver(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let code = try await world.code(of: phone)
            let own = try await world.redeem(try await world.code(of: phone), as: world.backend)
            try await world.change("clients", world.backend.id, ["disabled": true])
            let redeemed = try await world.redeem(code, as: world.backend)
            #expect(redeemed.status == 401)
            #expect(redeemed.error == "invalid_client")
            #expect(try await !world.isLive(try own.require("access_token")))
            #expect(try await world.exchange(try phone.require("access_token"), for: world.backend).status >= 400)
            #expect(try await world.isLive(try phone.require("access_token")))
        }
    }

    @Test(
        "A disabled merchant's clients and tokens are refused, and work again once the merchant is enabled",
        arguments: Backend.available)
    func disabledMerchant(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let code = try await world.code(of: phone)
            try await world.change("merchants", world.merchant, ["disabled": true])
            #expect(try await world.redeem(code, as: world.backend).error == "invalid_client")
            #expect(try await !world.isLive(try phone.require("access_token")))
            #expect(try await world.signIn().error == "invalid_client")
            let page = try await world.server.get(world.authorizeAddress())
            #expect(page.status == 400)
            #expect(page.header("location") == nil)

            try await world.change("merchants", world.merchant, ["disabled": false])
            #expect(try await world.isLive(try phone.require("access_token")))
            #expect(try await world.redeem(code, as: world.backend).status == 200)
        }
    }

    @Test(
        "A redeemed exchange code gives the scopes that both the phone's token and the backend have",
        arguments: Backend.available)
    func scope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn(scope: "openid profile")
            let own = try await world.redeem(try await world.code(of: phone), as: world.backend)
            #expect(own.json["scope"]?.string == "profile")
            let me = try await world.server.get("/me", bearer: try own.require("access_token"))
            #expect(me.json["name"]?.string == "Ada Lovelace")
            #expect(me.json["email"] == nil)
        }
    }

    @Test(
        "An exchange code gives no scope that its receiving client has lost since the exchange",
        arguments: Backend.available)
    func lostScope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            try await world.change("clients", world.backend.id, ["scope": "email"])
            #expect(try await world.redeem(code, as: world.backend).json["scope"]?.string == "email")
        }
    }

    @Test(
        "With logout_reaches_backends a phone's logout ends the tokens that backends redeemed",
        arguments: Backend.available)
    func logoutReachesBackends(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("merchants", world.merchant, ["logout_reaches_backends": true])
            let phone = try await world.signIn()
            let own = try await world.redeem(try await world.code(of: phone), as: world.backend)
            _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            #expect(try await !world.isLive(try own.require("access_token")))
        }
    }

    @Test(
        "With logout_reaches_backends a logout ends tokens whose chain of codes leads through deleted clients",
        arguments: Backend.available)
    func forgottenLink(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("merchants", world.merchant, ["logout_reaches_backends": true])
            let phone = try await world.signIn()
            let middle = [try await world.confidential([:]), try await world.confidential([:])]
            var last = try await world.redeem(try await world.code(of: phone), as: world.backend)
            for client in middle + [world.backend] {
                let code = try await world.exchange(try last.require("access_token"), for: client).require("code")
                last = try await world.redeem(code, as: client)
            }
            for client in middle {
                let gone = "/admin/v1/clients/\(client.id)"
                #expect(try await world.server.send("DELETE", gone, bearer: world.admin).status == 204)
            }
            #expect(try await world.isLive(try last.require("access_token")))
            _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            #expect(try await !world.isLive(try last.require("access_token")))
        }
    }

    @Test(
        "With logout_reaches_backends a logout ends a chain of seven token families, even past a deleted one",
        arguments: Backend.available)
    func chain(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("merchants", world.merchant, ["logout_reaches_backends": true])
            let phone = try await world.signIn()
            let others = [world.backend, try await world.confidential([:])]
            var chain = [phone]
            for number in 0..<7 { chain.append(try await next(after: chain[number], at: others[number % 2], world)) }
            let refused = try await world.exchange(try chain[7].require("access_token"), for: world.backend)
            #expect(refused.status == 403 && refused.error == "access_denied", "\(refused)")
            #expect(refused.json["error_description"]?.string?.contains("7 purchases") == true, "\(refused)")
            try await world.server.database.write { db in
                _ = try db.execute(
                    """
                    DELETE FROM token_families WHERE id = (SELECT id FROM token_families WHERE LENGTH(path) = 115)
                    """)
            }
            _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            #expect(try await !world.isLive(try chain[7].require("access_token")))
            let live = try await world.server.database.rows("SELECT id FROM token_families WHERE ended_at IS NULL")
            #expect(live.isEmpty)
        }
    }

    private func next(after answer: Answer, at receiver: World.Actor, _ world: World) async throws -> Answer {
        let code = try await world.exchange(try answer.require("access_token"), for: receiver).require("code")
        return try await world.redeem(code, as: receiver)
    }

    @Test(
        "A client that requires a verified e-mail address redeems no code of a user without one",
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

    @Test("An authorization code gives no scope that its client has lost since", arguments: Backend.available)
    func authorizedScope(backend: Backend) async throws {
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
        "A code sent to a redirect URI that its client has removed since is not redeemed", arguments: Backend.available)
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

    @Test("An access token gives no scope that its client has lost", arguments: Backend.available)
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
