import JSON
import Storage
import TestSupport
import Testing

@Suite("Self-registered clients: their pages (RFC 7591 §5), and how links lead to them (RFC 9700 §4.11.2)")
struct SelfRegisteredClientTests {
    private static let bye = "https://rp.example/bye"
    /// The headers of a request whose answer the browser will show.
    private static let shown = ["Sec-Fetch-Dest": "document"]

    @Test(
        "A new browser's invalid request for a self-registered client gets a page with a link, not a redirect",
        arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register(["client_name": "Ravel"]).actor
            let faults: [KeyValuePairs<String, String>] = [
                ["scope": "nonsense"], ["response_type": "device"], ["prompt": "none login"], ["max_age": "x"],
                ["request": "x"], ["request_uri": "https://rp.example/o"], ["registration": "x"],
                ["prompt": "none", "scope": "nonsense"],
            ]
            for fault in faults {
                let page = try await world.server.get(world.authorizeAddress(fault, for: client), headers: Self.shown)
                #expect(page.status == 400 && page.isPage, "\(fault): \(page)")
                #expect(page.header("location") == nil)
                #expect(page.words.contains("Ravel") && page.words.contains("You are about to leave"))
                // The user may follow the link.
                #expect(page.body.contains("href=\"\(World.returnURI)?error="))
                #expect(page.header("content-security-policy")?.contains("form-action 'self'") == true)
            }
            let fragment = try await world.server.get(
                world.authorizeAddress(["response_mode": "fragment", "scope": "nonsense"], for: client))
            #expect(fragment.status == 400 && fragment.body.contains("href=\"\(World.returnURI)#error=invalid_scope"))
        }
    }

    @Test(
        "With form_post the error page for a self-registered client sends the error by a form without script",
        arguments: Backend.available)
    func form(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register(["client_name": "Ravel"]).actor
            let page = try await world.server.get(
                world.authorizeAddress(["response_mode": "form_post", "scope": "nonsense"], for: client))
            #expect(page.status == 400 && page.words.contains("You are about to leave"))
            #expect(page.formAction == World.returnURI && page.body.contains("<form method=\"post\""))
            #expect(page.fields["error"] == "invalid_scope" && page.fields["state"] == "xyz")
            #expect(page.fields["error_description"]?.isEmpty == false)
            #expect(page.fields["iss"] == "http://spindle.test")
            #expect(page.body.contains("<button type=\"submit\">") && !page.body.contains("href=\"https://rp."))
            #expect(!page.body.contains("<script"))
            let policy = try #require(page.header("content-security-policy"))
            #expect(!policy.contains("form-action") && !policy.contains("script-src"), "\(policy)")
            #expect(policy.contains("frame-ancestors 'none'"))
        }
    }

    @Test(
        "Errors of prompt=none are sent to a self-registered client without a click, in the requested mode",
        arguments: Backend.available)
    func silent(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register().actor
            let device = try await world.register([
                "application_type": "native", "token_endpoint_auth_method": "none",
                "redirect_uris": ["http://127.0.0.1/back"],
            ]).actor
            var nobody = Browser(world.server)
            var ada = Browser(world.server)
            try await ada.signIn()
            func error(
                _ browser: inout Browser, at client: World.Actor, _ mode: String = "query",
                headers: [String: String] = Self.shown
            ) async throws -> String? {
                let answer = try await browser.open(
                    world.authorizeAddress(["prompt": "none", "scope": "openid", "response_mode": mode], for: client),
                    headers: headers)
                guard mode != "form_post" else {
                    #expect(answer.status == 200 && answer.formAction == client.redirectURI, "\(answer)")
                    return answer.fields["error"]
                }
                let mark = mode == "fragment" ? "#" : "?"
                let location = try #require(answer.header("location"), "\(answer)")
                #expect(answer.status == 302 && location.hasPrefix(client.redirectURI + mark))
                return location.firstMatch(of: /error=(\w+)/).map { String($0.output.1) }
            }
            for mode in ["query", "fragment", "form_post"] {
                #expect(try await error(&nobody, at: client, mode) == "login_required")
                #expect(try await error(&ada, at: client, mode) == "consent_required")
            }
            for headers in [["Sec-Fetch-Dest": "iframe"], [:]] {
                #expect(try await error(&nobody, at: client, headers: headers) == "login_required")
            }
            // The same after the user allowed the client.
            for client in [client, device] {
                let page = try await ada.open(world.authorizeAddress(["scope": "openid"], for: client))
                _ = try await world.allow(page, in: &ada, ticking: page.boxes).requireRedirected("code")
            }
            #expect(try await error(&ada, at: device) == "interaction_required")
            _ = try await ada.submit(try await ada.open("/logout"))
            #expect(try await error(&ada, at: client) == "login_required")
        }
    }

    @Test("A faulty prompt=none request in a frame redirects the browser to a self-registered client")
    func framed() async throws {
        try await World.with(.sqlite) { world in
            let client = try await world.register().actor
            let address = world.authorizeAddress(["prompt": "none", "scope": "nonsense"], for: client)
            for headers in [["Sec-Fetch-Dest": "iframe"], [:]] {
                let answer = try await world.server.get(address, headers: headers)
                #expect(answer.redirected("error") == "invalid_scope")
            }
        }
    }

    @Test("A self-registered client gets errors by redirect in a browser that has shown the client's login page")
    func known() async throws {
        try await World.with(.sqlite) { world in
            let client = try await world.register().actor
            var browser = Browser(world.server)
            // The user has seen the login page, and cancelled there.
            let login = try await browser.open(world.authorizeAddress(["scope": "openid"], for: client))
            let left = try await browser.submit(
                login, ["decision": "cancel", "request": try #require(login.fields["request"])], to: "/oauth/consent")
            #expect(left.redirected("error") == "access_denied")
            // The user has allowed the client.
            _ = try await world.consented(in: &browser, ["scope": "openid"], for: client)
            for (fault, error) in [("scope", "invalid_scope"), ("request", "invalid_request_object")] {
                let refused = try await browser.open(
                    world.authorizeAddress([fault: "nonsense"], for: client), headers: Self.shown)
                #expect(refused.redirected("error") == error, "\(refused)")
            }
            let own = try await world.server.get(world.authorizeAddress(["scope": "nonsense"]))
            #expect(own.redirected("error") == "invalid_scope")
        }
    }

    @Test(
        "The return from sign-up to a self-registered client is a page with a link, not a redirect",
        arguments: Backend.available)
    func signUpReturn(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register().actor
            func path(_ client: World.Actor) -> String {
                "/signup/return?client_id=\(client.id)&redirect_uri=\(TestServer.encode(client.redirectURI))"
            }
            let page = try await world.server.get(path(client))
            #expect(page.status == 200 && page.isPage && page.header("location") == nil)
            #expect(page.body.contains("href=\"\(World.returnURI)\""))
            #expect(try await world.server.get(path(world.app)).header("location") == world.app.redirectURI)
        }
    }

    @Test(
        "A logout without confirmation shows a link to a self-registered client; a confirmed one redirects",
        arguments: Backend.available)
    func logout(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register(["post_logout_redirect_uris": [.string(Self.bye)]]).actor
            let path =
                "/logout?client_id=\(client.id)&state=s&post_logout_redirect_uri=\(TestServer.encode(Self.bye))"
            let page = try await world.server.get(path)
            #expect(page.status == 200 && page.isPage && page.header("location") == nil)
            #expect(page.body.contains("href=\"\(Self.bye)?state=s\""))
            // After the form of our own page the browser is redirected.
            var browser = Browser(world.server)
            try await browser.signIn()
            let out = try await browser.submit(
                try await browser.open(path, headers: ["Sec-Fetch-Site": "cross-site"]))
            #expect(out.header("location") == Self.bye + "?state=s")
            #expect(browser.session == nil)
        }
    }

    // MARK: Pages

    private static let logo = "https://loom.example/logo.png"

    @Test(
        "A self-registered client's pages lack the merchant's look; the consent says it registered itself",
        arguments: Backend.available)
    func nobodys(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change(
                "merchants", world.merchant,
                ["name": "Loom & Co", "logo_uri": .string(Self.logo), "accent_color": "#123456"])
            func pages(_ client: World.Actor) async throws -> (login: Answer, consent: Answer) {
                var browser = Browser(world.server)
                let login = try await browser.open(world.authorizeAddress(["scope": "openid"], for: client))
                let consent = try await world.authorize(in: &browser, ["scope": "openid"], for: client)
                #expect(consent.boxes == ["openid"])
                return (login, consent)
            }
            let stranger = try await pages(try await world.register(["client_name": "Ravel"]).actor)
            for page in [stranger.login, stranger.consent] {
                #expect(page.body.contains("Ravel") && !page.body.contains("Loom"), "\(page.body)")
                #expect(!page.body.contains(Self.logo) && !page.body.contains("/assets/brand/"))
                #expect(page.header("content-security-policy")?.contains(Self.logo) == false)
            }
            #expect(stranger.consent.body.contains("This app registered itself. Nobody here has checked"))
            let known = try await pages(try await world.stranger())
            #expect(known.consent.body.contains("Stranger</bdi></strong> by <bdi>Loom &amp; Co</bdi> asks to"))
            #expect(known.consent.body.contains(Self.logo) && !known.consent.body.contains("registered itself"))
        }
    }

    @Test("The account page lists a self-registered client without the merchant's name", arguments: Backend.available)
    func user(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.server.database.change("DELETE FROM connections")
            let client = try await world.register(["client_name": "Ravel"]).actor
            var browser = Browser(world.server)
            _ = try await world.consented(in: &browser, ["scope": "openid"], for: client)
            let page = try await browser.open("/account")
            #expect(page.body.contains("Ravel") && !page.body.contains("Loom"))
            // Once the merchant makes the client its own, the merchant is named.
            try await world.change("clients", client.id, ["first_party": true])
            #expect(try await browser.open("/account").body.contains("Loom"))
        }
    }

    @Test("A name with misleading characters is refused, for a client and for a merchant")
    func names() async throws {
        try await World.with(.sqlite) { world in
            let token = try await world.initialToken()
            let unseen = [
                "\u{202E}teppaN", "Ne\u{200B}ws", "News\u{2066}", "News\u{85}", "\u{9B}News", "Ne\u{AD}ws",
                "News\u{2028}x",
                "\u{FEFF}News", "News\u{E0041}", "News\u{3164}", " \u{A0}\u{2800}", "News\u{E000}", "a\nb", "\u{200D}",
            ]
            for name in unseen {
                let answer = try await world.sendRegistration(["client_name": .string(name)], with: token)
                try await expect(400, "invalid_client_metadata", answer, name.debugDescription)
                #expect(answer.json["error_description"]?.string?.contains("client_name") == true)
                expectProblem(
                    try await world.change("merchants", world.merchant, ["name": .string(name)]), 400, member: "name")
                expectProblem(
                    try await world.change("clients", world.app.id, ["client_name": .string(name)]), 400,
                    member: "client_name")
            }
            let seen = [
                "Nyheter", "חדשות", "أخبار", "می\u{200C}خوانم", "新闻", "Ærlig & Søn", "News ❤️ 🧵", "👩\u{200D}💻",
                "Нов\u{0306}ости",
            ]
            for name in seen {
                let answer = try await world.sendRegistration(["client_name": .string(name)], with: token)
                #expect(answer.status == 201 && answer.json["client_name"]?.string == name, "\(name)")
            }
        }
    }
}
