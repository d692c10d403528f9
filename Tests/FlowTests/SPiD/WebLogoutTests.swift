import JSON
import TestSupport
import Testing
import Values

@Suite("A web page's logout link as SPiD's clients build it")
struct WebLogoutTests {
    @Test(
        "A logout link with the user's token ends session and token at once, and goes back",
        arguments: Backend.available)
    func token(backend: Backend) async throws {
        try await World.with(backend) { world in
            for path in ["/logout", "/flow/logout"] {
                for names in [true, false] {
                    var browser = Browser(world.server)
                    _ = try await browser.submit(
                        try await browser.open("/login"),
                        ["email": World.email, "password": World.password, "remember": "1"])
                    let code = try await browser.open(world.authorizeAddress()).requireRedirected("code")
                    let phone = try await world.redeemAuthorization(code)
                    let token = try phone.require("access_token")
                    let out = try await browser.open(link(world, path, token: token, namesClient: names))
                    #expect(out.status == 302 && out.header("location") == World.webview)
                    // The one cookie is the session and the being remembered.
                    #expect(out.setCookie("spindle_session")?.contains("Max-Age=0") == true)
                    #expect(try await !browser.isSignedIn())
                    #expect(try await !world.isLive(token))
                    #expect(try await world.refresh(try phone.require("refresh_token")).error == "invalid_grant")
                }
            }
        }
    }

    @Test("A logout link with a dead token asks first, and then goes back", arguments: Backend.available)
    func deadToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            let expired = try await world.signIn().require("access_token")
            let revoked = try await world.signIn().require("access_token")
            _ = try await world.server.post("/logout", ["oauth_token": revoked])
            world.server.clock.advance(by: .hours(1))
            for (token, names) in [
                (expired, true), (expired, false), (revoked, true), (revoked, false), ("none", true),
            ] {
                var browser = Browser(world.server)
                try await browser.signIn()
                let page = try await browser.open(link(world, token: token, namesClient: names))
                #expect(page.status == 200 && page.body.contains("Sign out?"))
                #expect(try await browser.isSignedIn())
            }
            // The page goes on where the link would have.
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(link(world, token: "none", namesClient: true))
            #expect(try await browser.submit(page).header("location") == World.webview)
            let signedOut = try await browser.open(
                link(world, token: expired, namesClient: false), headers: ["Sec-Fetch-Dest": "document"])
            #expect(signedOut.status == 302 && signedOut.header("location") == World.webview)
        }
    }

    @Test("A web view signs out with the token that bought its session", arguments: Backend.available)
    func webView(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            var webview = Browser(world.server)
            _ = try await webview.open("/auth/session/\(try await world.sessionCode(of: phone))")
            let out = try await webview.open(
                link(world, token: try phone.require("access_token"), namesClient: true))
            #expect(out.status == 302 && out.header("location") == World.webview)
            #expect(webview.session == nil)
        }
    }

    @Test(
        "A token that the user's other device got, or an image on a page, signs no browser out",
        arguments: Backend.available)
    func elsewhere(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.confidential(["client_name": "Stranger", "first_party": false])
            var other = BrowserUser(world)
            try await other.browser.signIn()
            let consent = try await other.browser.open(world.authorizeAddress(["scope": "profile"], for: stranger))
            let allowed = try await other.browser.submit(consent, ["decision": "allow", "scope": "profile"])
            let code = try await other.follow(allowed).requireRedirected("code")
            let strangers = try await world.redeemAuthorization(code, as: stranger).require("access_token")
            let phones = try await world.signIn().require("access_token")

            var browser = Browser(world.server)
            try await browser.signIn()
            for token in [strangers, phones] {
                let page = try await browser.open(link(world, token: token, namesClient: false))
                #expect(page.status == 200 && page.body.contains("Sign out?"))
                #expect(try await browser.isSignedIn())
                #expect(try await !world.isLive(token), "a token in an address ends in any case")
            }
            let own = try await browser.open(world.authorizeAddress()).requireRedirected("code")
            let token = try await world.redeemAuthorization(own).require("access_token")
            let hidden = try await browser.open(
                link(world, token: token, namesClient: true), headers: ["Sec-Fetch-Dest": "image"])
            #expect(hidden.body.contains("Sign out?"))
            #expect(try await browser.isSignedIn())
        }
    }

    @Test("A device's logout with a dead token gets 401", arguments: Backend.available)
    func device(backend: Backend) async throws {
        try await World.with(backend) { world in
            let answer = try await world.server.get(link(world, token: "none", namesClient: true))
            #expect(answer.status == 401)
        }
    }

    @Test("A logout link with another user's token signs no user out", arguments: Backend.available)
    func another(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("grace@example.com")
            let graces = try await world.signIn(as: "grace@example.com").require("access_token")
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(link(world, token: graces, namesClient: true))
            #expect(page.status == 200 && page.body.contains("Sign out?"))
            #expect(try await browser.isSignedIn())
        }
    }

    private func link(_ world: World, _ path: String = "/logout", token: String, namesClient: Bool) -> String {
        path + "?redirect_uri=\(TestServer.encode(World.webview))&oauth_token=\(token)"
            + (namesClient ? "&client_id=\(world.app.id)" : "")
    }
}
