import Authentication
import Directory
import JSON
import TestSupport
import Testing
import Values

@Suite("A client's page asks who uses the browser, and what they bought")
struct UserContextTests {
    private static let page = "https://www.loom.example"

    /// A client with pages, and a browser whose user has used it.
    private func story(
        _ backend: Backend, _ changes: KeyValuePairs<String, JSON> = [:],
        _ body: (World, _ client: World.Actor, inout BrowserUser) async throws -> Void
    ) async throws {
        try await World.with(backend) { world in
            let client = try await world.spidBackend(["web_origins": [.string(Self.page + "/shop")]])
            if !changes.isEmpty {
                let members = changes.map { JSON.Member($0.key, $0.value) }
                _ = try await world.change("clients", client.id, .object(members))
            }
            var visitor = try await world.signedIn()
            try await body(world, client, &visitor)
        }
    }

    private func query(_ client: World.Actor) -> String { "client_sdrn=sdrn:spid.no:client:\(client.id)&sdk_version=5" }

    @Test(
        "The user context tells a page the user's name if the user has used its client, and nothing otherwise",
        arguments: Backend.available)
    func context(_ backend: Backend) async throws {
        try await story(backend) { world, client, visitor in
            let path = "/user-context?" + query(client)
            let headers = ["Origin": Self.page]
            let before = try await visitor.browser.open(path, headers: headers)
            #expect(before.status == 200 && before.json == .object([]), "not connected: \(before)")
            _ = try await world.signIn(with: client)
            let answer = try await visitor.browser.open(path, headers: headers)
            let uuid = UserUUID(try #require(UserID(world.user))).description
            #expect(
                answer.json == [
                    "identifier": .string(uuid), "display_text": "Ada Lovelace", "client_name": "Loom in SPiD's ways",
                ])
            #expect(answer.header("access-control-allow-origin") == Self.page)
            #expect(answer.header("access-control-allow-credentials") == "true" && answer.header("vary") == "Origin")
            #expect(answer.header("cache-control") == "no-store")
            let nobody = try await world.server.get(path, headers: headers)
            #expect(nobody.status == 200 && nobody.json == .object([]))

            // The app hands the identifier on as a hint, which is no address to fill in: nor is one that an import
            // kept.
            for uuid in [uuid, "0A1B2C3D-0000-4000-8000-00000000000A"] {
                let hinted = try await world.server.get(world.authorizeAddress(["login_hint": uuid], for: client))
                #expect(!hinted.body.contains(uuid))
            }

            // After the user signs out of this client alone, it is told nothing.
            let out = try await visitor.browser.open(
                "/logout?logout_scope=client&client_id=\(client.id)", headers: ["Sec-Fetch-Site": "cross-site"])
            _ = try await visitor.browser.submit(out)
            #expect(try await visitor.browser.open(path, headers: headers).json == .object([]))
        }
    }

    @Test(
        "The user context is refused, and unreadable, to a page of another origin or of another client",
        arguments: Backend.available)
    func refused(_ backend: Backend) async throws {
        try await story(backend) { world, client, visitor in
            _ = try await world.signIn(with: client)
            let strict = try await world.confidential(["web_origins": [.string(Self.page)]])
            for path in ["/user-context", "/hasProduct/1", "/hasSubscription/1", "/hasAccess/1,2"] {
                for (query, origin, status) in [
                    (query(client), "https://evil.example", 403), (query(client), nil, 403),
                    (query(client), "null", 403), (query(strict), Self.page, 403),
                    ("client_sdrn=\(client.id)", Self.page, 400), ("", Self.page, 400),
                ] {
                    let answer = try await visitor.browser.open(
                        "\(path)?\(query)", headers: origin.map { ["Origin": $0] } ?? [:])
                    #expect(answer.status == status, "\(path) \(query) \(origin ?? "")")
                    #expect(answer.header("access-control-allow-origin") == nil && answer.header("vary") == "Origin")
                    #expect(!answer.body.contains("Ada"))
                }
            }
        }
    }

    @Test("The login_status redirect leads to the client's own pages only", arguments: Backend.available)
    func status(_ backend: Backend) async throws {
        try await story(backend) { world, client, visitor in
            let addresses = ["ok_session", "no_session", "no_user"].map {
                "&\($0)=" + TestServer.encode("\(Self.page)/shop/\($0)")
            }
            let path = "/login_status?client_id=\(client.id)&session_version=1" + addresses.joined()
            func place(_ answer: Answer) -> String? {
                answer.status == 302 ? answer.header("location")?.replacing(Self.page + "/shop/", with: "") : nil
            }
            #expect(place(try await world.server.get(path)) == "no_user")
            #expect(place(try await visitor.browser.open(path)) == "no_session")
            _ = try await world.signIn(with: client)
            #expect(place(try await visitor.browser.open(path)) == "ok_session")
            // A redirect URI is accepted, another page is not, with or without a session.
            let callback = path.replacing(addresses[2], with: "&no_user=" + TestServer.encode(client.redirectURI))
            #expect(try await world.server.get(callback).header("location") == client.redirectURI)
            for bad in ["https://evil.example/", Self.page + "/other", Self.page + "/shop/../x", "//evil.example", ""] {
                for (number, name) in ["ok_session", "no_session", "no_user"].enumerated() {
                    let answer = try await visitor.browser.open(
                        path.replacing(addresses[number], with: "&\(name)=" + TestServer.encode(bad)))
                    #expect(answer.status == 400 && answer.header("location") == nil, "\(name)=\(bad): \(answer)")
                }
            }
            let strict = try await world.confidential(["web_origins": [.string(Self.page)]])
            for id in [strict.id, "unknown"] {
                #expect(try await visitor.browser.open(path.replacing(client.id, with: id)).status == 400)
            }
        }
    }

    @Test(
        "SPiD's product queries, by script and by fetch, answer that the user has bought nothing",
        arguments: Backend.available)
    func products(_ backend: Backend) async throws {
        try await story(backend) { world, client, visitor in
            for name in ["hasproduct", "hassubscription"] {
                let path = "/ajax/\(name).js?callback=F&product_id=10010&client_id=\(client.id)"
                let answer = try await visitor.browser.open(path, headers: ["Referer": Self.page + "/shop"])
                let start = #"/**/SPiD.Talk.response('F', {"result":false,"productId":"10010","serverTime":"#
                #expect(
                    answer.status == 200 && answer.body.hasPrefix(start) && answer.body.contains(#""expiresIn":300"#))
                #expect(
                    try await visitor.browser.open(path, headers: ["Referer": "https://evil.example/"]).status == 403)
            }
            let headers = ["Origin": Self.page]
            for name in ["hasProduct", "hasSubscription"] {
                let answer = try await visitor.browser.open("/\(name)/10010?" + query(client), headers: headers)
                #expect(answer.json["result"] == false && answer.json["productId"] == "10010", "\(answer)")
            }
            let access = try await visitor.browser.open("/hasAccess/1,2?" + query(client), headers: headers)
            #expect(access.json == ["entitled": false, "allowedFeatures": [], "ttl": 300])
        }
    }

    @Test("A site cannot learn by an image whether a user is signed in", arguments: Backend.available)
    func embedded(_ backend: Backend) async throws {
        try await story(backend) { world, client, visitor in
            let page = Self.page + "/shop/logo.png"
            let status = ["ok_session", "no_session", "no_user"].map { "&\($0)=\(page)" }.joined()
            for path in [
                "/login_status?client_id=\(client.id)\(status)", "/logout?client_id=\(client.id)&redirect_uri=\(page)",
            ] {
                for (destination, isAnswered) in [("image", false), ("document", true)] {
                    let answer = try await world.server.get(path, headers: ["Sec-Fetch-Dest": destination])
                    #expect((answer.header("location") != nil) == isAnswered, "\(path), \(destination): \(answer)")
                }
            }
        }
    }
}
