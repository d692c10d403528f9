import Cryptography
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Ditto's webhook accepts live tokens of the merchant's clients, of the configured kinds")
struct DittoTokenTests {
    private func jwtClient(_ world: World) async throws -> World.Actor {
        try await world.relyingClient(["access_token_format": "jwt", "resources": ["https://ditto.example"]])
    }

    @Test(
        "Ditto's webhook accepts opaque and JWT access tokens by default, and one kind alone when configured",
        arguments: Backend.available)
    func accessTokens(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            let opaque = try await ditto.token()
            let jwt = try await ditto.token(with: try await jwtClient(world))
            for token in [opaque, jwt] { expectAdmitted(try await ditto.ask(token), as: world.user, for: 3600) }
            try await ditto.change(["token_kinds": ["jwt_access_token"]])
            expectRefused(try await ditto.ask(opaque))
            expectAdmitted(try await ditto.ask(jwt), as: world.user)
            try await ditto.change(["token_kinds": ["access_token"]])
            expectAdmitted(try await ditto.ask(opaque), as: world.user)
            expectRefused(try await ditto.ask(jwt))
            #expect(world.server.log.says("ditto_token_kind"))
        }
    }

    @Test("Ditto's webhook accepts an ID token of a listed client until it expires", arguments: Backend.available)
    func idTokens(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            let answer = try await world.signIn(scope: "openid")
            let idToken = try answer.require("id_token")
            expectRefused(try await ditto.ask(idToken))
            let set = try await ditto.change(["token_kinds": ["id_token"], "clients": [.string(world.app.id)]])
            #expect(set.status == 200)
            expectAdmitted(try await ditto.ask(idToken), as: world.user, for: 3600)
            // An access token is no ID token, whatever its claims.
            expectRefused(try await ditto.ask(try answer.require("access_token")))
            expectRefused(try await ditto.ask(try await ditto.token(with: try await jwtClient(world))))
            let other = try await world.relyingClient()
            expectRefused(try await ditto.ask(try await world.signIn(scope: "openid", with: other).require("id_token")))
            #expect(world.server.log.says("ditto_client"))
            world.server.clock.advance(by: .seconds(3600))
            expectRefused(try await ditto.ask(idToken))
        }
    }

    @Test("Ditto's webhook refuses an ID token after its client lost the scope openid", arguments: Backend.available)
    func withoutOpenID(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(
                world, ["token_kinds": ["id_token"], "clients": [.string(world.app.id)]])
            let idToken = try await world.signIn(scope: "openid").require("id_token")
            expectAdmitted(try await ditto.ask(idToken), as: world.user)
            #expect(try await world.change("clients", world.app.id, ["scope": "profile"]).status == 200)
            expectRefused(try await ditto.ask(idToken))
            #expect(world.server.log.says("ditto_client_without_openid"))
        }
    }

    @Test("Ditto's webhook refuses forged, altered and shortened ID tokens", arguments: Backend.available)
    func forgedIDTokens(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(
                world, ["token_kinds": ["id_token"], "clients": [.string(world.app.id)]])
            let good = try await world.signIn(scope: "openid").require("id_token")
            let parts = good.split(separator: ".").map(String.init)
            let claims = Base64URL.encode(Array(#"{"sub":"1"}"#.utf8))
            let none = Base64URL.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8))
            for forged in [
                "\(none).\(parts[1]).", "\(none).\(parts[1]).\(parts[2])", "\(parts[0]).\(claims).\(parts[2])",
                "\(parts[0]).\(parts[1])", String(good.dropLast(4)), ".", "..", "a.b.c", good + ".x",
            ] {
                expectRefused(try await ditto.ask(forged))
            }
            expectAdmitted(try await ditto.ask(good), as: world.user)
        }
    }

    @Test(
        "Ditto's webhook refuses an ID token after a sign-out, a revocation, a new password or user deletion",
        arguments: Backend.available)
    func endedIDTokens(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(
                world, ["token_kinds": ["id_token"], "clients": [.string(world.app.id)]])
            func isOver(after end: (_ phone: Answer) async throws -> Void) async throws {
                let phone = try await world.signIn(scope: "openid offline_access")
                let idToken = try phone.require("id_token")
                expectAdmitted(try await ditto.ask(idToken), as: world.user)
                world.server.clock.advance(by: .seconds(2))
                try await end(phone)
                expectRefused(try await ditto.ask(idToken))
                world.server.clock.advance(by: .seconds(2))
            }
            try await isOver { phone in
                _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            }
            try await isOver { phone in
                let token = try phone.require("refresh_token")
                _ = try await world.server.post("/oauth/revoke", ["token": token, "client_id": world.app.id])
            }
            try await isOver { _ in try await world.change("users", world.user, ["password": .string(World.password)]) }
            try await isOver { _ in
                let administrator = try await world.confidential(
                    ["scope": "admin:merchant", "grant_types": ["client_credentials"]])
                let token = try await world.clientToken(administrator, scope: "admin:merchant")
                _ = try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: token)
            }
            // One of two phones signs out: the token does not say of which it is.
            let phones = [try await world.signIn(scope: "openid"), try await world.signIn(scope: "openid")]
            let idToken = try phones[0].require("id_token")
            _ = try await world.server.get("/logout", bearer: try phones[0].require("access_token"))
            expectAdmitted(try await ditto.ask(idToken), as: world.user)
            world.server.clock.advance(by: .seconds(2))
            _ = try await world.server.get("/logout", bearer: try phones[1].require("access_token"))
            expectRefused(try await ditto.ask(idToken))
            // An earlier sign-in that lapsed without a sign-out does not keep it.
            _ = try await world.signIn(scope: "openid")
            world.server.clock.advance(by: .days(400))
            try await isOver { phone in
                _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            }
        }
    }

    @Test(
        "Ditto's webhook refuses a signed-out browser's ID token while another browser is signed in",
        arguments: Backend.available)
    func sessions(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(
                world, ["token_kinds": ["id_token"], "clients": [.string(world.app.id)]])
            func signIn(_ scope: String) async throws -> (browser: Browser, answer: Answer) {
                var browser = Browser(world.server)
                let code = try await world.authorize(in: &browser, ["scope": scope]).requireRedirected("code")
                return (browser, try await world.redeemAuthorization(code))
            }
            var older = try await signIn("openid")
            var newer = try await signIn("openid")
            var kept = try await signIn("openid offline_access")
            let phone = try await world.signIn(scope: "openid").require("id_token")
            let tokens = try [older, newer, kept].map { try $0.answer.require("id_token") }
            for token in tokens + [phone] { expectAdmitted(try await ditto.ask(token), as: world.user) }
            _ = try await newer.browser.submit(try await newer.browser.open("/logout"))
            _ = try await kept.browser.submit(try await kept.browser.open("/logout"))
            expectAdmitted(try await ditto.ask(tokens[0]), as: world.user)
            expectRefused(try await ditto.ask(tokens[1]))
            // The app stays signed in, so the token is still accepted.
            expectAdmitted(try await ditto.ask(tokens[2]), as: world.user)
            expectAdmitted(try await ditto.ask(phone), as: world.user)
            let refreshed = try await world.refresh(try kept.answer.require("refresh_token"))
            expectAdmitted(try await ditto.ask(try refreshed.require("id_token")), as: world.user)
            _ = try await older.browser.submit(try await older.browser.open("/logout"))
            expectRefused(try await ditto.ask(tokens[0]))
        }
    }

    @Test(
        "Ditto's webhook accepts an ID token whose browser session expired without a sign-out",
        arguments: Backend.available)
    func expiredSession(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(
                world, ["token_kinds": ["id_token"], "clients": [.string(world.app.id)]])
            try await world.change("clients", world.app.id, ["id_token_lifetime": 864_000])
            var browser = Browser(world.server)
            let code = try await world.authorize(in: &browser, ["scope": "openid offline_access"])
                .requireRedirected("code")
            let token = try await world.redeemAuthorization(code).require("id_token")
            // The session's row is deleted, too.
            world.server.clock.advance(by: .days(9))
            _ = try await world.server.database.write { db in try db.execute("DELETE FROM sessions") }
            expectAdmitted(try await ditto.ask(token), as: world.user)
        }
    }

    @Test(
        "Ditto's webhook refuses expired, revoked and signed-out tokens, and a disabled or deleted user's",
        arguments: Backend.available)
    func dead(backend: Backend) async throws {
        try await World.with(backend) { world in
            let jwt = try await jwtClient(world)
            let ditto = try await DittoStory(
                world,
                [
                    "token_kinds": ["access_token", "jwt_access_token", "id_token"],
                    "clients": [.string(world.app.id), .string(jwt.id), .string(world.backend.id)],
                ])
            let revoked = try await ditto.token(with: jwt)
            expectAdmitted(try await ditto.ask(revoked), as: world.user)
            _ = try await world.server.post("/oauth/revoke", ["token": revoked], basic: jwt.basic)
            expectRefused(try await ditto.ask(revoked))

            let signedOut = try await ditto.token()
            _ = try await world.server.get("/logout", bearer: signedOut)
            expectRefused(try await ditto.ask(signedOut))

            expectRefused(try await ditto.ask("never given"))
            expectRefused(try await ditto.ask(try await world.signIn().require("refresh_token")))

            let disabledClient = try await ditto.token(with: world.backend)
            try await world.change("clients", world.backend.id, ["disabled": true])
            expectRefused(try await ditto.ask(disabledClient))

            let phone = try await world.signIn(scope: "openid")
            let tokens = [try phone.require("access_token"), try phone.require("id_token")]
            for token in tokens { expectAdmitted(try await ditto.ask(token), as: world.user) }
            try await world.change("users", world.user, ["disabled": true])
            for token in tokens { expectRefused(try await ditto.ask(token)) }
            try await world.change("users", world.user, ["disabled": false])
            let idToken = try await world.signIn(scope: "openid").require("id_token")
            expectAdmitted(try await ditto.ask(idToken), as: world.user)
            func leave(_ due: Int64?) async throws {
                _ = try await world.server.database.write { db in
                    try db.execute("UPDATE users SET deletion_due_at = \(due) WHERE email = \(World.email)")
                }
            }
            try await leave(world.server.clock.now.milliseconds + 1)
            expectRefused(try await ditto.ask(idToken))
            try await leave(nil)
            expectAdmitted(try await ditto.ask(idToken), as: world.user)
            let gone = try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: world.admin)
            #expect(gone.status == 204)
            expectRefused(try await ditto.ask(idToken))

            _ = try await world.person("grace@example.com")
            let expired = try await world.signIn(scope: "profile", as: "grace@example.com").require("access_token")
            world.server.clock.advance(by: .seconds(3600))
            expectRefused(try await ditto.ask(expired))
            #expect(world.server.log.says("expired_token"))
        }
    }

    @Test(
        "Ditto's webhook refuses client credentials tokens, and tokens of another or a disabled merchant",
        arguments: Backend.available)
    func strangers(backend: Backend) async throws {
        try await World.with(backend) { world in
            let rival = try await world.confidential(["scope": "openid profile"], of: world.rival)
            let ditto = try await DittoStory(
                world, ["token_kinds": ["access_token", "id_token"], "clients": [.string(world.app.id)]])
            expectRefused(try await ditto.ask(try await world.clientToken(world.backend)))
            #expect(world.server.log.says("user_token_needed"))
            let theirs = try await world.signIn(scope: "openid", with: rival)
            expectRefused(try await ditto.ask(try theirs.require("access_token")))
            expectRefused(try await ditto.ask(try theirs.require("id_token")))
            #expect(world.server.log.says("token_of_another_merchant"))
            let ours = try await world.signIn(scope: "openid")
            try await world.change("merchants", world.merchant, ["disabled": true])
            expectRefused(try await ditto.ask(try ours.require("access_token")))
            expectRefused(try await ditto.ask(try ours.require("id_token")))
        }
    }

    @Test(
        "Ditto's webhook accepts tokens of the merchant's first-party clients, or only of the listed clients",
        arguments: Backend.available)
    func clients(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            let third = try await world.confidential(["first_party": false])
            let token = try await ditto.token(with: third)
            expectRefused(try await ditto.ask(token))
            #expect(world.server.log.says("ditto_client"))
            try await ditto.change(["clients": [.string(third.id)]])
            expectAdmitted(try await ditto.ask(token), as: world.user)
            expectRefused(try await ditto.ask(try await ditto.token()))
            try await ditto.change(["clients": .null])
            expectAdmitted(try await ditto.ask(try await ditto.token()), as: world.user)
        }
    }

    @Test(
        "Ditto's webhook accepts access tokens for this server, or only those for the configured audiences",
        arguments: Backend.available)
    func audiences(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world)
            let client = try await jwtClient(world)
            let code = try await world.authorizationCode(
                ["resource": "https://ditto.example", "scope": "openid"], for: client)
            let meant = try await world.redeemAuthorization(code, as: client).require("access_token")
            expectRefused(try await ditto.ask(meant))
            #expect(world.server.log.says("ditto_audience"))
            try await ditto.change(["audiences": ["https://ditto.example"]])
            expectAdmitted(try await ditto.ask(meant), as: world.user)
            expectRefused(try await ditto.ask(try await ditto.token()))
            try await ditto.change(["audiences": ["https://ditto.example", "http://spindle.test"]])
            expectAdmitted(try await ditto.ask(try await ditto.token()), as: world.user)
        }
    }

    @Test("Ditto's webhook refuses a token that lacks a configured scope", arguments: Backend.available)
    func scope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await DittoStory(world, ["scope": "profile email"])
            expectAdmitted(try await ditto.ask(try await ditto.token(scope: "email profile")), as: world.user)
            let refused = try await ditto.ask(try await ditto.token(scope: "profile"))
            expectRefused(refused, "insufficient_scope")
            #expect(refused.json["clientInfo"]?["error_description"]?.string?.contains("email") == true)
        }
    }

    @Test(
        "An answer to Ditto names a user of a pairwise client by the pairwise subject alone",
        arguments: Backend.available)
    func pairwise(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.relyingClient(["subject_type": "pairwise"])
            let ditto = try await DittoStory(
                world,
                ["token_kinds": ["access_token", "id_token"], "clients": [.string(client.id)]])
            let answer = try await world.signIn(scope: "openid", with: client)
            let subject = try #require(try await world.idToken(in: answer)["sub"]?.string)
            #expect(subject != world.user)
            let admitted = try await ditto.ask(try answer.require("access_token"))
            expectAdmitted(admitted, as: subject)
            #expect(admitted.body.contains("_id.owner == '\(subject)'"))
            #expect(!admitted.body.contains(world.user))
            // Its ID token has a pairwise subject, by which the webhook finds no user.
            expectRefused(try await ditto.ask(try answer.require("id_token")))
            #expect(world.server.log.says("ditto_pairwise_id_token"))
        }
    }

    private func ditto(_ world: World) async throws -> DittoStory {
        try await DittoStory(world, ["token_kinds": ["id_token"], "clients": [.string(world.app.id)]])
    }

    /// Signs Ada in on the app's page; in a signed-in browser no page asks.
    private func signIn(_ scope: String, in browser: inout Browser, _ world: World) async throws -> Answer {
        let code = try await world.authorize(in: &browser, ["scope": scope]).requireRedirected("code")
        return try await world.redeemAuthorization(code)
    }

    /// The ID token of a phone that is signed out again.
    private func signedOutPhone(_ world: World, _ ditto: DittoStory) async throws -> String {
        world.server.clock.advance(by: .seconds(2))
        let phone = try await world.signIn(scope: "openid")
        let token = try phone.require("id_token")
        expectAdmitted(try await ditto.ask(token), as: world.user)
        _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
        expectRefused(try await ditto.ask(token))
        return token
    }

    @Test(
        "Ditto's webhook refuses a signed-out phone's ID token, even after the user's browser signs out too",
        arguments: Backend.available, ["profile", "openid profile offline_access"])
    func browserSignsOut(backend: Backend, scope: String) async throws {
        try await World.with(backend) { world in
            let ditto = try await ditto(world)
            var browser = Browser(world.server)
            _ = try await signIn(scope, in: &browser, world).require("access_token")
            let token = try await signedOutPhone(world, ditto)
            _ = try await browser.submit(try await browser.open("/logout"))
            #expect(try await !browser.isSignedIn())
            expectRefused(try await ditto.ask(token))
        }
    }

    @Test(
        "Ditto's webhook refuses a signed-out phone's ID token even once the browser's session is deleted",
        arguments: Backend.available)
    func browserExpires(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await ditto(world)
            var browser = Browser(world.server)
            _ = try await signIn("openid profile", in: &browser, world).require("access_token")
            let token = try await signedOutPhone(world, ditto)
            // As the sweep does then.
            _ = try await world.server.database.write { db in try db.execute("DELETE FROM sessions") }
            expectRefused(try await ditto.ask(token))
        }
    }

    @Test(
        "Ditto's webhook refuses a signed-out browser's ID token even if the app has tokens without openid",
        arguments: Backend.available)
    func plainGrant(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await ditto(world)
            var browser = Browser(world.server)
            let plain = try await signIn("profile", in: &browser, world).require("access_token")
            let token = try await signIn("openid profile", in: &browser, world).require("id_token")
            expectAdmitted(try await ditto.ask(token), as: world.user)
            _ = try await browser.submit(try await browser.open("/logout"))
            #expect(try await world.isLive(plain), "the app stays signed in")
            expectRefused(try await ditto.ask(token))
        }
    }

    @Test(
        "Ditto's webhook accepts the refreshed ID token of an app that stays signed in after a logout",
        arguments: Backend.available)
    func staysSignedIn(backend: Backend) async throws {
        try await World.with(backend) { world in
            let ditto = try await ditto(world)
            var browser = Browser(world.server)
            let first = try await signIn("openid offline_access", in: &browser, world)
            _ = try await browser.submit(try await browser.open("/logout"))
            let refreshed = try await world.refresh(try first.require("refresh_token"))
            let (before, after) = (try await world.idToken(in: first), try await world.idToken(in: refreshed))
            #expect(before["sid"]?.string != nil && after["sid"] == before["sid"])
            expectAdmitted(try await ditto.ask(try refreshed.require("id_token")), as: world.user)
        }
    }
}
