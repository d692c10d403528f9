import JOSE
import TestSupport
import Testing

@Suite("/logout, for devices and for people")
struct LogoutTests {
    @Test("another site's link asks first; the form ends the session", arguments: Backend.available)
    func asks(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let secret = try #require(browser.session)
            let page = try await browser.open("/logout", headers: ["Sec-Fetch-Site": "cross-site"])
            #expect(page.status == 200)
            #expect(page.body.contains("Sign out?"))
            #expect(try await browser.isSignedIn())

            let out = try await browser.submit(page)
            #expect(out.body.contains("You are signed out"))
            #expect(out.setCookie("spindle_session")?.contains("Max-Age=0") == true)
            let replayed = try await world.server.get("/login", cookies: ["spindle_session": secret])
            #expect(!replayed.body.contains("You are signed in"))
        }
    }

    @Test("another site cannot send the form", arguments: Backend.available)
    func crossSite(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open("/logout", headers: ["Sec-Fetch-Site": "cross-site"])
            let foreign = try await browser.submit(page, headers: ["Origin": "https://evil.example"])
            #expect(foreign.status == 403)
            let blind = try await world.server.post("/logout", [:], cookies: browser.cookies, headers: [:])
            #expect(blind.status == 403)
            #expect(try await browser.isSignedIn())
        }
    }

    @Test("a browser without a session is told that it is signed out", arguments: Backend.available)
    func nobody(backend: Backend) async throws {
        try await World.with(backend) { world in
            let page = try await world.server.get("/logout")
            #expect(page.status == 200)
            #expect(page.body.contains("You are signed out"))
        }
    }

    @Test(
        "a device's call ends token, refresh token and family, by header or oauth_token", arguments: Backend.available)
    func device(backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn()
            let later = try await world.refresh(try phone.require("refresh_token"))
            let out = try await world.server.post(
                "/logout", ["oauth_token": try later.require("access_token")])
            #expect(out.status == 200)
            #expect(out.json["result"]?.string == "OK")
            for answer in [phone, later] {
                #expect(try await !world.isLive(try answer.require("access_token")))
                #expect(try await world.refresh(try answer.require("refresh_token")).error == "invalid_grant")
            }
            let again = try await world.server.get("/logout", bearer: try phone.require("access_token"))
            #expect(again.status == 401)
        }
    }

    @Test("a client's own token logs nobody out", arguments: Backend.available)
    func clientToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.clientToken(world.backend)
            #expect(try await world.server.get("/logout", bearer: own).status == 401)
            #expect(try await world.server.get("/user/\(world.user)", bearer: own).status == 403)
        }
    }
}
