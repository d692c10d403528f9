import JSON
import Storage
import TestSupport
import Testing

@Suite("The start page of development mode shows clients and users, at the issuer's own host only")
struct DevelopmentHomeTests {
    /// Runs `body` with a server that has the clients and users of development mode.
    private func serving(
        _ backend: Backend = .sqlite, _ body: (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with(backend, settings: ["issuer": TestServer.developmentIssuer], isDevelopment: true) {
            server in
            try await server.prepareDevelopment(redirectURIs: ["com.example.app:/back", "http://localhost:3000/back"])
            try await body(server)
        }
    }

    @Test("The start page shows every client, its secret and redirect URIs, and the three users")
    func home() async throws {
        try await serving { server in
            let page = try await server.home("/")
            #expect(page.status == 200)
            for id in ["dev", "dev_backend", "dev_machine", "dev_admin", "sync_gateway"] {
                #expect(page.body.contains("<code class=\"copy\">\(id)</code>"), "\(id)")
            }
            for address in ["com.example.app:/back", "http://localhost:3000/back", TestServer.developmentIssuer] {
                #expect(page.body.contains("<code class=\"copy\">\(address)</code>"), "\(address)")
            }
            for name in ["alice", "bob", "carol"] { #expect(page.body.contains("\(name)@dev.example"), "\(name)") }
            #expect(page.body.contains("http://127.0.0.1/.well-known/openid-configuration"))
            // A server-side app has no custom scheme.
            let backend = try #require(page.body.split(separator: "<section").first { $0.contains(", confidential") })
            #expect(backend.contains("http://localhost:3000/back") && !backend.contains("com.example.app"))
            #expect(backend.contains("http://127.0.0.1/development/answer?client_id=dev_backend"))
        }
    }

    @Test("The shown secrets work, and stay the same at the next start", arguments: Backend.available)
    func secrets(backend: Backend) async throws {
        try await serving(backend) { server in
            let machine = try await server.shownSecret(of: "dev_machine")
            let form: KeyValuePairs = ["grant_type": "client_credentials"]
            let token = try await server.post("/oauth/token", form, basic: ("dev_machine", machine))
            #expect(token.status == 200 && token.json["scope"] == "read write")

            let admin = try await server.shownSecret(of: "dev_admin")
            let administration = try await server.post(
                "/oauth/token", ["grant_type": "client_credentials", "scope": "admin"], basic: ("dev_admin", admin))
            let listed = try await server.get(
                "/admin/v1/clients", bearer: try administration.require("access_token"))
            #expect(listed.status == 200)

            try await server.prepareDevelopment()
            #expect(try await server.shownSecret(of: "dev_machine") == machine)
            #expect(try await server.home("/").body.contains("com.example.app:/back"))
        }
    }

    @Test("A secret that was replaced is not shown")
    func replaced() async throws {
        try await serving { server in
            let secret = try await server.shownSecret(of: "dev_backend")
            try await server.database.write { db in
                try db.execute("DELETE FROM client_secrets WHERE client_id = 'dev_backend'")
            }
            let page = try await server.home("/")
            #expect(!page.body.contains(secret))
            #expect(page.body.contains("<code class=\"copy\">dev_backend</code>"))
        }
    }

    @Test("Pages with secrets answer 421 at any other host, and no other origin may read or frame them")
    func hosts() async throws {
        try await serving { server in
            let paths = ["/", "/development/answer?code=x", "/development/mails", "/development/requests"]
            for path in paths {
                for host in ["evil.example", "127.0.0.1.evil.example", "127.0.0.1:8080", "localhost"] {
                    let refused = try await server.get(path, headers: ["Host": host])
                    #expect(refused.status == 421 && !refused.isPage, "\(path) at \(host)")
                    #expect(!refused.body.contains("dev_"))
                }
                let page = try await server.get(
                    path, headers: ["Host": "127.0.0.1", "Origin": "https://evil.example"])
                #expect(page.header("cross-origin-resource-policy") == "same-origin", "\(path)")
                #expect(page.header("access-control-allow-origin") == nil)
            }
            for path in paths where !path.contains("code=") {
                let page = try await server.home(path)
                #expect(page.isPage && page.header("x-frame-options") == "DENY", "\(path)")
                #expect(page.header("content-security-policy")?.contains("frame-ancestors 'none'") == true)
            }
            for path in ["/development/answer/call", "/development/redirect-uri"] {
                #expect(try await server.post(path, [:], headers: ["Host": "evil.example"]).status == 421)
                let foreign = try await server.post(
                    path, ["call": "client_credentials", "client_id": "dev_admin"], headers: ["Host": "127.0.0.1"])
                #expect(foreign.status == 403, "\(path)")
            }
        }
    }

    @Test("Without --dev there is no start page, no record of mails and requests, and no reason in an answer")
    func absent() async throws {
        try await World.with(.sqlite) { world in
            for path in ["/", "/development/mails", "/development/requests", "/development/copy.js"] {
                #expect(try await world.server.home(path, at: "spindle.test").status == 404, "\(path)")
            }
            let refused = try await world.server.post(
                "/oauth/token", ["grant_type": "client_credentials"], basic: (world.backend.id, "wrong"))
            #expect(refused.error == "invalid_client" && refused.json["reason"] == nil)
            let page = try await world.server.get("/oauth/authorize?client_id=unknown")
            #expect(page.status == 400 && !page.body.contains("reason"))
            #expect(world.server.log.says("unknown_client"))
        }
    }
}

extension TestServer {
    /// An issuer whose own page can be a redirect URI, which is http at this machine only.
    static let developmentIssuer = "http://127.0.0.1"

    /// A page for developers, at the issuer's own host.
    func home(_ path: String, at host: String = "127.0.0.1") async throws -> Answer {
        try await get(path, headers: ["Host": host])
    }

    /// The secret that the start page shows.
    func shownSecret(of client: String) async throws -> String {
        let sections = try await home("/").body.split(separator: "<section")
        let section = try #require(sections.first { $0.contains("<h2><code>\(client)</code>") })
        let secret = section.firstMatch(of: /<dt>client_secret<\/dt>\n<dd><code class="copy">([^<]+)</)
        return String(try #require(secret).output.1)
    }
}
