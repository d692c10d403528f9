import JSON
import TestSupport
import Testing

@Suite("A session code signs a phone's web view in")
struct SessionStoryTests {
    @Test(
        "A session code gives the web view a session cookie, leads to its redirect URI, and signs it in",
        arguments: Backend.available)
    func story(backend: Backend) async throws {
        try await World.with(backend) { world in
            var webview = Browser(world.server)
            let code = try await world.sessionCode(of: try await world.signIn())
            let landing = try await webview.open("/auth/session/\(code)")
            #expect(landing.status == 302)
            #expect(landing.header("location") == World.webview)
            #expect(landing.header("cache-control") == "no-store")
            #expect(landing.header("referrer-policy") == "no-referrer")

            let login = try await webview.open("/login")
            #expect(login.status == 200)
            #expect(login.body.contains("You are signed in"))
            #expect(login.words.contains(World.email))

            let authorized = try await webview.open(world.authorizeAddress(["prompt": "none"]))
            #expect(authorized.status == 302)
            let tokens = try await world.redeemAuthorization(try authorized.requireRedirected("code"))
            #expect(tokens.json["user_id"]?.string == world.user)

            _ = try await webview.submit(try await webview.open("/logout"))
            #expect(webview.session == nil)
            #expect(try await !webview.isSignedIn())
        }
    }

    @Test("The session cookie is for this host alone and out of reach of scripts", arguments: Backend.available)
    func cookie(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            let landing = try await world.server.get("/session/\(code)")
            let cookie = try #require(landing.setCookie("spindle_session"))
            #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Lax"))
            #expect(!cookie.contains("Domain"))
            #expect(landing.headers.filter { $0.name.lowercased() == "set-cookie" }.count == 1)
        }
    }

    @Test("Under an https issuer the session cookie is Secure and has the __Host- prefix", arguments: Backend.available)
    func secureCookie(backend: Backend) async throws {
        try await World.with(backend, settings: ["issuer": "https://spindle.test"]) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            let landing = try await world.server.get("/auth/session/\(code)")
            let cookie = try #require(landing.setCookie("__Host-spindle_session"))
            #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Lax; Secure"))
            #expect(landing.setCookie("spindle_session") == nil)

            let secret = try #require(landing.cookie("__Host-spindle_session"))
            let planted = try await world.server.get("/login", cookies: ["spindle_session": secret])
            #expect(!planted.body.contains("You are signed in"))
            let own = try await world.server.get("/login", cookies: ["__Host-spindle_session": secret])
            #expect(own.body.contains("You are signed in"))
        }
    }

    @Test("The session cookie can be SameSite=None, for web apps of other sites", arguments: Backend.available)
    func sameSiteNone(backend: Backend) async throws {
        let settings = ["issuer": "https://spindle.test", "session_samesite": "none"]
        try await World.with(backend, settings: settings) { world in
            let code = try await world.sessionCode(of: try await world.signIn())
            let landing = try await world.server.get("/auth/session/\(code)")
            #expect(landing.setCookie("__Host-spindle_session")?.hasSuffix("; SameSite=None; Secure") == true)
        }
    }

    @Test("A session code leads to a redirect URI with a query exactly as registered", arguments: Backend.available)
    func redirectURIWithQuery(backend: Backend) async throws {
        try await World.with(backend) { world in
            let uri = "https://two.example/landing?campaign=a%20b&x=1"
            let client = try await world.confidential(["redirect_uris": [.string(uri)]])
            let token = try await world.signIn().require("access_token")
            let code = try await world.exchange(token, for: client, type: "session", redirectURI: uri).require("code")
            #expect(try await world.server.get("/auth/session/\(code)").header("location") == uri)
        }
    }
}
