import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("The account page lists a user's sessions, and ends them")
struct SessionListTests {
    @Test("Ending one session on the account page does not end the others", arguments: Backend.available)
    func end(backend: Backend) async throws {
        try await World.with(backend) { world in
            var here = try await world.signedIn()
            var tablet = try await world.signedIn(agent: "Mozilla/5.0 (iPad; CPU OS 18_0) Version/18.0 Safari/605")
            let tabletID = try #require(try await here.otherSessions().first)
            var laptop = try await world.signedIn()
            #expect(try await here.browser.open("/account").body.contains("Safari, iPad"))

            let answer = try await here.change("sessions/end", ["session": tabletID])
            #expect(answer.header("location") == "/account?done=session")
            #expect(try await !tablet.isSignedIn())
            #expect(try await laptop.isSignedIn())
            #expect(try await here.isSignedIn())
            #expect(try await here.otherSessions().count == 1)
            // An id that has ended or never existed gets the same answer, and ends nothing.
            for id in [tabletID, "", "000000000000000000000000"] {
                #expect(try await here.change("sessions/end", ["session": id]).status == 303)
            }
            #expect(try await laptop.isSignedIn())
        }
    }

    @Test(
        "The account page lists the current browser's session first, however long it was idle",
        arguments: Backend.available)
    func order(backend: Backend) async throws {
        try await World.with(backend) { world in
            var visitor = try await world.signedIn(agent: "Mozilla/5.0 (Windows NT 10.0) Firefox/140.0")
            world.server.clock.advance(by: .hours(1))
            var later = try await world.signedIn(agent: "Mozilla/5.0 (iPad; CPU OS 18_0) Version/18.0 Safari/605")
            world.server.clock.advance(by: .minutes(1))
            for (here, devices) in [
                (try await visitor.browser.open("/account"), ["Firefox, Windows", "Safari, iPad"]),
                (try await later.browser.open("/account"), ["Safari, iPad", "Firefox, Windows"]),
                (try await visitor.browser.open("/account"), ["Firefox, Windows", "Safari, iPad"]),
            ] {
                let shown = here.body.matches(of: /<strong><bdi>([^<@]+)<\/bdi><\/strong>/).map { String($0.output.1) }
                #expect(shown.filter { devices.contains($0) } == devices)
            }
        }
    }

    @Test(
        "The account page offers to sign out everywhere else even if it lists no other session",
        arguments: Backend.available)
    func offered(backend: Backend) async throws {
        try await World.with(backend) { world in
            var here = try await world.signedIn()
            #expect(try await here.otherSessions().isEmpty)
            let page = try await here.browser.open("/account")
            #expect(page.body.contains("action=\"/account/sessions/end-others"))
        }
    }

    @Test("Signing out everywhere else ends all other sessions at once", arguments: Backend.available)
    func endOthers(backend: Backend) async throws {
        try await World.with(backend) { world in
            var here = try await world.signedIn()
            var others = [try await world.signedIn(), try await world.signedIn()]
            let code = try await world.sessionCode(of: try await world.signIn())
            var webview = BrowserUser(world)
            _ = try await webview.browser.open("/auth/session/\(code)")
            others.append(webview)
            #expect(try await here.otherSessions().count == 3)
            #expect(try await here.change("sessions/end-others").header("location") == "/account?done=sessions")
            #expect(try await here.otherSessions().isEmpty)
            #expect(try await here.isSignedIn())
            for var other in others { #expect(try await !other.isSignedIn()) }
        }
    }

    @Test(
        "Signing out everywhere else replaces the session's cookie, and a copy of the former cookie is void",
        arguments: Backend.available)
    func copied(backend: Backend) async throws {
        try await World.with(backend) { world in
            var here = try await world.signedIn()
            var thief = here
            #expect(try await here.change("sessions/end-others").header("location") == "/account?done=sessions")
            #expect(try await !thief.isSignedIn())
            #expect(try await here.isSignedIn())
        }
    }

    @Test("Signing out everywhere else requires a recent sign-in", arguments: Backend.available)
    func copiedLater(backend: Backend) async throws {
        try await World.with(backend) { world in
            var owner = try await world.signedIn()
            var thief = owner
            world.server.clock.advance(by: .minutes(11))
            let asked = try await thief.change("sessions/end-others")
            #expect(asked.header("location")?.hasPrefix("/login?confirm=1") == true)
            #expect(try await owner.isSignedIn())
            // The owner's own sign-out ends the copy.
            _ = try await owner.browser.submit(try await owner.browser.open("/login"))
            #expect(try await !thief.isSignedIn())
        }
    }

    @Test("A user cannot end another user's session by its id", arguments: Backend.available)
    func foreign(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.person("mallory@example.com")
            var ada = try await world.signedIn()
            var adasOther = try await world.signedIn()
            let id = try #require(try await ada.otherSessions().first)
            var mallory = try await world.signedIn(as: "mallory@example.com")
            #expect(try await mallory.otherSessions().isEmpty)
            #expect(try await mallory.change("sessions/end", ["session": id]).status == 303)
            #expect(try await mallory.change("sessions/end-others").status == 303)
            #expect(try await ada.isSignedIn())
            #expect(try await adasOther.isSignedIn())
        }
    }

    @Test(
        "A user can sign out everywhere else fifty times at once, then once in ten seconds",
        arguments: Backend.available)
    func overAndOver(backend: Backend) async throws {
        try await World.with(backend) { world in
            var here = try await world.signedIn()
            // Other revocations are counted apart.
            try await world.useUpRevocations()
            for _ in 1...50 {
                #expect(try await here.change("sessions/end-others").header("location") == "/account?done=sessions")
            }
            var other = try await world.signedIn()
            let refused = try await here.change("sessions/end-others")
            #expect(refused.status == 429 && refused.header("retry-after") == "10" && refused.isPage, "\(refused)")
            #expect(try await other.isSignedIn())
            world.server.clock.advance(by: .seconds(10))
            #expect(try await here.change("sessions/end-others").header("location") == "/account?done=sessions")
            #expect(try await !other.isSignedIn())
        }
    }

    @Test(
        "Signing out everywhere else ends a third party's tokens from a session that has expired",
        arguments: Backend.available)
    func expiredThirdParty(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.stranger()
            var browser = Browser(world.server)
            let code = try await world.consented(in: &browser, ["scope": "profile"], for: stranger)
                .requireRedirected("code")
            let refresh = try await world.redeemAuthorization(code, as: stranger).require("refresh_token")
            world.server.clock.advance(by: .hours(3))
            try await world.server.database.write { db in _ = try db.execute("DELETE FROM sessions") }
            var here = try await world.signedIn()
            #expect(try await here.change("sessions/end-others").header("location") == "/account?done=sessions")
            #expect(try await world.refresh(refresh, as: stranger).error == "invalid_grant")
        }
    }

    @Test("The account page does not list expired sessions", arguments: Backend.available)
    func gone(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await world.signedIn()
            world.server.clock.advance(by: .hours(3))
            var here = try await world.signedIn()
            #expect(try await here.otherSessions().isEmpty)
        }
    }

    @Test(
        "A session's device is named as precisely as its user agent allows",
        arguments: [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0 "
                    + "Safari/537.36 Edg/139.0", "Edge, Windows"
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.5 Safari/605.1.15",
                "Safari, macOS"
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 CriOS/139.0 Mobile/15E148 "
                    + "Safari/604.1", "Chrome, iPhone"
            ),
            (
                "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 SamsungBrowser/28.0 Chrome/130.0 Mobile "
                    + "Safari/537.36", "Samsung Internet, Android"
            ),
            (
                "Mozilla/5.0 (Linux; Android 15; Pixel 9; wv) AppleWebKit/537.36 Version/4.0 Chrome/139.0 Mobile "
                    + "Safari/537.36", "App, Android"
            ),
            ("curl/8.5.0", "Unknown"), ("<script>alert(1)</script>", "Unknown"),
        ])
    func devices(agent: String, name: String) async throws {
        try await World.with(.sqlite) { world in
            var visitor = try await world.signedIn(agent: agent)
            let body = try await visitor.browser.open("/account").body
            #expect(body.contains(name), "\(agent)")
            #expect(!body.contains("<script>"))
        }
    }
}
