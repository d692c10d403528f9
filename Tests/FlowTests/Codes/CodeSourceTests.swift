import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("A code is worth no more than its source at the time of redemption")
struct CodeSourceTests {
    @Test("an unredeemed code is dead once its device has logged out", arguments: Backend.available)
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

    @Test("codes and tokens of a disabled user are dead", arguments: Backend.available)
    func disabledPerson(backend: Backend) async throws {
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

    @Test("a disabled receiver cannot redeem", arguments: Backend.available)
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
        "clients and tokens of a disabled merchant are dead, and live again when it is enabled",
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

    @Test("the scope of a redeemed code is what both phone and backend have", arguments: Backend.available)
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

    @Test("a scope that the receiver lost before the redemption is not granted", arguments: Backend.available)
    func lostScope(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            try await world.change("clients", world.backend.id, ["scope": "email"])
            #expect(try await world.redeem(code, as: world.backend).json["scope"]?.string == "email")
        }
    }

    @Test(
        "with logout_reaches_backends a device's logout ends the tokens that backends redeemed",
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

    @Test("a logout stops at a link of a chain of codes that is forgotten", arguments: Backend.available)
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
        "a sign-out reaches the end of a chain of codes, past one that was forgotten", arguments: Backend.available)
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
}
