import JSON
import TestSupport
import Testing

@Suite("A merchant's pages are in its colours")
struct BrandTests {
    @Test(
        "The sign-in page for a merchant's client has its brand stylesheet, and its logo as the only image",
        arguments: Backend.available)
    func page(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change(
                "merchants", world.merchant, ["accent_color": "#0A7F3C", "logo_uri": "https://cdn.loom.example/l.svg"])
            let page = try await world.server.get(world.authorizeAddress())
            let path = "/assets/brand/\(world.merchant).css"
            #expect(page.body.contains("href=\"\(path)\""))
            #expect(page.body.contains("src=\"https://cdn.loom.example/l.svg\""))
            let policy = try #require(page.header("content-security-policy"))
            #expect(policy.contains("img-src https://cdn.loom.example/l.svg"))
            #expect(policy.contains("style-src 'self'"))
            let style = try await world.server.get(path)
            #expect(style.status == 200)
            #expect(style.header("content-type") == "text/css; charset=utf-8")
            #expect(style.header("x-content-type-options") == "nosniff")
            #expect(style.header("cache-control")?.contains("max-age=") == true)
            #expect(style.body.contains("#0a7f3c"))
            let other = try await world.server.get(world.authorizeAddress(for: world.rivalBackend))
            #expect(!other.body.contains("/assets/brand/"))
            #expect(other.header("content-security-policy")?.contains("img-src") == false)
        }
    }

    @Test(
        "A merchant's logo cannot be at an address of this server, which a browser would open as the user",
        arguments: Backend.available)
    func ownAddress(backend: Backend) async throws {
        try await World.with(backend, settings: ["issuer": "https://login.loom.example"]) { world in
            for logo in ["https://login.loom.example/logout", "https://LOGIN.loom.example:443/x.png"] {
                let answer = try await world.server.send(
                    "PATCH", "/admin/v1/merchants/\(world.merchant)", json: ["logo_uri": .string(logo)],
                    bearer: world.admin)
                expectProblem(answer, 400, member: "logo_uri")
            }
        }
    }

    @Test("A page's content security policy names the logo's address without its query", arguments: Backend.available)
    func logoQuery(backend: Backend) async throws {
        try await World.with(backend) { world in
            let address = "https://cdn.loom.example/l.svg?v=2"
            try await world.change("merchants", world.merchant, ["logo_uri": .string(address)])
            let page = try await world.server.get(world.authorizeAddress())
            #expect(page.body.contains("src=\"\(address)\""))
            let policy = try #require(page.header("content-security-policy")).split(separator: "; ")
            #expect(policy.contains("img-src https://cdn.loom.example/l.svg"))
        }
    }

    @Test(
        "A registered origin or logo address that could add to the content security policy is refused",
        arguments: Backend.available)
    func policyCharacters(backend: Backend) async throws {
        try await World.with(backend) { world in
            for host in [
                "a;b", "a,b", "a'b", "*", "*.loom.example", "a_b", "a!b", "a(b)", "[::1", "[v1.x]", "a$b", "a&b",
            ] {
                let origin: JSON = .string("https://\(host)")
                let client = try await world.change("clients", world.app.id, ["web_origins": [origin]])
                expectProblem(client, 400, member: "web_origins")
                let merchant = try await world.change(
                    "merchants", world.merchant, ["logo_uri": .string("https://\(host)/l.svg")])
                expectProblem(merchant, 400, member: "logo_uri")
            }
            let good: JSON = [
                "https://www.loom.example", "https://xn--bcher-kva.example:8443", "http://localhost:3000",
                "https://[2001:db8::1]:8443", "http://127.0.0.1",
            ]
            let changed = try await world.change("clients", world.app.id, ["web_origins": good])
            #expect(changed.status == 200, "\(changed)")
        }
    }

    @Test(
        "A request for the brand stylesheet of no merchant, or of one without colours, gets 404",
        arguments: Backend.available)
    func unknown(backend: Backend) async throws {
        try await World.with(backend) { world in
            for name in ["nobody.css", "\(world.merchant).css", "\(world.merchant)", ".css", "%2e%2e.css"] {
                let answer = try await world.server.get("/assets/brand/\(name)")
                #expect(answer.status == 404, "\(name)")
            }
        }
    }

    @Test(
        "Pages for a first-party client may be framed by its registered origins, other clients' by none",
        arguments: Backend.available)
    func frames(backend: Backend) async throws {
        try await World.with(backend) { world in
            let stranger = try await world.stranger(["web_origins": ["https://stranger.example"]])
            let theirs = try await world.server.get(world.authorizeAddress(for: stranger))
            #expect(theirs.header("content-security-policy")?.contains("frame-ancestors 'none'") == true)
            #expect(theirs.header("x-frame-options") == "DENY")
            try await world.change("clients", world.app.id, ["web_origins": ["https://www.loom.example"]])
            let own = try await world.server.get(world.authorizeAddress())
            let policy = try #require(own.header("content-security-policy"))
            #expect(policy.contains("frame-ancestors https://www.loom.example"))
            #expect(!policy.contains("'none' https"))
            #expect(own.header("x-frame-options") == nil)
        }
    }

    @Test(
        "A page on which one click confirms something cannot be framed, not even by a first-party client",
        arguments: Backend.available)
    func unframed(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("clients", world.app.id, ["web_origins": ["https://www.loom.example"]])
            func check(_ page: Answer, _ action: String, isFramable: Bool) {
                #expect(page.status == 200 && page.formAction?.hasPrefix(action) == true, "\(action): \(page)")
                let policy = page.header("content-security-policy") ?? ""
                let framers = policy.firstMatch(of: /frame-ancestors ([^;]+)/).map { String($0.output.1) }
                #expect(framers == (isFramable ? "https://www.loom.example" : "'none'"), "\(action)")
                #expect(page.header("x-frame-options") == (isFramable ? nil : "DENY"), "\(action)")
            }
            let address = world.authorizeAddress()
            var visitor = BrowserUser(world)
            let login = try await visitor.browser.open(address)
            check(login, "/login", isFramable: true)
            let waiting = try #require(login.fields["continue"])
            check(try await visitor.browser.open("/signup?continue=\(waiting)"), "/signup", isFramable: true)
            check(try await visitor.browser.open("/password?continue=\(waiting)"), "/password", isFramable: true)
            let code = try await visitor.press(login, action: "/login/code", ["email": World.email])
            check(code, "/login/code/check", isFramable: true)
            let asked = try await visitor.signUp("grace@example.com", continueTo: address)
            check(asked, "/signup/check", isFramable: true)
            let link = try #require(
                try await world.server.mail.letter(to: "grace@example.com").link(containing: "/signup/confirm/"))
            let confirm = try await visitor.browser.open(link.replacing("http://spindle.test", with: ""))
            check(confirm, "/signup/confirm/", isFramable: false)

            var ada = try await world.signedIn()
            check(try await ada.browser.open("/logout?client_id=\(world.app.id)"), "/logout", isFramable: false)
            #expect(try await ada.fill("/account/delete", ["current_password": World.password]).status == 200)
            let restore = try await ada.fill(address, ["email": World.email, "password": World.password])
            check(restore, "/account/restore", isFramable: false)
        }
    }
}
