import JSON
import TestSupport
import Testing

@Suite("Logout as SPiD's clients ask for it")
struct LogoutNamingTests {
    private static let page = "https://www.loom.example/news/today?a=b"

    /// SPiD's SDK for PHP without a token, the one for browsers, and the old one for JavaScript.
    private static let links: [@Sendable (String, String) -> String] = [
        { "/logout?redirect_uri=\($1)&oauth_token=\($0)&v=2.4.5&xiti_json=%7B%7D" },
        { "/logout?client_sdrn=sdrn%3Aspid.no%3Aclient%3A\($0)&redirect_uri=\($1)&sdk_version=4.0.0" },
        { "/logout?response_type=code&client_id=\($0)&redirect_uri=\($1)" },
        { "/logout?client_id=\($0)&oauth_token=\($0)&redirect_uri=\($1)" },
    ]

    @Test(
        "A logout link that names its client as SPiD's SDKs do asks first, then leads to an address of that client",
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
                    // Nobody is signed in now.
                    #expect(try await browser.open(address).header("location") == target)
                }
            }
            let stated = try await world.server.get(
                "/logout?client_id=\(spid.id)&state=s&redirect_uri=\(TestServer.encode(Self.page + "#top"))")
            #expect(stated.header("location") == Self.page + "&state=s")
        }
    }

    @Test(
        "A token in the header ends, also if the link has the client's id in place of a token",
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
        "A logout link without an address leads to the only one that its client registered",
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
            // A device's logout is no link: it gets its answer.
            let grant: KeyValuePairs = ["grant_type": "password", "username": World.email, "password": World.password]
            let token = try await world.token(grant, as: spid).require("access_token")
            let out = try await world.server.get("/logout?client_id=\(spid.id)&oauth_token=\(token)")
            #expect(out.status == 200 && out.json["result"] == "OK")
            #expect(try await !world.isLive(token))
            // Which of two it is nobody can tell, but for one that is for logouts.
            let two: JSON = ["redirect_uris": [.string(spid.redirectURI), "https://backend.example/two"]]
            #expect(try await world.change("clients", spid.id, two).status == 200)
            #expect(try await world.server.get("/logout?client_id=\(spid.id)").header("location") == nil)
            let bye = "https://backend.example/bye"
            _ = try await world.change("clients", spid.id, ["post_logout_redirect_uris": [.string(bye)]])
            #expect(try await world.server.get("/logout?client_id=\(spid.id)").header("location") == bye)
        }
    }

    @Test(
        "A logout link leads to no address that is not its client's, and names a client in no other form",
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
            // Another kind of client has to say who it is; its pages are not asked for.
            let out = try await world.server.get("/logout?oauth_token=\(world.backend.id)&redirect_uri=\(target)")
            #expect(out.status == 401)
            _ = try await world.change("clients", world.backend.id, ["web_origins": ["https://www.loom.example"]])
            let page = try await world.server.get(
                "/logout?client_id=\(world.backend.id)&redirect_uri=\(TestServer.encode(Self.page))")
            #expect(page.header("location") == nil)
            #expect(try await world.server.get("/logout?client_id=\(world.backend.id)").header("location") == nil)
        }
    }
}
