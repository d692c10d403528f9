import JSON
import TestSupport
import Testing
import Values

@Suite("The session service at a host of the client's own site, for browsers that block third-party cookies")
struct SessionHostTests {
    @Test(
        "At a site's host the session service sends a page to renew its session, then answers as usual",
        arguments: Backend.available)
    func session(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            var browser = SiteBrowser(world, client)
            for path in ["/v2/session", "/session"] { #expect(try await browser.ask(path).sendsForSession) }
            try await browser.home.signIn()
            try await browser.renew()
            #expect(try await browser.ask().json["userStatus"]?.string == "notConnected")
            let code = try await browser.home.open(world.authorizeAddress(for: client)).requireRedirected("code")
            #expect(try await world.redeemAuthorization(code, as: client).status == 200)
            for path in ["/v2/session", "/session"] {
                let known = try await browser.ask(path)
                #expect(known.json["result"] == true && known.json["userId"]?.integer.map(String.init) == world.user)
                #expect(known.header("access-control-allow-origin") == SiteBrowser.origin)
                #expect(known.header("access-control-allow-credentials") == "true")
                #expect(known.header("cache-control") == "no-store")
            }
            // Another client of the merchant on the same site has the same session.
            let sister = try await world.siteClient()
            #expect(try await browser.ask(as: sister).json["userStatus"]?.string == "notConnected")
            // A question at the host is use of the session.
            for _ in 0..<3 {
                world.server.clock.advance(by: .minutes(90))
                #expect(try await browser.ask().json["result"] == true)
            }
            #expect(try await browser.home.isSignedIn())
        }
    }

    @Test(
        "At a site's host a page without a user is not sent to renew again for an hour, unless one signs in",
        arguments: Backend.available)
    func nobody(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            var browser = SiteBrowser(world, client)
            try await browser.renew()
            for _ in 0..<5 { #expect(try await browser.ask().isSignedOut) }
            #expect(try await browser.ask("/session").json["error"]?["type"]?.string == "UserException")
            world.server.clock.advance(by: .minutes(59))
            #expect(try await browser.ask().isSignedOut)
            world.server.clock.advance(by: .minutes(1))
            #expect(try await browser.ask().sendsForSession)
            // A sign-in in the same browser is noticed at once, one in another browser is not.
            try await browser.renew()
            #expect(try await browser.ask().isSignedOut)
            var other = Browser(world.server)
            try await other.signIn()
            #expect(try await browser.ask().isSignedOut)
            try await browser.home.signIn()
            #expect(try await browser.ask().sendsForSession)
            try await browser.renew()
            #expect(try await browser.ask().json["userStatus"]?.string == "notConnected")
        }
    }

    @Test(
        "The session service at a site's host notices at once that an app bought a session in the web view",
        arguments: Backend.available)
    func bought(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            var browser = SiteBrowser(world, client)
            try await browser.renew()
            #expect(try await browser.ask().isSignedOut)
            let code = try await world.sessionCode(of: try await world.signIn())
            _ = try await browser.home.open("/auth/session/\(code)")
            #expect(try await browser.home.isSignedIn())
            #expect(try await browser.ask().sendsForSession)
        }
    }

    @Test("Cookies at two sites' hosts have no value in common, and both hosts notice a sign-in")
    func marks() async throws {
        try await World.with(.sqlite) { world in
            let host = "id.other.example"
            var one = SiteBrowser(world, try await world.siteClient())
            var other = SiteBrowser(world, try await world.siteClient(host), host: host)
            try await one.renew()
            other.home = one.home
            try await other.renew()
            let marks = [one, other].map { $0.there.cookies["spindle_nobody"]?.prefix(43) }
            #expect(marks[0] != nil && marks[1] != nil && marks[0] != marks[1])
            #expect(one.there.cookies["spindle_host_browser"] != other.there.cookies["spindle_host_browser"])
            var home = other.home
            try await home.signIn()
            #expect(try await one.ask().sendsForSession)
            #expect(try await other.ask().json["redirectURL"] != nil)
            // A browser has six marks at most, so that the cookie does not grow.
            for _ in 0..<8 { try await other.renew() }
            #expect(other.home.cookies["spindle_told"]?.split(separator: ".").count == 6)
        }
    }

    @Test("The session at a site's host ends with the session at the server's own host", arguments: Backend.available)
    func ends(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            var out = try await world.siteBrowser(client)
            _ = try await out.home.submit(try await out.home.open("/logout"))
            #expect(try await out.ask().sendsForSession)
            try await out.renew()
            #expect(try await out.ask().isSignedOut)

            var aside = try await world.siteBrowser(client)
            _ = try await world.person("grace@example.com")
            _ = try await aside.home.useAnother(
                world.authorizeAddress(["prompt": "select_account"]), as: "grace@example.com")
            #expect(try await aside.ask().sendsForSession, "Ada is set aside")
            try await aside.renew()
            #expect(try await aside.ask().json["userId"] == nil)

            var disabled = try await world.siteBrowser(client)
            #expect(try await world.change("users", world.user, ["disabled": true]).status == 200)
            #expect(try await disabled.ask().sendsForSession)
            try await disabled.renew()
            #expect(try await disabled.ask().isSignedOut)

            #expect(try await world.change("users", world.user, ["disabled": false]).status == 200)
            var idle = try await world.siteBrowser(client)
            world.server.clock.advance(by: .hours(2))
            #expect(try await idle.ask().sendsForSession)
        }
    }

    @Test(
        "A user who signs out of one client is signed out at its site's host until they sign in to it again",
        arguments: Backend.available)
    func leaves(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            var browser = try await world.siteBrowser(client)
            let logout = try await browser.home.open("/logout?logout_scope=client&client_id=\(client.id)")
            _ = try await browser.home.submit(logout)
            #expect(try await browser.ask().isSignedOut)
            let picker = try await browser.home.open(world.authorizeAddress(for: client))
            _ = try await browser.home.pick(try #require(picker.choices.first), on: picker)
            #expect(try await browser.ask().json["result"] == true)
        }
    }

    @Test("Disabling a client, or removing its session host, ends its sessions at the site's host")
    func disabled() async throws {
        try await World.with(.sqlite) { world in
            let (client, sister) = (try await world.siteClient(), try await world.siteClient())
            var browser = try await world.siteBrowser(client)
            #expect(try await browser.ask(as: sister).json["userStatus"]?.string == "notConnected")
            _ = try await world.change("clients", client.id, ["disabled": true])
            #expect(try await browser.ask().status == 403)
            #expect(try await browser.ask(as: sister).sendsForSession)
            try await browser.renew(as: sister)
            _ = try await world.change("clients", sister.id, ["session_hosts": []])
            #expect(try await browser.ask(as: sister).isSignedOut)
        }
    }

    @Test("At session.<host> the hasSession script of SPiD's SDK for JavaScript gets a LoginException")
    func hostWithoutSession() async throws {
        try await World.with(.sqlite) { world in
            let client = try await world.siteClient()
            var browser = SiteBrowser(world, client, host: "session.spindle.test")
            let answer = try await browser.ask("/rpc/hasSession.js?client_id=\(client.id)&x=")
            #expect(answer.body.contains("\"type\":\"LoginException\""), "\(answer)")
            #expect(answer.body.contains("\"result\":false"))
            #expect(try await browser.visit("/login").status == 404)
        }
    }

    // MARK: What it refuses

    @Test(
        "A handover code at a site's host works once, within a minute, for its own browser, host and client",
        arguments: Backend.available)
    func codes(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            var browser = SiteBrowser(world, client)
            try await browser.home.signIn()
            let back = try await browser.leave()
            let path = try #require(back.path(at: "http://\(SiteBrowser.host)"))

            var other = SiteBrowser(world, client)
            #expect(try await other.visit(path).status == 400, "a browser that never was there")
            _ = try await other.visit(other.renewal())
            #expect(try await other.visit(path).status == 400, "another browser")
            let mark = try #require(other.there.cookies["spindle_host_browser"])
            let forged = path.replacing(
                try #require(path.firstMatch(of: /browser=([A-Za-z0-9_-]+)/)).output.1,
                with: Fingerprint<Never>(of: mark).text)
            #expect(try await other.visit(forged).status == 303)
            #expect(other.there.cookies["spindle_host_session"] == nil, "another browser with its own name")

            _ = try await world.change(
                "clients", client.id, ["session_hosts": [.string(SiteBrowser.host), "id.b.example"]])
            _ = try await browser.visit(path, at: "id.b.example")
            #expect(browser.there.cookies["spindle_host_session"] == nil, "another host")
            let sister = try await world.siteClient()
            _ = try await browser.visit(path.replacing(client.id, with: sister.id))
            #expect(browser.there.cookies["spindle_host_session"] == nil, "another client")

            #expect(try await browser.visit(path).header("location") == SiteBrowser.page)
            let session = try #require(browser.there.cookies["spindle_host_session"])
            #expect(try await browser.ask().json["userStatus"]?.string == "notConnected")
            #expect(try await browser.visit(path).setCookie("spindle_host_session") == nil, "a replay")
            #expect(browser.there.cookies["spindle_host_session"] == session)
            #expect(try await browser.ask().json["userStatus"]?.string == "notConnected")

            let late = try #require(try await browser.leave().path(at: "http://\(SiteBrowser.host)"))
            world.server.clock.advance(by: .seconds(60))
            #expect(try await browser.visit(late).setCookie("spindle_host_session") == nil, "after a minute")
        }
    }

    @Test(
        "Of concurrent uses of one handover code at a site's host, one gets the session", arguments: Backend.available)
    func race(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            var browser = SiteBrowser(world, client)
            try await browser.home.signIn()
            let path = try #require(try await browser.leave().path(at: "http://\(SiteBrowser.host)"))
            let start = browser
            let winners = try await withThrowingTaskGroup(of: Bool.self) { tasks in
                for _ in 0..<8 {
                    tasks.addTask {
                        var copy = start
                        return try await copy.visit(path).setCookie("spindle_host_session") != nil
                    }
                }
                return try await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(winners == 1)
        }
    }

    @Test(
        "A session cookie of a site's host is refused at the server's own host, and the reverse",
        arguments: Backend.available)
    func cookies(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            let browser = try await world.siteBrowser(client)
            let stolen = try #require(browser.there.cookies["spindle_host_session"])
            for name in ["spindle_host_session", "spindle_session", "spindle_others"] {
                let cookies = [name: stolen]
                #expect(try await world.server.get("/account", cookies: cookies).status == 303)
                let address = world.authorizeAddress(["prompt": "none"], for: client)
                #expect(try await world.server.get(address, cookies: cookies).redirected("code") == nil)
                let told = try await world.server.get(
                    "/v2/session?client_id=\(client.id)", cookies: cookies, headers: ["Origin": SiteBrowser.origin])
                #expect(told.isSignedOut)
            }
            var there = SiteBrowser(world, client)
            there.there = browser.home
            #expect(try await there.ask().sendsForSession)
        }
    }

    @Test(
        "A session renewal leads only to registered hosts and pages, and only by a page navigation",
        arguments: Backend.available)
    func steps(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            var browser = SiteBrowser(world, client)
            try await browser.home.signIn()
            let pages = [
                "https://evil.example/", "https://www.loom.example.evil.example/",
                "https://www.loom.example@evil.example/",
                "javascript:alert(1)", "//www.loom.example/", "https://www.loom.example/a/../b", "",
            ]
            let departed = try await browser.visit(browser.renewal())
            let hand = try #require(departed.path(at: "http://spindle.test"))
            for page in pages {
                #expect(try await browser.visit(browser.renewal(redirectURI: page)).status == 400, "\(page)")
                let forged = hand.replacing(TestServer.encode(SiteBrowser.page), with: TestServer.encode(page))
                let answer = try await browser.home.open(forged)
                #expect(answer.status == 400 && answer.header("location") == nil, "\(page)")
            }
            #expect(try await browser.visit(browser.renewal(), at: "id.evil.example").status == 404)
            let elsewhere = hand.replacing("host=\(SiteBrowser.host)", with: "host=id.evil.example")
            #expect(elsewhere != hand)
            #expect(try await browser.home.open(elsewhere).status == 404)
            for destination in ["iframe", "image", "empty", "script"] {
                let headers = ["Sec-Fetch-Dest": destination]
                #expect(try await browser.home.open(hand, headers: headers).status == 403)
                let framed = try await browser.there.open(
                    browser.renewal(), headers: headers.merging(["Host": SiteBrowser.host]) { $1 })
                #expect(framed.status == 403)
            }
            #expect(try await browser.home.open(hand, headers: ["Sec-Purpose": "prefetch"]).status == 204)
            let plain = try await world.confidential([:])
            #expect(try await browser.visit(browser.renewal(as: plain)).status == 400)
        }
    }

    @Test(
        "The session service sends a page to renew its session only at a host registered for its client",
        arguments: Backend.available)
    func strangers(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            let rival = try await world.siteClient(of: world.rival)
            let elsewhere = try await world.siteClient("id.other.example")
            for host in ["id.evil.example", "spindle.test", "id.loom.example.", "id.loom.example:8443"] {
                var browser = SiteBrowser(world, client, host: host)
                #expect(try await browser.ask().isSignedOut, "\(host)")
            }
            var browser = try await world.siteBrowser(client)
            #expect(try await browser.ask(as: rival).sendsForSession, "another merchant's client")
            #expect(try await browser.ask(as: elsewhere).isSignedOut, "this is not its host")
        }
    }

    @Test(
        "A site's session host serves no page, token endpoint or administration, and redirects a logout link",
        arguments: Backend.available)
    func nothingElse(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            var browser = SiteBrowser(world, client)
            let paths = [
                "/", "/login", "/signup", "/account", "/oauth/authorize", "/oauth/token", "/me", "/api/2/me",
                "/session/x",
                "/session/handover", "/user-context", "/login_status", "/ajax/logout.js", "/admin/v1/clients",
                "/.well-known/openid-configuration", "/healthz", "/metrics", "//login", "/logout/",
            ]
            for path in paths {
                let answer = try await browser.visit(path)
                #expect(answer.status == 404 && answer.header("set-cookie") == nil, "\(path)")
                #expect(!answer.isPage && answer.header("location") == nil, "\(path)")
            }
            for path in ["/oauth/token", "/login", "/logout"] {
                let posted = try await world.server.post(path, [:], headers: ["Host": "ID.Loom.example"])
                #expect(posted.status == 404, "\(path)")
            }
            let logout = try await browser.visit("/logout?client_sdrn=sdrn%3Aa%3Aclient%3A\(client.id)")
            #expect(
                logout.header("location") == "http://spindle.test/logout?client_sdrn=sdrn%3Aa%3Aclient%3A\(client.id)")
        }
    }

    @Test("Only the platform sets session_hosts of a client")
    func givers() async throws {
        try await World.with(.sqlite) { world in
            let client = try await world.siteClient()
            let administrator = try await world.confidential([
                "scope": "admin:merchant", "grant_types": ["client_credentials"],
            ])
            let token = try await world.clientToken(administrator, scope: "admin:merchant")
            let made = try await World.make(
                world.server, token, "clients",
                [
                    "client_name": "Mine", "redirect_uris": ["https://mine.example/cb"], "spid_compatible": true,
                    "session_hosts": ["id.victim.example"],
                ])
            expectProblem(made, 403, member: "session_hosts")
            let changed = try await world.server.send(
                "PATCH", "/admin/v1/clients/\(client.id)",
                json: ["session_hosts": [.string(SiteBrowser.host), "id.victim.example"]], bearer: token)
            expectProblem(changed, 403, member: "session_hosts")
            let kept = try await world.server.send(
                "PATCH", "/admin/v1/clients/\(client.id)", json: ["client_name": "Mine"], bearer: token)
            #expect(kept.json["session_hosts"] == [.string(SiteBrowser.host)])
        }
    }

    @Test(
        "A merchant's administrator can neither remove session_hosts nor delete a client that has them",
        arguments: Backend.available)
    func givenUp(backend: Backend) async throws {
        try await World.with(backend) { world in
            let token = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
                scope: "admin:merchant")
            let changes: [JSON?] = [["spid_compatible": false], ["session_hosts": []], nil]
            for change in changes {
                let client = try await world.siteClient()
                let path = "/admin/v1/clients/\(client.id)"
                func make(by token: String) async throws -> Answer {
                    guard let change else { return try await world.server.send("DELETE", path, bearer: token) }
                    return try await world.server.send("PATCH", path, json: change, bearer: token)
                }
                expectProblem(try await make(by: token), 403, member: "session_hosts")
                let kept = try await world.server.get(path, bearer: token)
                #expect(kept.json["session_hosts"] == [.string(SiteBrowser.host)], "\(kept)")
                #expect(kept.json["spid_compatible"] == true)
                let done = try await make(by: world.admin)
                #expect(done.status == (change == nil ? 204 : 200), "\(done)")
                guard change != nil else { continue }
                // The merchant may delete a client without hosts.
                #expect(try await world.server.send("DELETE", path, bearer: token).status == 204)
            }
        }
    }

    @Test("A new password voids a copied session cookie of a site's host", arguments: Backend.available)
    func copied(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = try await world.siteBrowser(try await world.siteClient())
            var thief = browser
            let changed = try await browser.home.submit(
                try await browser.home.open("/account"),
                ["current_password": World.password, "new_password": "another good loom"], to: "/account/password")
            #expect(changed.header("location") == "/account?done=password")
            #expect(try await thief.ask().json["result"] == nil)
            try await browser.renew()
            #expect(try await browser.ask().json["result"] == true)
        }
    }

    @Test(
        "A site's session host has no other page or endpoint, also while its client is disabled",
        arguments: Backend.available)
    func ofDisabledClient(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            var browser = SiteBrowser(world, client)
            for change in [[:], ["disabled": true], ["disabled": false]] as [JSON] {
                try await world.change("clients", client.id, change)
                for path in ["/login", "/signup", "/account", "/admin/v1/users", "/.well-known/openid-configuration"] {
                    #expect(try await browser.visit(path).status == 404, "\(path) \(change)")
                }
            }
            for port in [":443", ":", ".:80", ":8443"] {
                let answer = try await browser.visit("/login", at: SiteBrowser.host + port)
                #expect(answer.status == 404, "\(port)")
            }
            let home = try await browser.home.open("/login")
            #expect(home.status == 200)
        }
    }
}
