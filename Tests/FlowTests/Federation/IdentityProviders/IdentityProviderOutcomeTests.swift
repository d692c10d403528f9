import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Sign in with another issuer: outcomes of the return")
struct IdentityProviderOutcomeTests {
    @Test(
        "A user who cancelled at the issuer gets a page in their language with a way back to the sign-in",
        arguments: Backend.available)
    func declined(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let departure = try await story.leave(&browser)
            let answer = try await browser.open(
                "\(story.callback)?error=access_denied&error_description=%3Cb%3Eno&state=\(departure.state)",
                headers: ["Accept-Language": "de"])
            story.expect(403, "upstream_declined", answer, browser)
            #expect(answer.words.contains("Sie sind nicht angemeldet"))
            #expect(answer.words.contains("<bdi>The Mill</bdi>"))
            #expect(!answer.body.contains("<b>no"))
            let page = try await browser.open(try answer.requireLink(to: "/login?continue="))
            #expect(page.link(to: "/login/with/\(story.issuer)?") != nil)
            #expect(page.words.contains("Loom for phones"))
        }
    }

    @Test(
        "An issuer's error other than a cancellation gets a 502 or 503 page and opens no session",
        arguments: Backend.available)
    func errors(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            for (error, status, reason) in [
                ("invalid_scope", 502, "upstream_failed: invalid_scope"),
                ("unauthorized_client", 502, "upstream_failed: unauthorized_client"),
                ("temporarily_unavailable", 503, "upstream_unavailable"), ("server_error", 503, "upstream_unavailable"),
            ] {
                let departure = try await story.leave(&browser)
                let answer = try await browser.open("\(story.callback)?error=\(error)&state=\(departure.state)")
                story.expect(status, reason, answer, browser)
            }
            // Neither a code nor an error, either twice, or an error with a line break for the log.
            for query in ["", "&code=a&code=b", "&error=a&error=b", "&error=a%0Ab", "&code="] {
                let departure = try await story.leave(&browser)
                let answer = try await browser.open("\(story.callback)?state=\(departure.state)\(query)")
                story.expect(502, "upstream_mistrusted: neither", answer, browser)
            }
        }
    }

    @Test(
        "A session is unusable while the issuer that opened it is disabled, and ends when that is deleted",
        arguments: Backend.available)
    func gone(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            let server = story.here.server
            var browser = Browser(server)
            _ = try await story.signIn(&browser)
            func isSignedIn() async throws -> Bool {
                try await browser.open(story.here.authorizeAddress()).redirected("code") != nil
            }
            let path = "/admin/v1/issuers/\(story.issuer)"
            #expect(try await isSignedIn())
            for (isDisabled, isExpected) in [(true, false), (false, true)] {
                let body: JSON = ["disabled": .bool(isDisabled)]
                let changed = try await server.send("PATCH", path, json: body, bearer: story.here.admin)
                #expect(changed.status == 200, "\(changed)")
                #expect(try await isSignedIn() == isExpected)
            }
            #expect(try await server.send("DELETE", path, bearer: story.here.admin).status == 204)
            #expect(try await !isSignedIn())
            let sessions = try await server.database.rows(
                "SELECT 1 AS found FROM sessions WHERE issuer_id = \(story.issuer) AND ended_at IS NULL")
            #expect(sessions.isEmpty, "it ended, and rests no longer")
        }
    }

    @Test(
        "An issuer's subject without a linked user gets a page that says so and offers sign-up",
        arguments: Backend.available)
    func unknown(backend: Backend) async throws {
        try await StandInStory.with(backend, ["create_users": false]) { story in
            var browser = Browser(story.here.server)
            let answer = try await story.signIn(&browser)
            story.expect(403, "upstream_unknown", answer, browser)
            #expect(answer.link(to: "/signup?continue=") != nil)
            #expect(answer.link(to: "/login?continue=") != nil)
        }
    }

    @Test(
        "An issuer's e-mail address signs in the user who has the address only with link_by_email",
        arguments: Backend.available)
    func addresses(backend: Backend) async throws {
        try await StandInStory.with(backend, ["authoritative_domains": ["example.com"]]) { story in
            var browser = Browser(story.here.server)
            let claims: KeyValuePairs<String, JSON> = ["email": .string(World.email), "email_verified": true]
            story.expect(409, "upstream_taken", try await story.signIn(&browser, claims), browser)
            try await story.here.change("users", story.here.user, ["email_verified": true])
            try await story.here.change("issuers", story.issuer, ["link_by_email": true])
            #expect(try await story.signIn(&browser, claims).status == 303)
            let code = try await browser.open(story.here.authorizeAddress()).requireRedirected("code")
            #expect(try await story.here.redeemAuthorization(code).require("user_id") == story.here.user)
        }
    }

    @Test(
        "A merchant's own issuer opens no session for a disabled user or one whose deletion is pending",
        arguments: Backend.available)
    func users(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            #expect(try await story.signIn(&browser).status == 303)
            let code = try await browser.open(story.here.authorizeAddress()).requireRedirected("code")
            let userID = try await story.here.redeemAuthorization(code).require("user_id")
            browser.forgetSession()
            try await story.here.change("users", userID, ["disabled": true])
            story.expect(403, "upstream_disabled", try await story.signIn(&browser), browser)
            try await story.here.change("users", userID, ["disabled": false])
            let due = story.here.server.clock.now + .days(3)
            try await story.here.server.database.write { db in
                _ = try db.execute("UPDATE users SET deletion_due_at = \(due) WHERE profile = \("{}")")
            }
            // A merchant's own issuer shows the date, and cannot cancel the deletion: that would open the whole
            // account.
            let answer = try await story.signIn(&browser)
            #expect(answer.status == 403)
            #expect(answer.words.contains("Your account will be deleted"))
            #expect(browser.session == nil)
        }
    }

    @Test("An issuer that is disabled while a user signs in there opens no session", arguments: Backend.available)
    func closed(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let departure = try await story.leave(&browser)
            story.grant(story.claims(departure))
            try await story.here.change("issuers", story.issuer, ["disabled": true])
            story.expect(403, "upstream_closed", try await story.comeBack(departure, in: &browser), browser)
            let gone = try await browser.open("/login/with/none/callback?code=a&state=b")
            #expect(gone.status == 404)
        }
    }

    @Test(
        "The record of a sign-in begun at an issuer is deleted after ten minutes, when no answer is accepted",
        arguments: Backend.available)
    func retention(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            _ = try await story.leave(&browser)
            story.here.server.clock.advance(by: .minutes(6))
            let departure = try await story.leave(&browser)
            story.here.server.clock.advance(by: .minutes(4))
            let sweep = await Retention(database: story.here.server.database).sweep(
                only: ["providerRequests"], at: story.here.server.clock.now)
            #expect(sweep.gone == 1)
            story.grant(story.claims(departure))
            #expect(try await story.comeBack(departure, in: &browser).status == 303)
        }
    }

    @Test(
        "An IP address can start sixty sign-ins at an issuer at once, then one every five seconds",
        arguments: Backend.available)
    func throttle(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let page = try await browser.open(story.here.authorizeAddress())
            let link = try page.requireLink(to: "/login/with/\(story.issuer)?")
            for _ in 1...60 { #expect(try await browser.open(link).status == 303) }
            let refused = try await browser.open(link)
            #expect(refused.status == 429 && refused.isPage)
            #expect(refused.header("retry-after") == "5")
            story.here.server.clock.advance(by: .seconds(5))
            #expect(try await browser.open(link).status == 303)
        }
    }

    @Test(
        "An IPv6 /48 can start 240 sign-ins at an issuer, not sixty for each of its /64 networks",
        arguments: Backend.available)
    func site(backend: Backend) async throws {
        try await StandInStory.with(backend, settings: ["trusted_proxies": "127.0.0.0/8"]) { story in
            var browser = Browser(story.here.server)
            let waiting = try await story.here.begin(story.here.authorizeAddress(), in: &browser)
            for number in 0..<240 {
                let host = String(number % 30, radix: 16)
                let left = try await status(of: story, waiting, in: browser, from: "2001:db8:48:\(host)::1")
                #expect(left == 303, "\(number)")
            }
            let refused = try await status(of: story, waiting, in: browser, from: "2001:db8:48:ffff::1")
            let elsewhere = try await status(of: story, waiting, in: browser, from: "2001:db8:49::1")
            #expect(refused == 429 && elsewhere == 303)
        }
    }

    private func status(
        of story: StandInStory, _ waiting: String, in browser: Browser, from address: String
    ) async throws -> Int {
        try await story.here.server.get(
            "/login/with/\(story.issuer)?continue=\(waiting)", cookies: browser.cookies,
            headers: ["X-Forwarded-For": address]
        ).status
    }
}
