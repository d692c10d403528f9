import JSON
import TestSupport
import Testing
import Values

@Suite("The session service at a host of the client's own site, for browsers that block third-party cookies")
struct SessionHostTests {
    @Test(
        "A page without a session at its site's host is sent to renew it, then gets the same answer as at our own",
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
            // To be asked there is use of the session.
            for _ in 0..<3 {
                world.server.clock.advance(by: .minutes(90))
                #expect(try await browser.ask().json["result"] == true)
            }
            #expect(try await browser.home.isSignedIn())
        }
    }

    @Test(
        "A page at a site's host learns that no user is signed in, and is not sent to renew again for an hour",
        arguments: Backend.available)
    func nobody(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            var browser = SiteBrowser(world, client)
            try await browser.renew()
            for _ in 0..<5 { #expect(try await browser.ask().isOfNobody) }
            #expect(try await browser.ask("/session").json["error"]?["type"]?.string == "UserException")
            world.server.clock.advance(by: .minutes(59))
            #expect(try await browser.ask().isOfNobody)
            world.server.clock.advance(by: .minutes(1))
            #expect(try await browser.ask().sendsForSession)
            // A sign-in of the same browser is noticed at once, one of another browser is not.
            try await browser.renew()
            #expect(try await browser.ask().isOfNobody)
            var other = Browser(world.server)
            try await other.signIn()
            #expect(try await browser.ask().isOfNobody)
            try await browser.home.signIn()
            #expect(try await browser.ask().sendsForSession)
            try await browser.renew()
            #expect(try await browser.ask().json["userStatus"]?.string == "notConnected")
        }
    }

    @Test("A site's host notices at once that an app bought a session in its web view", arguments: Backend.available)
    func bought(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            var browser = SiteBrowser(world, client)
            try await browser.renew()
            #expect(try await browser.ask().isOfNobody)
            let code = try await world.sessionCode(of: try await world.signIn())
            _ = try await browser.home.open("/auth/session/\(code)")
            #expect(try await browser.home.isSignedIn())
            #expect(try await browser.ask().sendsForSession)
        }
    }

    @Test("Two sites' hosts share no cookie value by which visitors could be compared, and both notice a sign-in")
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
            // The marks of a browser are six at most: more would be a cookie without end.
            for _ in 0..<8 { try await other.renew() }
            #expect(other.home.cookies["spindle_told"]?.split(separator: ".").count == 6)
        }
    }

    @Test("The session at a site's host ends with the session at our own host", arguments: Backend.available)
    func ends(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            var out = try await world.siteBrowser(client)
            _ = try await out.home.submit(try await out.home.open("/logout"))
            #expect(try await out.ask().sendsForSession)
            try await out.renew()
            #expect(try await out.ask().isOfNobody)

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
            #expect(try await disabled.ask().isOfNobody)

            #expect(try await world.change("users", world.user, ["disabled": false]).status == 200)
            var idle = try await world.siteBrowser(client)
            world.server.clock.advance(by: .hours(2))
            #expect(try await idle.ask().sendsForSession)
        }
    }

    @Test(
        "A user who signs out of one client is signed out at its site's host until they come back",
        arguments: Backend.available)
    func leaves(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.siteClient()
            var browser = try await world.siteBrowser(client)
            let logout = try await browser.home.open("/logout?logout_scope=client&client_id=\(client.id)")
            _ = try await browser.home.submit(logout)
            #expect(try await browser.ask().isOfNobody)
            let picker = try await browser.home.open(world.authorizeAddress(for: client))
            _ = try await browser.home.pick(try #require(picker.choices.first), on: picker)
            #expect(try await browser.ask().json["result"] == true)
        }
    }

    @Test("Disabling a client, or removing its host, ends its sessions at the site's host")
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
            #expect(try await browser.ask(as: sister).isOfNobody)
        }
    }

    @Test("SPiD's SDK for JavaScript asks session.<host> first, and is sent to our own host by a LoginException")
    func hostOfNobody() async throws {
        try await World.with(.sqlite) { world in
            let client = try await world.siteClient()
            var browser = SiteBrowser(world, client, host: "session.spindle.test")
            let answer = try await browser.ask("/rpc/hasSession.js?client_id=\(client.id)&x=")
            #expect(answer.body.contains("\"type\":\"LoginException\""), "\(answer)")
            #expect(answer.body.contains("\"result\":false"))
            #expect(try await browser.visit("/login").status == 404)
        }
    }
}
