import TestSupport
import Testing

/// The pair in appendix B of RFC 7636.
let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

extension World {
    /// The address of an authorization request of the phone, with `changes` over its valid parameters; one changed to
    /// an empty text is left out.
    func authorizeAddress(_ changes: KeyValuePairs<String, String> = [:], for client: Actor? = nil) -> String {
        let client = client ?? app
        var items = [
            ("response_type", "code"), ("client_id", client.id), ("redirect_uri", client.redirectURI),
            ("state", "xyz"), ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ]
        for (name, value) in changes {
            items.removeAll { $0.0 == name }
            if !value.isEmpty { items.append((name, value)) }
        }
        return "/oauth/authorize?"
            + items.map { "\($0.0)=\(TestServer.encode($0.1))" }.joined(separator: "&")
    }

    /// Begins the request at `address` in `browser`, and returns the `continue` parameter of its pages.
    func begin(_ address: String, in browser: inout Browser) async throws -> String {
        let page = try await browser.open(address)
        return try #require(page.fields["continue"] ?? page.redirected("continue"), "\(page)")
    }

    /// Signs in on the page of an authorization request, and follows it to the redirect to the app.
    func authorize(
        in browser: inout Browser, _ changes: KeyValuePairs<String, String> = [:], for client: Actor? = nil
    ) async throws -> Answer {
        let page = try await browser.open(authorizeAddress(changes, for: client))
        guard page.status == 200 else { return page }
        let signedIn = try await browser.submit(page, ["email": World.email, "password": World.password])
        return try await browser.open(signedIn.header("location") ?? "/nowhere")
    }

    /// A code that a user's browser brings to the phone.
    func authorizationCode(
        _ changes: KeyValuePairs<String, String> = [:], for client: Actor? = nil
    ) async throws -> String {
        var browser = Browser(server)
        return try await authorize(in: &browser, changes, for: client).requireRedirected("code")
    }

    /// Redeems the code of an authorization request, with `changes` over the valid parameters.
    func redeemAuthorization(
        _ code: String, as client: Actor? = nil, _ changes: KeyValuePairs<String, String> = [:]
    ) async throws -> Answer {
        let client = client ?? app
        var form = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", client.redirectURI),
            ("code_verifier", verifier),
        ]
        for (name, value) in changes {
            form.removeAll { $0.0 == name }
            form.append((name, value))
        }
        guard client.secret.isEmpty else {
            return try await server.post("/oauth/token", form: form, basic: client.basic)
        }
        return try await server.post("/oauth/token", form: form + [("client_id", client.id)])
    }
}
