import Authentication
import Directory
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Codes that a user leaves unspent") struct CodeFloodTests {
    @Test("one user fills a table with session codes, or with authorization codes", arguments: Backend.available)
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
            #expect(sold.status == 200, "one merchant uses up what a user may have at another: \(sold)")
            // A code for a backend leaves nothing.
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

    @Test("a code is worth something after its user revoked its client", arguments: Backend.available)
    func revoked(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let code = try await world.authorize(in: &browser).requireRedirected("code")
            let session = try await world.exchange(
                try await world.signIn().require("access_token"), for: world.backend, type: "session",
                redirectURI: world.backend.redirectURI
            ).require("code")
            let page = try await browser.open("/account")
            // The app whose token bought it goes on.
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
    /// Takes all that Ada may revoke, or leave, at once.
    func useUpRevocations() async throws {
        let (now, user) = (server.clock.now, user)
        try await server.database.write { db in
            for _ in 0..<50 { try RevocationThrottle.charge(try #require(UserID(user)), at: now, in: db) }
        }
    }

    /// Takes all codes that `user` may have at once.
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
