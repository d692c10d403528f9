import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Web views: what ends their sessions and what was got in them, and which sites are told")
struct WebViewEndTests {
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
        "When a phone's tokens end, a site in its web view gets one logout notice, and other sessions remain",
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
    /// A request that began before the expiry may still prolong the session afterwards.
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
        "A site in an app's web view is told when the app is deleted or signed out of in its browser",
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

    // MARK: What sites got in it

    @Test(
        "An app's logout ends tokens without offline access got in its web views, even in expired ones",
        arguments: Backend.available, [false, true])
    func idle(backend: Backend, isSwept: Bool) async throws {
        try await World.with(backend) { world in
            let told = try await world.notified(at: try CallbackReceiver())
            let (phone, other) = (try await world.signIn(), try await world.signIn())
            var webview = try await self.webview(of: phone, world)
            let tokens = try await told.site.signIn(in: &webview)
            let kept = try await told.site.signIn(in: &webview, scope: "openid offline_access")
            // A web view that was bought there, in turn.
            var inner = try await self.webview(of: tokens, world)
            let last = try await told.site.signIn(in: &inner)
            var beside = try await self.webview(of: other, world)
            let others = try await told.site.signIn(in: &beside)

            world.server.clock.advance(by: .hours(3))
            if isSwept {
                let retention = Retention(database: world.server.database)
                while await retention.sweep(at: world.server.clock.now).gone > 0 {}
            }
            let fresh = try await world.refresh(try phone.require("refresh_token"))
            let out = try await world.server.get("/logout", bearer: try fresh.require("access_token"))
            #expect(out.status == 200)
            for (answer, survives) in [(tokens, false), (last, false), (kept, true), (others, true)] {
                let refreshed = try await world.refresh(try answer.require("refresh_token"), as: told.site.actor)
                #expect((refreshed.status == 200) == survives)
            }
            #expect(try await world.waiting(.notice) == 0, "no site is told of a session that has expired")
        }
    }

    @Test(
        "A logout with an expired access token gets 401 and does not end even the web view that it bought",
        arguments: Backend.available, ["/logout", "/api/2/logout"])
    func expiredToken(backend: Backend, path: String) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn(with: try await world.spidBackend())
            var webview = try await self.webview(of: phone, world)
            world.server.clock.advance(by: .minutes(70))
            let answer = try await world.server.get(path, bearer: try phone.require("access_token"))
            #expect(answer.status == 401, "\(answer)")
            #expect(try await webview.isSignedIn())
        }
    }

    @Test(
        "A logout with a revoked access token ends neither the web view it bought nor the device's sign-in",
        arguments: Backend.available, [false, true])
    func revokedAlone(backend: Backend, byBackend: Bool) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let token = try phone.require("access_token")
            var webview = try await self.webview(of: phone, world)
            let form = [("token", token)] + (byBackend ? [] : [("client_id", world.app.id)])
            let credentials = byBackend ? world.backend.basic : nil
            let revoked = try await world.server.post("/oauth/revoke", form: form, basic: credentials)
            #expect(revoked.status == 200, "\(revoked)")
            #expect(try await !world.isLive(token))
            #expect(try await world.server.get("/logout", bearer: token).status == 401)
            #expect(try await webview.isSignedIn())
            #expect(try await world.refresh(try phone.require("refresh_token")).status == 200)
        }
    }

    @Test(
        "Deleting an app ends offline tokens got in its web view, even long after the app's tokens expired",
        arguments: Backend.available, [true, false])
    func outlived(backend: Backend, isDeleted: Bool) async throws {
        try await World.with(backend) { world in
            let buyer = try await World.client(
                world.server, world.admin,
                [
                    "merchant_id": .string(world.merchant), "client_name": "An app that buys web views",
                    "redirect_uris": ["https://loom.example/buyer"], "grant_types": ["password", "refresh_token"],
                    "scope": "openid profile", "token_endpoint_auth_method": "none",
                ])
            var webview = try await self.webview(of: try await world.signIn(with: buyer), world)
            let asks = world.authorizeAddress(["scope": "openid offline_access"])
            var tokens = try await world.redeemAuthorization(
                try await webview.open(asks).requireRedirected("code"))
            let retention = Retention(database: world.server.database)
            func sweep() async {
                while await retention.sweep(at: world.server.clock.now, batch: 5).gone > 0 {}
            }
            for _ in 1...5 {
                world.server.clock.advance(by: .days(12))
                tokens = try await world.refresh(try tokens.require("refresh_token"))
                await sweep()
            }
            let ofBuyer = "token_families WHERE client_id = '\(buyer.id)'"
            #expect(try await world.count(ofBuyer) == 1)
            let refresh = try tokens.require("refresh_token")
            if isDeleted {
                let admin = try await world.server.post(
                    "/oauth/token", ["grant_type": "client_credentials", "scope": "admin"],
                    basic: (world.server.adminID, world.server.adminSecret)
                ).require("access_token")
                let gone = try await world.server.send("DELETE", "/admin/v1/clients/\(buyer.id)", bearer: admin)
                #expect(gone.status == 204)
                #expect(try await world.refresh(refresh).error == "invalid_grant")
            } else {
                let form = [("token", refresh), ("client_id", world.app.id)]
                #expect(try await world.server.post("/oauth/revoke", form: form).status == 200)
                world.server.clock.advance(by: .days(8))
                await sweep()
                #expect(try await world.count(ofBuyer) == 0)
            }
        }
    }

    @Test("Session codes that are not redeemed leave no rows behind", arguments: Backend.available)
    func unredeemed(backend: Backend) async throws {
        try await World.with(backend) { world in
            var phones: [Answer] = []
            for _ in 1...20 { phones.append(try await world.signIn()) }
            let token = Secret<World>(try phones[0].require("access_token")).fingerprint.text
            let (before, sessions) = (try await world.places(of: token), try await world.count("sessions"))
            #expect(before.contains("access_tokens.fingerprint"))
            for phone in phones { _ = try await world.sessionCode(of: phone) }
            #expect(try await world.count("exchange_codes") == 20)
            world.server.clock.advance(by: .minutes(3))
            let retention = Retention(database: world.server.database)
            while await retention.sweep(at: world.server.clock.now).gone > 0 {}
            #expect(try await world.count("exchange_codes") == 0)
            #expect(try await world.places(of: token) == before)
            #expect(try await world.count("sessions") == sessions)
        }
    }

    @Test(
        "An access token that is revoked before its session code is opened cannot sign the web view out",
        arguments: Backend.available)
    func revokedOnTheWay(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let token = try phone.require("access_token")
            let code = try await world.sessionCode(of: phone)
            let form = [("token", token), ("client_id", world.app.id)]
            #expect(try await world.server.post("/oauth/revoke", form: form).status == 200)
            #expect(try await !world.isLive(token))
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(code)")
            #expect(try await webview.isSignedIn())
            world.server.clock.advance(by: .minutes(70))
            let retention = Retention(database: world.server.database)
            while await retention.sweep(at: world.server.clock.now).gone > 0 {}
            #expect(try await world.server.get("/logout", bearer: token).status == 401)
            #expect(try await webview.isSignedIn())
        }
    }

    @Test(
        "Tokens that a site got in a web view before a sign-in there by hand end with the app's logout",
        arguments: Backend.available)
    func own(backend: Backend) async throws {
        try await World.with(backend) { world in
            let told = try await world.notified(at: try CallbackReceiver())
            let phone = try await world.signIn()
            var webview = try await self.webview(of: phone, world)
            let tokens = try await told.site.signIn(in: &webview)
            let page = try await webview.open(world.authorizeAddress(["prompt": "login"]))
            _ = try await webview.submit(page, ["email": World.email, "password": World.password])
            _ = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            #expect(try await webview.isSignedIn(), "it rests on the user's own sign-in now")
            #expect(try await !world.isLive(try tokens.require("access_token")))
            #expect(try await world.waiting(.notice) == 0)
        }
    }

    @Test(
        "When an app's sign-in ends at the limit of a thousand, its web view and its sites' tokens end too",
        arguments: Backend.available)
    func bound(backend: Backend) async throws {
        try await World.with(backend) { world in
            let told = try await world.notified(at: try CallbackReceiver())
            let phone = try await world.signIn()
            var webview = try await self.webview(of: phone, world)
            let tokens = try await told.site.signIn(in: &webview)
            world.server.clock.advance(by: .seconds(1))
            let (now, user) = (world.server.clock.now, try #require(Int64(world.user)))
            try await world.server.database.write { db in
                for number in 0..<1500 {
                    try db.execute(
                        """
                        INSERT INTO token_families (id, path, client_id, user_id, scope, signed_in_at, created_at,
                            expires_at)
                        VALUES (\("made-\(number)"), \("made-\(number)"),
                            \(world.app.id), \(user), 'email', \(now), \(now),
                            \(now + .days(1)))
                        """)
                }
            }
            // One sign-in in 256 checks the limit.
            var tries = 0
            while try await world.isLive(try phone.require("access_token")), tries < 4000 {
                world.server.clock.advance(by: .seconds(1))
                _ = try await world.signIn()
                tries += 1
            }
            #expect(try await world.waiting(.notice) == 1)
            #expect(try await !webview.isSignedIn())
            #expect(try await !world.isLive(try tokens.require("access_token")))
            #expect(try await world.refresh(try tokens.require("refresh_token"), as: told.site.actor).status == 400)
        }
    }

    /// A browser with a session that the token of `answer` bought.
    private func webview(of answer: Answer, _ world: World) async throws -> Browser {
        var browser = Browser(world.server)
        _ = try await browser.open("/auth/session/\(try await world.sessionCode(of: answer))")
        return browser
    }

    // MARK: What other apps got in it

    private typealias Got = (client: World.Actor, tokens: Answer)

    @Test(
        "When an app's tokens end, so do those that other apps got in its web view, but not a backend's",
        arguments: Backend.available, [End.logout, .revocation, .refreshReplay])
    func signedOut(backend: Backend, end: End) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let (apps, site) = try await got(by: phone, world)
            try await end.come(of: phone, in: world)
            try await expectEnd(of: apps, andNotOf: site, world)
        }
    }

    @Test(
        "Deleting an app ends tokens that any other app got in its web view, but not those of a backend",
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

    // MARK: What it rests on

    private func webView(_ world: World) async throws -> Browser {
        var webView = Browser(world.server)
        _ = try await webView.open("/auth/session/\(try await world.sessionCode(of: try await world.signIn()))")
        try #require(try await webView.isSignedIn())
        return webView
    }

    private func live(_ world: World) async throws -> Int {
        try await world.count("sessions WHERE path IS NOT NULL AND ended_at IS NULL")
    }

    @Test("Deleting a merchant ends web views that its apps' tokens bought", arguments: Backend.available)
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
        "Deleting or revoking an app ends its web view even if the token family that bought it is forgotten",
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

    @Test(
        "A web view is signed out if its client or the app that bought it is missing in the database",
        arguments: Backend.available)
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

    @Test(
        "A session is signed out if the issuer that it came from is missing in the database",
        arguments: Backend.available)
    func issuer(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            try await world.server.database.change("UPDATE sessions SET issuer_id = 'gone'")
            #expect(try await !browser.isSignedIn())
        }
    }
}
