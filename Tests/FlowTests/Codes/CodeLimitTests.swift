import Authentication
import Directory
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Codes are limited in time and number")
struct CodeLimitTests {
    @Test("An exchange code is accepted at 29.999 seconds", arguments: Backend.available)
    func exchangeCodeInTime(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            world.server.clock.advance(by: .milliseconds(29_999))
            #expect(try await world.redeem(code, as: world.backend).status == 200)
        }
    }

    @Test("An exchange code is refused at 30.000 seconds", arguments: Backend.available)
    func exchangeCodeLate(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.code(of: try await world.signIn())
            world.server.clock.advance(by: .seconds(30))
            let late = try await world.redeem(code, as: world.backend)
            #expect(late.status == 400)
            #expect(late.error == "invalid_grant")
        }
    }

    @Test("A session code is accepted at 59.999 seconds", arguments: Backend.available)
    func sessionCodeInTime(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            world.server.clock.advance(by: .milliseconds(59_999))
            #expect(try await world.server.get("/auth/session/\(code)").status == 302)
        }
    }

    @Test("A session code is refused at 60.000 seconds", arguments: Backend.available)
    func sessionCodeLate(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            world.server.clock.advance(by: .seconds(60))
            #expect(try await world.server.get("/auth/session/\(code)").status == 410)
        }
    }

    @Test("An authorization code is accepted at 59.999 seconds", arguments: Backend.available)
    func authorizationCodeInTime(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode()
            world.server.clock.advance(by: .milliseconds(59_999))
            #expect(try await world.redeemAuthorization(code).status == 200)
        }
    }

    @Test("An authorization code is refused at 60.000 seconds", arguments: Backend.available)
    func authorizationCodeLate(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode()
            world.server.clock.advance(by: .seconds(60))
            #expect(try await world.redeemAuthorization(code).error == "invalid_grant")
        }
    }

    @Test("The answer to an exchange states in expires_in how long its code is valid", arguments: Backend.available)
    func announcedLifetimes(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            let code = try await world.exchange(token, for: world.backend)
            #expect(code.json["expires_in"]?.integer == 30)
            let session = try await world.exchange(
                token, for: world.app, type: "session", redirectURI: World.webview)
            #expect(session.json["expires_in"]?.integer == 60)
            #expect(session.json["type"]?.string == "session")
            #expect(session.header("cache-control") == "no-store")
        }
    }

    @Test(
        "The number of session and authorization codes is limited for each user at each merchant",
        arguments: Backend.available)
    func bound(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.signIn().require("access_token")
            try await world.fillAllowance(of: world.user)
            let refused = try await world.exchange(
                token, for: world.app, type: "session", redirectURI: World.webview)
            #expect(refused.status == 429 && refused.header("retry-after") == "1", "\(refused)")
            #expect(world.server.log.says("issued_codes_throttled"))
            let elsewhere = world.rivalBackend
            let foreign = try await world.signIn(with: elsewhere).require("access_token")
            let sold = try await world.exchange(
                foreign, for: elsewhere, type: "session", redirectURI: elsewhere.redirectURI)
            #expect(sold.status == 200, "codes are counted for each merchant: \(sold)")
            // A code for a backend stores nothing.
            #expect(try await world.exchange(token, for: world.backend).status == 200)
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(world.authorizeAddress())
            #expect(page.status == 429 && page.isPage && page.header("retry-after") != nil, "\(page)")
            _ = try await world.person("ole@example.com")
            var other = Browser(world.server)
            try await other.signIn(as: "ole@example.com")
            #expect(try await other.open(world.authorizeAddress()).redirected("code") != nil)
            world.server.clock.advance(by: .seconds(1))
            #expect(try await browser.open(world.authorizeAddress()).redirected("code") != nil)
        }
    }

    @Test(
        "A user who revokes a client voids its session and authorization codes that are not redeemed",
        arguments: Backend.available)
    func revoked(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let code = try await world.authorize(in: &browser).requireRedirected("code")
            let session = try await world.exchange(
                try await world.signIn().require("access_token"), for: world.backend, type: "session",
                redirectURI: world.backend.redirectURI
            ).require("code")
            let page = try await browser.open("/account")
            // The app whose token bought it is not revoked.
            _ = try await browser.submit(page, ["client": world.backend.id], to: "/account/apps/revoke")
            #expect(try await world.server.get("/auth/session/\(session)").status == 410)
            _ = try await browser.submit(page, ["client": world.app.id], to: "/account/apps/revoke")
            #expect(try await world.redeemAuthorization(code).error == "invalid_grant")
            world.server.clock.advance(by: .seconds(1))
            try await world.introduce(world.user)
            let later = try await world.authorize(in: &browser).requireRedirected("code")
            #expect(try await world.redeemAuthorization(later).status == 200)
        }
    }
}

extension World {
    /// Uses up the revocations that Ada may make at once.
    func useUpRevocations() async throws {
        let (now, user) = (server.clock.now, user)
        try await server.database.write { db in
            for _ in 0..<50 { try RevocationThrottle.charge(try #require(UserID(user)), at: now, in: db) }
        }
    }

    /// Uses up the codes that `user` may have at once.
    fileprivate func fillAllowance(of user: String) async throws {
        let (now, merchant) = (server.clock.now, merchant)
        try await server.database.write { db in
            for _ in 0..<1000 {
                _ = try CodeThrottle.charge(
                    try #require(UserID(user)), by: merchant, at: now, in: db)
            }
        }
    }
}
