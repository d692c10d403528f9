import Foundation
import JSON
import TestSupport
import Testing

@Suite("Responses come by query, fragment or form_post, each with the issuer")
struct ResponseModeTests {
    private static let odd = "\"><script>alert(1)</script>&a=b#c é\u{2028}"

    @Test(
        "In response mode fragment, code, state and iss are in the fragment, and nothing is in the query",
        arguments: Backend.available)
    func fragment(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let answer = try await browser.open(
                world.authorizeAddress(["response_mode": "fragment", "state": Self.odd]))
            let halves = try #require(answer.header("location")).split(separator: "#", maxSplits: 1)
            #expect(halves.first == "https://loom.example/in")
            let items = try #require(halves.last).split(separator: "&").map {
                $0.split(separator: "=").map(String.init)
            }
            #expect(items.map(\.first) == ["code", "state", "iss"])
            #expect(items[1].last?.removingPercentEncoding == Self.odd)
            #expect(items[2].last == "http%3A%2F%2Fspindle.test")
            #expect(try await world.redeemAuthorization(try #require(items[0].last)).status == 200)

            let refused = try await browser.open(
                world.authorizeAddress(["response_mode": "fragment", "prompt": "none login"]))
            #expect(refused.header("location")?.hasPrefix("https://loom.example/in#error=invalid_request&") == true)
            let denied = try await world.server.get(
                world.authorizeAddress(["response_mode": "fragment", "prompt": "none"]))
            #expect(denied.header("location")?.hasPrefix("https://loom.example/in#error=login_required&") == true)
        }
    }

    @Test(
        "In response mode form_post, the answer is a page that submits itself by this server's script alone",
        arguments: Backend.available)
    func formPost(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            try await browser.signIn()
            let changes: KeyValuePairs = ["response_mode": "form_post", "state": Self.odd]
            let page = try await browser.open(world.authorizeAddress(changes, for: world.backend))
            #expect(page.status == 200)
            #expect(page.isPage)
            #expect(page.header("location") == nil)
            #expect(page.header("cache-control") == "no-store")
            #expect(page.formAction == world.backend.redirectURI)
            #expect(page.fields["state"] == Self.odd)
            #expect(page.fields["iss"] == "http://spindle.test")
            #expect(!page.body.contains("<script>"))
            #expect(page.body.contains("src=\"/assets/submit.js\""))
            let policy = try #require(page.header("content-security-policy"))
            #expect(policy.contains("script-src 'self'"))
            #expect(!policy.contains("unsafe"))
            // A policy on forms would have to name every address the client redirects on to.
            #expect(!policy.contains("form-action"))
            let code = try #require(page.fields["code"])
            #expect(try await world.redeemAuthorization(code, as: world.backend).status == 200)

            let script = try await browser.open("/assets/submit.js")
            #expect(script.header("content-type")?.hasPrefix("text/javascript") == true)
            #expect(script.header("x-content-type-options") == "nosniff")
        }
    }

    @Test(
        "In response mode form_post, errors are posted by a form too, and the login page allows no script",
        arguments: Backend.available)
    func formPostRefusal(backend: Backend) async throws {
        try await World.with(backend) { world in
            let silent: KeyValuePairs = ["response_mode": "form_post", "prompt": "none", "state": Self.odd]
            let page = try await world.server.get(world.authorizeAddress(silent, for: world.backend))
            #expect(page.formAction == world.backend.redirectURI)
            #expect(page.fields["error"] == "login_required")
            #expect(page.fields["state"] == Self.odd)
            #expect(page.fields["code"] == nil)
            let login = try await world.server.get(
                world.authorizeAddress(["response_mode": "form_post"], for: world.backend))
            #expect(login.header("content-security-policy")?.contains("script-src") == false)
            #expect(login.header("content-security-policy")?.contains("default-src 'none'") == true)
        }
    }

    @Test(
        "An unknown response mode, or form_post to a custom scheme, gets invalid_request in the query",
        arguments: Backend.available)
    func unsupported(backend: Backend) async throws {
        try await World.with(backend) { world in
            for mode in ["web_message", "jwt", "Fragment", "query.jwt", "form_post"] {
                let answer = try await world.server.get(
                    world.authorizeAddress(["response_mode": mode, "redirect_uri": World.scheme]))
                #expect(answer.header("location")?.hasPrefix(World.scheme + "?error=invalid_request") == true)
                #expect(answer.redirected("state") == "xyz")
            }
        }
    }

    @Test(
        "Any text in an authorization request's state comes back to the app unchanged, with iss beside it",
        arguments: Backend.available)
    func state(backend: Backend) async throws {
        try await World.with(backend) { world in
            for state in [Self.odd, "a+b%20c", "code=x&error=y", "\r\nSet-Cookie: a=b", "🧵 שלום", " "] {
                var browser = Browser(world.server)
                let answer = try await world.authorize(in: &browser, ["state": state])
                #expect(answer.redirected("state") == state)
                #expect(answer.redirected("iss") == "http://spindle.test")
                #expect(answer.redirected("error") == nil)
                #expect(answer.header("set-cookie") == nil)
                let refused = try await world.server.get(world.authorizeAddress(["prompt": "none", "state": state]))
                #expect(refused.redirected("state") == state)
                #expect(refused.redirected("iss") == "http://spindle.test")
                #expect(refused.redirected("code") == nil)
            }
        }
    }

    @Test(
        "A client that redeems another client's authorization code after a mix-up is refused (RFC 9207)",
        arguments: Backend.available)
    func mixUp(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode(for: world.backend)
            for other in [world.rivalBackend, try await world.stranger()] {
                let stolen = try await world.redeemAuthorization(
                    code, as: other, ["redirect_uri": world.backend.redirectURI])
                #expect(stolen.error == "invalid_grant")
            }
            #expect(try await world.redeemAuthorization(code, as: world.backend).status == 200)
        }
    }
}
