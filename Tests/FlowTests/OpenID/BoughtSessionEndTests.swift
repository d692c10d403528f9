import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Web views: what ends their sessions and what was got in them, and which sites are told")
struct BoughtSessionEndTests {
    /// How the phone's token family ends.
    enum End: CaseIterable {
        case logout, revocation, refreshReplay, revokedApp, disconnection, revocationByBackend

        func come(of phone: Answer, in world: World) async throws {
            let refresh = try phone.require("refresh_token")
            switch self {
            case .logout: _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            case .revocation:
                // As AppAuth and Auth0's SDKs sign out.
                for _ in 1...2 {
                    let form = [("token", refresh), ("client_id", world.app.id)]
                    #expect(try await world.server.post("/oauth/revoke", form: form).status == 200)
                }
            case .revocationByBackend:
                _ = try await world.server.post("/oauth/revoke", ["token": refresh], basic: world.backend.basic)
            case .refreshReplay:
                let next = try await world.refresh(refresh)
                #expect(try await world.isLive(try next.require("access_token")))
                #expect(try await world.refresh(refresh).error == "invalid_grant")
            case .revokedApp:
                var visitor = try await world.signedIn()
                _ = try await visitor.change("apps/revoke", ["client": world.app.id])
            case .disconnection:
                let administrator = try await world.confidential(["scope": "admin:merchant"])
                let token = try await world.clientToken(administrator, scope: "admin:merchant")
                let gone = try await world.server.send("DELETE", "/admin/v1/users/\(world.user)", bearer: token)
                #expect(gone.status == 204)
            }
        }
    }

    @Test(
        "When a phone's tokens end, each site in its web view is told once, and no site of another session",
        arguments: Backend.available,
        End.allCases)
    func told(backend: Backend, end: End) async throws {
        try await World.with(backend) { world in
            let told = try await world.notified(at: try CallbackReceiver())
            var elsewhere = Browser(world.server)
            _ = try await told.site.signIn(in: &elsewhere)
            let phone = try await world.signIn()
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phone))")
            let tokens = try await told.site.signIn(in: &webview)
            #expect(tokens.status == 200)
            let session = try TakenApart(try tokens.require("id_token")).claims["sid"]?.string

            try await end.come(of: phone, in: world)
            #expect(try await world.waiting(.notice) == 1)
            #expect(try await !webview.isSignedIn())
            #expect(try await world.refresh(try tokens.require("refresh_token"), as: told.site.actor).status == 400)
            #expect(try await elsewhere.isSignedIn() == true)
            let document = try await world.server.get("/admin/v1/users/\(world.user)/data", bearer: world.admin).json
            let ended = document["sessions"]?.array?.filter { $0["bought_by"]?.string == world.app.id }
            #expect(ended?.count == 1)
            #expect(ended?.first?["ended_at"]?.string != nil, "a bought session looks alive: \(session ?? "")")
        }
    }
    /// A request that found it alive before both may prolong it after both.
    @Test("The end of a phone's tokens also ends a bought session that has just expired", arguments: End.allCases)
    func expired(end: End) async throws {
        try await World.with(.sqlite) { world in
            let phone = try await world.signIn()
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phone))")
            let (database, now) = (world.server.database, world.server.clock.now)
            try await database.write { db in
                _ = try db.execute("UPDATE sessions SET expires_at = \(now) WHERE path IS NOT NULL")
            }
            try await end.come(of: phone, in: world)
            let left = try await database.read { db in
                try db.rows("SELECT id FROM sessions WHERE path IS NOT NULL AND ended_at IS NULL").count
            }
            #expect(left == 0)
        }
    }

    @Test(
        "Sites in an app's web view are told when the app is signed out of with its browser, or deleted",
        arguments: Backend.available, [true, false])
    func appEnds(backend: Backend, isDeleted: Bool) async throws {
        try await World.with(backend) { world in
            let told = try await world.notified(at: try CallbackReceiver())
            var browser = Browser(world.server)
            let app = try await world.website(["client_name": "App that signs in by the browser"])
            let tokens = try await app.signIn(in: &browser)
            let code = try await world.exchange(
                try tokens.require("access_token"), for: world.app, type: "session", redirectURI: World.webview
            ).require("code")
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(code)")
            let inWebView = try await told.site.signIn(in: &webview)
            #expect(inWebView.status == 200)
            if isDeleted {
                let gone = try await world.server.send(
                    "DELETE", "/admin/v1/clients/\(app.actor.id)", bearer: world.admin)
                #expect(gone.status == 204)
            } else {
                _ = try await browser.submit(try await browser.open("/logout"))
            }
            #expect(try await world.waiting(.notice) == 1)
            #expect(try await !webview.isSignedIn())
            #expect(
                try await world.refresh(try inWebView.require("refresh_token"), as: told.site.actor).status == 400)
        }
    }
}
