import JSON
import Storage
import TestSupport
import Testing

@Suite("The account page in a web view that an app of SPiD's opens")
struct WebViewAccountTests {
    private static let origin = "http://spindle.test"

    @Test("A session code leads a web view to the account page, without a password", arguments: Backend.available)
    func opens(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            for path in ["/account", "/account/summary", "/account/phones", "/profile-pages"] {
                let phone = try await world.signIn(with: spid)
                let code = try await world.exchange(
                    try phone.require("access_token"), for: spid, type: "session", redirectURI: Self.origin + path
                ).require("code")
                var webview = Browser(world.server)
                let landing = try await webview.open("/session/\(code)")
                #expect(landing.status == 302 && landing.header("location") == Self.origin + path)
                let page = try await account(&webview, path)
                #expect(page.status == 200 && page.words.contains(World.email) && page.words.contains("Ada Lovelace"))
                #expect(!page.body.contains("type=\"password\"") && !page.words.contains("Where you are signed in"))
                #expect(!page.words.contains("Apps you allowed") && !page.body.contains("/account/data"))
                #expect(page.body.contains("/login?confirm=1"), "the rest takes a sign-in")
            }
        }
    }

    @Test(
        "A web view can change only the profile on the account page; every other change asks for a sign-in",
        arguments: Backend.available)
    func narrow(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            var webview = try await webview(world, spid)
            let page = try await account(&webview, "/account")
            let saved = try await webview.submit(page, ["name": "Ada L."], to: "/account/profile")
            #expect(saved.header("location") == "/account?done=profile")
            #expect(try await account(&webview, "/account").words.contains("Ada L."))

            let sessions = try await world.server.database.sessionIDs()
            for path in ["/account/data", "/account/delete", "/account/email/check"] {
                let answer = try await webview.open(path)
                #expect(answer.status == 303 && answer.header("location")?.hasPrefix("/login?") == true, "\(path)")
            }
            let forms: [(String, [String: String])] = [
                ("/account/password", ["current_password": World.password, "new_password": "a brand new loom"]),
                ("/account/email", ["email": "new@example.com", "current_password": World.password]),
                ("/account/sessions/end", ["session": sessions.first ?? ""]), ("/account/sessions/end-others", [:]),
                ("/account/apps/revoke", ["client": spid.id]),
                ("/account/links/remove", ["issuer": "i", "subject": "s"]), ("/account/links/connect", ["issuer": "i"]),
                ("/account/delete", ["current_password": World.password]),
            ]
            for (path, fields) in forms {
                let answer = try await webview.submit(page, fields, to: path)
                #expect(answer.status == 303 && answer.header("location")?.hasPrefix("/login?") == true, "\(path)")
            }
            #expect(try await world.server.database.sessionIDs() == sessions)
            #expect(try await world.signIn().status == 200, "the password is the same")
        }
    }

    @Test(
        "Only SPiD-compatible apps get session codes for the account page, and for no other page of Spindle",
        arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            let token = try await world.signIn(with: spid).require("access_token")
            let bad = [
                "/account/data", "/account/delete", "/account?done=password", "/account/", "/login", "/oauth/authorize",
                "/logout", "/account/summary#x", "/account/summary?client_id=x", "/ACCOUNT", "",
            ].map { Self.origin + $0 }
            for address in bad + ["https://spindle.test/account", "http://spindle.test:80/account", "/account"] {
                let answer = try await world.exchange(token, for: spid, type: "session", redirectURI: address)
                #expect(answer.status == 400, "\(address)")
            }
            let code = try await world.exchange(token, for: spid, redirectURI: Self.origin + "/account")
            #expect(code.status == 400, "a code does not go there")
            let phone = try await world.signIn().require("access_token")
            let plain = try await world.exchange(
                phone, for: world.app, type: "session", redirectURI: Self.origin + "/account")
            #expect(plain.status == 400)
            // The session of another app's web view does not open it either.
            var webview = Browser(world.server)
            _ = try await webview.open("/session/\(try await world.sessionCode(of: try await world.signIn()))")
            let page = try await webview.open("/account")
            #expect(page.status == 303 && page.header("location") == "/login?continue=%2Faccount")
        }
    }

    @Test("A session code for the account page is void once its client is no longer SPiD-compatible")
    func changed() async throws {
        try await World.with(.sqlite) { world in
            let spid = try await world.spidBackend()
            let token = try await world.signIn(with: spid).require("access_token")
            let code = try await world.exchange(
                token, for: spid, type: "session", redirectURI: Self.origin + "/account"
            ).require("code")
            try await world.change("clients", spid.id, ["spid_compatible": false])
            #expect(try await world.server.get("/session/\(code)").status == 410)
        }
    }

    private func webview(_ world: World, _ spid: World.Actor) async throws -> Browser {
        let code = try await world.exchange(
            try await world.signIn(with: spid).require("access_token"), for: spid, type: "session",
            redirectURI: Self.origin + "/account/summary"
        ).require("code")
        var webview = Browser(world.server)
        _ = try await webview.open("/session/\(code)")
        return webview
    }

    private func account(_ webview: inout Browser, _ path: String) async throws -> Answer {
        let answer = try await webview.open(path)
        return answer.status == 303 ? try await webview.open(answer.header("location") ?? "/nowhere") : answer
    }

    @Test(
        "A web view of an app that is no longer first-party cannot open the account page",
        arguments: Backend.available)
    func thirdParty(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let app = try await world.spidBackend()
            let token = try await world.signIn(with: app).require("access_token")
            let code = try await world.exchange(
                token, for: app, type: "session", redirectURI: "http://spindle.test/account"
            ).require("code")
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(code)")
            #expect(try await webview.open("/account").status == 200)
            try await world.change("clients", app.id, ["first_party": false])
            #expect(try await webview.open("/account").status == 303)
        }
    }
}

extension Database {
    /// The sessions that have not ended.
    fileprivate func sessionIDs() async throws -> [String] {
        try await read { db in
            try db.rows("SELECT id FROM sessions WHERE ended_at IS NULL ORDER BY id").map {
                try $0.get("id", as: String.self)
            }
        }
    }
}
