import JSON
import TestSupport
import Testing

@Suite("What other apps get in the web view of an app ends with the app's tokens")
struct WebViewAppTests {
    private typealias Got = (client: World.Actor, tokens: Answer)

    @Test(
        "Signing out of an app ends what other apps got in its web view, with a secret or without, not a backend's",
        arguments: Backend.available, [BoughtSessionEndTests.End.logout, .revocation, .refreshReplay])
    func signedOut(backend: Backend, end: BoughtSessionEndTests.End) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let (apps, site) = try await got(by: phone, world)
            try await end.come(of: phone, in: world)
            try await expectEnd(of: apps, andNotOf: site, world)
        }
    }

    @Test(
        "Deleting an app ends what other apps got in its web view, with a secret or without, not a backend's",
        arguments: Backend.available)
    func deleted(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (apps, site) = try await got(by: try await world.signIn(), world)
            let gone = try await world.server.send("DELETE", "/admin/v1/clients/\(world.app.id)", bearer: world.admin)
            #expect(gone.status == 204, "\(gone)")
            try await expectEnd(of: apps, andNotOf: site, world)
        }
    }

    /// What two apps, one with a secret and one without, and a site's server got in one web view.
    private func got(by phone: Answer, _ world: World) async throws -> (apps: [Got], site: Got) {
        let app = try await world.website(["redirect_uris": ["com.loom.books:/back"]]).actor
        let bare = try await world.website([
            "redirect_uris": ["com.loom.games:/back"], "token_endpoint_auth_method": "none",
        ]).actor
        let server = try await world.website().actor
        try #require(!app.secret.isEmpty && bare.secret.isEmpty && !server.secret.isEmpty)
        var webview = Browser(world.server)
        _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phone))")
        var all: [Got] = []
        for client in [app, bare, server] {
            all.append((client, try await lasting(at: client, in: &webview, world)))
        }
        return (Array(all.prefix(2)), all[2])
    }

    private func lasting(at client: World.Actor, in webview: inout Browser, _ world: World) async throws -> Answer {
        let address = world.authorizeAddress(["scope": "openid offline_access"], for: client)
        var page = try await webview.open(address)
        // "Continue?": any app on the device could have the address.
        if page.status == 200 { page = try await webview.submit(page, ["decision": "continue"]) }
        if let onward = page.header("location"), onward.hasPrefix("/") { page = try await webview.open(onward) }
        let tokens = try await world.redeemAuthorization(try page.requireRedirected("code"), as: client)
        try #require(try await world.isLive(try tokens.require("access_token")))
        return tokens
    }

    private func expectEnd(of apps: [Got], andNotOf site: Got, _ world: World) async throws {
        for (client, tokens) in apps {
            #expect(try await !world.isLive(try tokens.require("access_token")), "\(client.redirectURI)")
            let refreshed = try await world.refresh(try tokens.require("refresh_token"), as: client)
            #expect(refreshed.error == "invalid_grant", "\(client.redirectURI): \(refreshed)")
        }
        #expect(try await world.isLive(try site.tokens.require("access_token")))
        let refreshed = try await world.refresh(try site.tokens.require("refresh_token"), as: site.client)
        #expect(refreshed.status == 200, "\(refreshed)")
    }
}
