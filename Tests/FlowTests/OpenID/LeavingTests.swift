import JSON
import TestSupport
import Testing

@Suite("No redirect goes to a client that registered itself without a page in between (RFC 9700 §4.11.2)")
struct LeavingTests {
    private static let bye = "https://rp.example/bye"

    @Test("an error of /oauth/authorize shows a page with a link instead of a redirect", arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register(["client_name": "Ravel"]).actor
            let faults: [KeyValuePairs<String, String>] = [
                ["scope": "nonsense"], ["response_type": "device"], ["prompt": "none login"], ["max_age": "x"],
                ["response_mode": "fragment", "scope": "nonsense"],
                ["request": "x"], ["request_uri": "https://rp.example/o"], ["registration": "x"],
            ]
            for fault in faults {
                let page = try await world.server.get(world.authorizeAddress(fault, for: client))
                #expect(page.status == 400 && page.isPage, "\(fault): \(page)")
                #expect(page.header("location") == nil)
                #expect(page.words.contains("Ravel") && page.words.contains("You are about to leave"))
                // There, if the person wants to.
                #expect(page.body.contains("href=\"\(World.returnURI)"))
            }
            let form = try await world.server.get(
                world.authorizeAddress(["response_mode": "form_post", "scope": "nonsense"], for: client))
            #expect(form.status == 400 && !form.body.contains("<form"))
            let silent = try await world.server.get(
                world.authorizeAddress(["prompt": "none"], for: client), headers: ["Sec-Fetch-Dest": "document"])
            #expect(silent.status == 400 && silent.header("location") == nil)
        }
    }

    @Test("a user who has seen a page about the client is redirected, and so are those of other clients")
    func known() async throws {
        try await World.with(.sqlite) { world in
            let client = try await world.register().actor
            var browser = Browser(world.server)
            // On the page where it is left by a tap.
            let login = try await browser.open(world.authorizeAddress(["scope": "openid"], for: client))
            let left = try await browser.submit(
                login, ["decision": "cancel", "request": try #require(login.fields["request"])], to: "/oauth/consent")
            #expect(left.redirected("error") == "access_denied")
            // Having allowed it.
            _ = try await world.consented(in: &browser, ["scope": "openid"], for: client)
            for (fault, error) in [("scope", "invalid_scope"), ("request", "invalid_request_object")] {
                let refused = try await browser.open(
                    world.authorizeAddress([fault: "nonsense"], for: client), headers: ["Sec-Fetch-Dest": "document"])
                #expect(refused.redirected("error") == error, "\(refused)")
            }
            // In a frame nobody sees where it leads.
            for headers in [["Sec-Fetch-Dest": "iframe"], [:]] {
                let silent = try await world.server.get(
                    world.authorizeAddress(["prompt": "none", "scope": "openid"], for: client), headers: headers)
                #expect(silent.redirected("error") == "login_required")
            }
            let own = try await world.server.get(world.authorizeAddress(["scope": "nonsense"]))
            #expect(own.redirected("error") == "invalid_scope")
        }
    }

    @Test("/signup/return shows a page with a link instead of a redirect", arguments: Backend.available)
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

    @Test("/logout shows a page with a link instead of a redirect", arguments: Backend.available)
    func logout(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register(["post_logout_redirect_uris": [.string(Self.bye)]]).actor
            let path =
                "/logout?client_id=\(client.id)&state=s&post_logout_redirect_uri=\(TestServer.encode(Self.bye))"
            let page = try await world.server.get(path)
            #expect(page.status == 200 && page.isPage && page.header("location") == nil)
            #expect(page.body.contains("href=\"\(Self.bye)?state=s\""))
            // After a form of our page the browser is redirected.
            var browser = Browser(world.server)
            try await browser.signIn()
            let out = try await browser.submit(
                try await browser.open(path, headers: ["Sec-Fetch-Site": "cross-site"]))
            #expect(out.header("location") == Self.bye + "?state=s")
            #expect(browser.session == nil)
        }
    }
}
