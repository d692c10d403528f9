import Storage
import TestSupport
import Testing
import Values

@Suite("A session is good while all that it rests on is there")
struct WebViewBasisTests {
    private func webView(_ world: World) async throws -> Browser {
        var webView = Browser(world.server)
        _ = try await webView.open("/auth/session/\(try await world.sessionCode(of: try await world.signIn()))")
        try #require(try await webView.isSignedIn())
        return webView
    }

    private func live(_ world: World) async throws -> Int {
        try await world.count("sessions WHERE path IS NOT NULL AND ended_at IS NULL")
    }

    @Test("A web view ends with the merchant whose app's token bought it", arguments: Backend.available)
    func merchant(backend: Backend) async throws {
        try await World.with(backend) { world in
            var webView = try await webView(world)
            let path = "/admin/v1/merchants/\(world.merchant)"
            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            #expect(try await !webView.isSignedIn())
            #expect(try await live(world) == 0)
        }
    }

    @Test(
        "A web view ends with its app also where the token family that bought it is forgotten",
        arguments: Backend.available, [true, false])
    func forgotten(backend: Backend, isDeleted: Bool) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let code = try await world.exchange(
                try phone.require("access_token"), for: world.backend, type: "session",
                redirectURI: world.backend.redirectURI
            ).require("code")
            var webView = Browser(world.server)
            _ = try await webView.open("/auth/session/\(code)")
            try #require(try await webView.isSignedIn())
            try await world.server.database.change("DELETE FROM token_families")
            if isDeleted {
                let path = "/admin/v1/clients/\(world.app.id)"
                #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            } else {
                var visitor = try await world.signedIn()
                _ = try await visitor.change("apps/revoke", ["client": world.app.id])
            }
            #expect(try await !webView.isSignedIn())
            #expect(try await live(world) == 0)
        }
    }

    @Test("A web view is signed out if its client or its buyer is missing", arguments: Backend.available)
    func client(backend: Backend) async throws {
        try await World.with(backend) { world in
            for column in ["client_id", "buyer_id"] {
                var webView = try await webView(world)
                try await world.server.database.change(
                    SQL(script: "UPDATE sessions SET \(column) = 'gone' WHERE ended_at IS NULL"))
                #expect(try await !webView.isSignedIn(), "\(column)")
            }
        }
    }

    @Test("A session is signed out if its issuer is missing", arguments: Backend.available)
    func issuer(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            try await world.server.database.change("UPDATE sessions SET issuer_id = 'gone'")
            #expect(try await !browser.isSignedIn())
        }
    }
}
