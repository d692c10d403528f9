import Foundation
import JSON
import TestSupport
import Testing

@Suite("Errors of an authorization request go to the app, unless its address is in doubt")
struct AuthorizationRequestTests {
    @Test(
        "An authorization request with a bad client or redirect URI gets a page that names it, not a redirect",
        arguments: Backend.available)
    func nowhereToGo(backend: Backend) async throws {
        try await World.with(backend) { world in
            let cases: [(KeyValuePairs<String, String>, String)] = [
                (["client_id": ""], "The app did not say who it is"),
                (["client_id": "nobody"], "This app is not known here"),
                (["redirect_uri": ""], "The app did not say where to return"),
                (["redirect_uri": "https://evil.example/"], "The address to return to is not registered"),
                (["redirect_uri": "https://loom.example/in/"], "The address to return to is not registered"),
                (["redirect_uri": "LOOM://signed-in"], "The address to return to is not registered"),
                (["redirect_uri": World.webview + "?x=1"], "The address to return to is not registered"),
                (["redirect_uri": World.webview + "#x"], "The address to return to is not registered"),
                (["redirect_uri": "https://loom.example@evil.example/"], "The address to return to is not registered"),
            ]
            for (changes, title) in cases {
                // Whatever else is wrong with it: the address comes first.
                for more in ["", "&response_type=token", "&prompt=none", "&scope=admin"] {
                    let page = try await world.server.get(world.authorizeAddress(changes) + more)
                    #expect(page.status == 400, "\(changes)\(more)")
                    #expect(page.isPage)
                    #expect(page.header("location") == nil)
                    if more != "&response_type=token" { #expect(page.body.contains(title), "\(changes)") }
                }
            }
        }
    }

    @Test(
        "An authorization request of a disabled client is answered like one of an unknown client",
        arguments: Backend.available)
    func disabledClient(backend: Backend) async throws {
        try await World.with(backend) { world in
            try await world.change("clients", world.app.id, ["disabled": true])
            let page = try await world.server.get(world.authorizeAddress())
            #expect(page.status == 400)
            #expect(page.body.contains("This app is not known here"))
            #expect(page.header("location") == nil)
        }
    }

    @Test(
        "Authorization request errors, but for client and redirect URI, go back to the app with the state",
        arguments: Backend.available)
    func back(backend: Backend) async throws {
        try await World.with(backend) { world in
            let cases: [(KeyValuePairs<String, String>, String)] = [
                (["response_type": ""], "invalid_request"),
                (["response_type": "device"], "unsupported_response_type"),
                (["response_type": "code code"], "unsupported_response_type"),
                (["response_mode": "web_message"], "invalid_request"),
                (["prompt": "anything"], "invalid_request"),
                (["scope": "nonsense"], "invalid_scope"),
                (["scope": "profile admin"], "invalid_scope"),
            ]
            for (changes, error) in cases {
                let answer = try await world.server.get(world.authorizeAddress(changes))
                #expect(answer.status == 302, "\(changes)")
                #expect(answer.header("location")?.hasPrefix("https://loom.example/in?") == true)
                #expect(answer.redirected("error") == error)
                #expect(answer.redirected("error_description")?.isEmpty == false)
                #expect(answer.redirected("state") == "xyz")
                #expect(answer.redirected("code") == nil)
            }
        }
    }

    @Test(
        "A client without the authorization code grant gets unauthorized_client for an authorization request",
        arguments: Backend.available)
    func grantNotAllowed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential(["grant_types": ["client_credentials"]])
            let answer = try await world.server.get(world.authorizeAddress(for: client))
            #expect(answer.redirected("error") == "unauthorized_client")
        }
    }

    @Test(
        "An authorization request with repeated parameters or broken escapes gets a page, never a redirect",
        arguments: Backend.available)
    func malformed(backend: Backend) async throws {
        try await World.with(backend) { world in
            for more in ["&state=two", "&client_id=\(world.backend.id)", "&redirect_uri=x", "&x=%zz", "&x=%ff"] {
                let page = try await world.server.get(world.authorizeAddress() + more)
                #expect(page.status == 400, "\(more)")
                #expect(page.header("location") == nil)
                #expect(!page.body.isEmpty)
            }
            #expect(try await world.server.get(world.authorizeAddress() + "&unknown=1&unknown=2").status == 200)
        }
    }

    @Test(
        "An authorization request without state gets none back, and a redirect URI keeps its query",
        arguments: Backend.available)
    func address(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential(["redirect_uris": ["https://two.example/cb?keep=1"]])
            let answer = try await world.server.get(
                world.authorizeAddress(["state": "", "prompt": "none"], for: client))
            #expect(answer.header("location")?.hasPrefix("https://two.example/cb?keep=1&error=login_required") == true)
            #expect(answer.redirected("state") == nil)
        }
    }

    @Test(
        "An authorization code can be redeemed only by the client and with the redirect URI of its request",
        arguments: Backend.available)
    func redirectURIBinding(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode()
            let other = try await world.redeemAuthorization(code, ["redirect_uri": World.webview])
            #expect(other.error == "invalid_grant")
            #expect(try await world.redeemAuthorization(code, ["redirect_uri": ""]).error == "invalid_request")
            #expect(try await world.redeemAuthorization(code, as: world.backend).error == "invalid_grant")
            #expect(try await world.redeemAuthorization(code).status == 200)
        }
    }

    @Test(
        "A client with one redirect URI may omit it in the authorization request and the token request",
        arguments: Backend.available)
    func onlyRedirectURI(backend: Backend) async throws {
        try await World.with(backend) { world in
            let code = try await world.authorizationCode(["redirect_uri": ""], for: world.backend)
            let tokens = try await world.redeemAuthorization(code, as: world.backend, ["redirect_uri": ""])
            #expect(tokens.status == 200)
        }
    }

    @Test("An authorization request by POST is treated like one by GET", arguments: Backend.available)
    func post(backend: Backend) async throws {
        try await World.with(backend) { world in
            let answer = try await world.server.post(
                "/oauth/authorize",
                [
                    "response_type": "code", "client_id": world.app.id, "redirect_uri": world.app.redirectURI,
                    "code_challenge": challenge, "code_challenge_method": "S256", "state": "s",
                ])
            #expect(answer.status == 303)
            let page = try await world.server.get(try #require(answer.header("location")))
            #expect(page.status == 200)
            #expect(page.formAction == "/login")
        }
    }

    @Test(
        "An authorization request posted by another site sets no cookie and invalidates no open form",
        arguments: Backend.available)
    func postFromElsewhere(backend: Backend) async throws {
        try await World.with(backend) { world in
            var browser = Browser(world.server)
            let form = try await browser.open("/login")
            let request = world.authorizeAddress(["state": "s"])
            let pairs = request.split(separator: "?")[1].split(separator: "&").map { pair in
                let halves = pair.split(separator: "=", omittingEmptySubsequences: false)
                return (String(halves[0]), String(halves[1]).removingPercentEncoding ?? "")
            }
            // Without cookies: they are SameSite=Lax.
            for path in ["/oauth/authorize", "/authorize"] {
                let answer = try await world.server.post(path, form: pairs, headers: ["Origin": "https://evil.example"])
                #expect(answer.status == 303)
                #expect(answer.header("location") == request.replacing("/oauth/authorize", with: path))
                #expect(answer.header("set-cookie") == nil)
                #expect(answer.header("cache-control") == "no-store")
            }
            let long = try await world.server.post(
                "/oauth/authorize", form: pairs + [("nonce", String(repeating: "x", count: 9000))])
            #expect(long.status == 303)
            #expect(long.header("location")?.hasPrefix("/oauth/authorize?continue=") == true)
            #expect(long.header("set-cookie") == nil)
            let signedIn = try await browser.submit(form, ["email": World.email, "password": World.password])
            #expect(signedIn.status == 303)
        }
    }
}
