import JSON
import TestSupport
import Testing
import Values

@Suite("Logout as SPiD's clients ask for it")
struct SPiDLogoutTests {
    // MARK: Links that name the client

    private static let page = "https://www.loom.example/news/today?a=b"

    /// SPiD's SDK for PHP without a token, the one for browsers, and the old one for JavaScript.
    private static let links: [@Sendable (String, String) -> String] = [
        { "/logout?redirect_uri=\($1)&oauth_token=\($0)&v=2.4.5&xiti_json=%7B%7D" },
        { "/logout?client_sdrn=sdrn%3Aspid.no%3Aclient%3A\($0)&redirect_uri=\($1)&sdk_version=4.0.0" },
        { "/logout?response_type=code&client_id=\($0)&redirect_uri=\($1)" },
        { "/logout?client_id=\($0)&oauth_token=\($0)&redirect_uri=\($1)" },
    ]

    @Test(
        "A logout link naming its client as SPiD's SDKs do asks first, then leads to that client's address",
        arguments: Backend.available)
    func back(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend(["web_origins": ["https://www.loom.example/news"]])
            for (number, link) in Self.links.enumerated() {
                for target in [spid.redirectURI, Self.page] {
                    let address = link(spid.id, TestServer.encode(target))
                    var browser = Browser(world.server)
                    try await browser.signIn()
                    let asked = try await browser.open(address, headers: ["Sec-Fetch-Site": "cross-site"])
                    #expect(asked.status == 200 && asked.body.contains("Sign out?"), "\(number): \(asked)")
                    #expect(try await browser.isSignedIn())
                    let out = try await browser.submit(asked)
                    #expect(out.status == 302 && out.header("location") == target, "\(number)")
                    #expect(browser.session == nil)
                    // Now there is no session.
                    #expect(try await browser.open(address).header("location") == target)
                }
            }
            let stated = try await world.server.get(
                "/logout?client_id=\(spid.id)&state=s&redirect_uri=\(TestServer.encode(Self.page + "#top"))")
            #expect(stated.header("location") == Self.page + "&state=s")
        }
    }

    @Test(
        "A logout request ends the token in its header, even with a client id as its oauth_token",
        arguments: Backend.available)
    func besideToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            let tokens = try await world.signIn(with: spid)
            let token = try tokens.require("access_token")
            let target = TestServer.encode(spid.redirectURI)
            let path = "/logout?oauth_token=\(spid.id)"
            let back = try await world.server.get("\(path)&redirect_uri=\(target)", bearer: token)
            #expect(back.status == 302 && back.header("location") == spid.redirectURI, "\(back)")
            #expect(try await !world.isLive(token))
            #expect(try await world.refresh(tokens.require("refresh_token"), as: spid).error == "invalid_grant")
            let other = try await world.signIn(with: spid).require("access_token")
            #expect(try await world.server.get(path, bearer: other).json["result"] == "OK")
            #expect(try await world.server.get(path, bearer: other).status == 401)
        }
    }

    @Test(
        "A SPiD client's logout link without a redirect URI leads to the only one that the client registered",
        arguments: Backend.available)
    func usual(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend()
            for link in [
                "/logout?oauth_token=\(spid.id)", "/logout?client_id=\(spid.id)",
                "/logout?client_sdrn=sdrn:spid.no:client:\(spid.id)",
            ] {
                #expect(try await world.server.get(link).header("location") == spid.redirectURI)
            }
            // A device's logout gets JSON and no redirect.
            let grant: KeyValuePairs = ["grant_type": "password", "username": World.email, "password": World.password]
            let token = try await world.token(grant, as: spid).require("access_token")
            let out = try await world.server.get("/logout?client_id=\(spid.id)&oauth_token=\(token)")
            #expect(out.status == 200 && out.json["result"] == "OK")
            #expect(try await !world.isLive(token))
            // With two redirect URIs the link leads nowhere, unless one is for logouts.
            let two: JSON = ["redirect_uris": [.string(spid.redirectURI), "https://backend.example/two"]]
            #expect(try await world.change("clients", spid.id, two).status == 200)
            #expect(try await world.server.get("/logout?client_id=\(spid.id)").header("location") == nil)
            let bye = "https://backend.example/bye"
            _ = try await world.change("clients", spid.id, ["post_logout_redirect_uris": [.string(bye)]])
            #expect(try await world.server.get("/logout?client_id=\(spid.id)").header("location") == bye)
        }
    }

    @Test(
        "A logout link leads only to its own client's addresses, and names a client in SPiD's forms only",
        arguments: Backend.available)
    func elsewhere(backend: Backend) async throws {
        try await World.with(backend) { world in
            let spid = try await world.spidBackend(["web_origins": ["https://www.loom.example/news"]])
            for bad in [
                "https://evil.example/", "https://www.loom.example/", "https://www.loom.example/newspaper",
                "https://www.loom.example/news/../admin", "https://www.loom.example/news/%2E%2e/admin",
                "https://www.loom.example/news/..%2fadmin", "https://www.loom.example/news/%252e%252e/admin",
                "https://www.loom.example/news\\..\\admin", "https://www.loom.example@evil.example/news",
                "https://user@www.loom.example/news", "https://www.loom.example\\@evil.example/news",
                "https://www.loom.example/news%0d%0aSet-Cookie:a=b", "//www.loom.example/news", "/news",
                "http://www.loom.example/news", "https://www.loom.example:8443/news", "https://WWW.loom.example/news",
                "javascript://www.loom.example/news%0aalert(1)",
            ] {
                for link in Self.links {
                    let out = try await world.server.get(link(spid.id, TestServer.encode(bad)))
                    #expect(out.header("location") == nil, "\(bad)")
                }
            }
            let target = TestServer.encode(world.backend.redirectURI)
            for name in [
                "client_sdrn=sdrn:spid.no:client:\(world.backend.id)", "client_sdrn=\(spid.id)",
                "client_sdrn=sdrn:spid.no:user:\(spid.id)", "client_sdrn=sdrn:spid.no:client:\(spid.id):x",
                "client_sdrn=sdrn::client:\(spid.id)", "client_sdrn=xsdrn:spid.no:client:\(spid.id)",
                "client_id=nobody&client_sdrn=sdrn:spid.no:client:\(spid.id)",
                "client_id=nobody&oauth_token=\(spid.id)",
            ] {
                let out = try await world.server.get("/logout?\(name)&redirect_uri=\(target)")
                #expect(out.header("location") == nil, "\(name)")
            }
            // A client without SPiD compatibility is named by client_id only, and its pages do not count.
            let out = try await world.server.get("/logout?oauth_token=\(world.backend.id)&redirect_uri=\(target)")
            #expect(out.status == 401)
            _ = try await world.change("clients", world.backend.id, ["web_origins": ["https://www.loom.example"]])
            let page = try await world.server.get(
                "/logout?client_id=\(world.backend.id)&redirect_uri=\(TestServer.encode(Self.page))")
            #expect(page.header("location") == nil)
            #expect(try await world.server.get("/logout?client_id=\(world.backend.id)").header("location") == nil)
        }
    }

    // MARK: Links with a token

    @Test(
        "A logout link with a token that the browser's session got ends both at once, and redirects back",
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
                    // The session's cookie also remembers the user.
                    #expect(out.setCookie("spindle_session")?.contains("Max-Age=0") == true)
                    #expect(try await !browser.isSignedIn())
                    #expect(try await !world.isLive(token))
                    #expect(try await world.refresh(try phone.require("refresh_token")).error == "invalid_grant")
                }
            }
        }
    }

    @Test(
        "A logout link with an ended or unknown token asks the user first, and then redirects back",
        arguments: Backend.available)
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
            // The page leads on to where the link would have.
            var browser = Browser(world.server)
            try await browser.signIn()
            let page = try await browser.open(link(world, token: "none", namesClient: true))
            #expect(try await browser.submit(page).header("location") == World.webview)
            let signedOut = try await browser.open(
                link(world, token: expired, namesClient: false), headers: ["Sec-Fetch-Dest": "document"])
            #expect(signedOut.status == 302 && signedOut.header("location") == World.webview)
        }
    }

    @Test(
        "A logout link with the token that bought a web view's session signs the web view out at once",
        arguments: Backend.available)
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
        "A logout link with another device's token, or loaded as an image, does not sign the browser out",
        arguments: Backend.available)
    func otherDevice(backend: Backend) async throws {
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

    @Test("A device's logout request with an unknown token gets 401", arguments: Backend.available)
    func device(backend: Backend) async throws {
        try await World.with(backend) { world in
            let answer = try await world.server.get(link(world, token: "none", namesClient: true))
            #expect(answer.status == 401)
        }
    }

    @Test("A logout link with another user's token does not sign the browser's user out", arguments: Backend.available)
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

    // MARK: Through the API

    @Test(
        "Logout through SPiD's API with a user's token ends it, its refresh token and the sessions it bought",
        arguments: Backend.available)
    func user(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let phone = try await world.signIn(scope: "email offline_access")
            let other = try await world.signIn(scope: "email offline_access")
            let code = try await world.sessionCode(of: phone)
            var webview = Browser(world.server)
            #expect(try await webview.open("/session/\(code)").status == 302)
            #expect(try await webview.isSignedIn())

            let token = try phone.require("access_token")
            let answer = try await world.api("logout.json", token)
            #expect(answer.status == 200 && answer.data == "OK" && answer.json["type"] == "element")
            #expect(try await !world.isLive(token))
            #expect(try await world.refresh(try phone.require("refresh_token")).error == "invalid_grant")
            #expect(try await !webview.isSignedIn())
            #expect(try await world.isLive(try other.require("access_token")), "another device was signed out")
            let again = try await world.api("logout", token)
            #expect(again.status == 401 && again.json["error"] == "invalid_token")
        }
    }

    @Test(
        "Logout through SPiD's API with a client's own token ends it and the refresh token given with it",
        arguments: Backend.available)
    func client(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let own = try await world.spidBackend()
            let answer = try await world.token(["grant_type": "client_credentials"], as: own)
            let token = try answer.require("access_token")
            #expect(try await world.api("clients", token).status == 200)
            #expect(try await world.api("logout", token).data == "OK")
            #expect(try await world.api("clients", token).status == 401)
            #expect(try await world.refresh(try answer.require("refresh_token"), as: own).status == 400)

            // A token without a refresh token ends alone.
            let (first, second) = (
                try await world.clientToken(world.backend), try await world.clientToken(world.backend)
            )
            #expect(try await world.api("logout", first).data == "OK")
            #expect(try await world.api("logout", first).status == 401)
            #expect(try await world.introspect(second, as: world.backend).json["active"] == true)
        }
    }

    @Test("A logout through SPiD's API without a token is refused")
    func none() async throws {
        try await World.with(.sqlite) { world in
            let answer = try await world.api("logout", nil)
            #expect(answer.status == 401 && answer.json["type"] == "OAuthException")
        }
    }
}
