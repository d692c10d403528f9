import JSON
import TestSupport
import Testing
import Values

@Suite("A web page's logout link as SPiD's clients build it")
struct WebLogoutTests {
    @Test(
        "a logout link with the user's token ends session and token at once, and goes back",
        arguments: Backend.available)
    func token(backend: Backend) async throws {
        try await World.with(backend) { world in
            for path in ["/logout", "/flow/logout"] {
                for names in [true, false] {
                    var browser = Browser(world.server)
                    _ = try await browser.submit(
                        try await browser.open("/login"),
                        ["email": World.email, "password": World.password, "remember": "1"])
                    let phone = try await world.signIn()
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

    @Test("a logout link with a dead token asks first, and then goes back", arguments: Backend.available)
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

    @Test("a device's logout with a dead token gets 401", arguments: Backend.available)
    func device(backend: Backend) async throws {
        try await World.with(backend) { world in
            let answer = try await world.server.get(link(world, token: "none", namesClient: true))
            #expect(answer.status == 401)
        }
    }

    @Test("a logout link with another user's token signs nobody out", arguments: Backend.available)
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
