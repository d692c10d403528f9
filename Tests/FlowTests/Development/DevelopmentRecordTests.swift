import JSON
import TestSupport
import Testing

@Suite("Development mode shows mails, requests and the reason of each refusal, and registers redirect URIs")
struct DevelopmentRecordTests {
    private static let host = ["Host": "spindle.test"]

    @Test("The requests page shows the last hundred requests with status and reason, and no password or whole token")
    func requests() async throws {
        try await World.with(.sqlite, isDevelopment: true) { world in
            let refused = try await world.server.post(
                "/oauth/token", ["grant_type": "password", "username": "ada@x.example", "password": "kept-to-ada"],
                basic: (world.backend.id, "wrong"))
            #expect(refused.status == 401)
            let page = try await world.server.home("/development/requests", at: "spindle.test")
            #expect(page.body.contains("<summary><code>POST /oauth/token</code> 401 Unauthorized, reason: "))
            #expect(page.body.contains("reason: <code>\(try refused.require("reason"))</code>"))
            #expect(page.body.contains("<dd><code>ada@x.example</code></dd>"))
            #expect(page.body.contains("<dd><code>Basic \(world.backend.id):…</code></dd>"))
            #expect(!page.body.contains("kept-to-ada"))
            _ = try await world.server.post(
                "/oauth/token",
                [
                    "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": "header.claims.signature",
                    "client_id": world.backend.id, "client_secret": "kept-by-the-backend",
                ])
            let masked = try await world.server.home("/development/requests", at: "spindle.test").body
            #expect(masked.contains("header.clai…"))
            #expect(!masked.contains("signature") && !masked.contains("kept-by-the-backend"))

            for _ in 1...101 { _ = try await world.server.get("/no-such-page") }
            let later = try await world.server.home("/development/requests", at: "spindle.test")
            #expect(later.body.matches(of: /<summary>/).count == 100)
            #expect(!later.body.contains("/oauth/token"))
        }
    }

    @Test("A refusal names the log's reason: in JSON, on a page, and in a redirect")
    func reasons() async throws {
        try await World.with(.sqlite, isDevelopment: true) { world in
            let refused = try await world.server.post(
                "/oauth/token", ["grant_type": "refresh_token", "refresh_token": "x"], basic: world.backend.basic)
            let reason = try refused.require("reason")
            #expect(refused.error == "invalid_grant" && world.server.log.says("reason=\(reason)"))

            let page = try await world.server.get("/oauth/authorize?client_id=unknown")
            #expect(page.body.contains("<p>reason: <code>unknown_client</code></p>\n</aside>"))

            let silent = try await world.server.get(world.authorizeAddress(["prompt": "none"]))
            #expect(silent.redirected("error") == "login_required")
            let told = try #require(silent.redirected("reason"))
            #expect(world.server.log.says("reason=\(told)"))
        }
    }

    @Test("The mails page shows each mail with its code and link")
    func mails() async throws {
        try await World.with(.sqlite, isDevelopment: true) { world in
            #expect(
                try await world.server.home("/development/mails", at: "spindle.test").body.contains(
                    "There is none yet."))
            var browser = Browser(world.server)
            let form = try await browser.open("/password")
            _ = try await browser.submit(form, ["email": World.email])
            let mail = try await world.server.mail.letter(to: World.email)
            let page = try await world.server.home("/development/mails", at: "spindle.test")
            #expect(page.body.contains("<p>To <code>\(World.email)</code>"))
            let link = try #require(mail.link(containing: "/password"))
            #expect(page.body.contains("<a href=\"\(link)\">\(link)</a>"))
        }
    }

    @Test("An unregistered redirect URI can be registered on the page that refuses it, and the request goes on")
    func registers() async throws {
        try await World.with(.sqlite, isDevelopment: true) { world in
            var browser = Browser(world.server)
            let request = world.authorizeAddress(["redirect_uri": "http://localhost:5173/back?x=1"])
            let refused = try await browser.open(request)
            #expect(refused.status == 400 && refused.formAction == "/development/redirect-uri")
            let added = try await browser.submit(refused, headers: Self.host)
            #expect(added.status == 303 && added.header("location") == request)
            let onward = try await browser.open(request)
            #expect(onward.status == 303 && onward.header("location")?.hasPrefix("/development/sign-in") == true)
            let client = try await world.server.get("/admin/v1/clients/\(world.app.id)", bearer: world.admin).json
            #expect(client["redirect_uris"]?.strings?.last == "http://localhost:5173/back?x=1")
            #expect(client["redirect_uris"]?.strings?.count == 4)
            #expect(client["web_origins"]?.strings == ["http://localhost:5173"])

            // What no client may register has no form.
            let unfit = try await browser.open(world.authorizeAddress(["redirect_uri": "http://evil.example/"]))
            #expect(unfit.status == 400 && unfit.formAction == nil)
        }
    }

    @Test("Only the page of this browser registers a redirect URI, and never without --dev")
    func guarded() async throws {
        let form: KeyValuePairs = ["client_id": "dev", "redirect_uri": "https://evil.example/", "continue": "/"]
        try await World.with(.sqlite, isDevelopment: true) { world in
            let foreign = try await world.server.post("/development/redirect-uri", form, headers: Self.host)
            #expect(foreign.status == 403)
        }
        try await World.with(.sqlite) { world in
            let refused = try await world.server.get(
                world.authorizeAddress(["redirect_uri": "https://elsewhere.example/"]))
            #expect(refused.status == 400 && refused.formAction == nil)
            #expect(try await world.server.post("/development/redirect-uri", form, headers: Self.host).status == 404)
        }
    }
}
