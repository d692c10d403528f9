import Cryptography
import JOSE
import JSON
import TestSupport
import Testing
import Values

/// The plan `oidcc-dynamic-certification-test-plan` of OpenID's conformance suite: each client registers itself.
@Suite("Dynamic OP: oidcc-dynamic-certification-test-plan")
struct DynamicModuleTests {
    @Test("oidcc-idtoken-rs256", arguments: Backend.available)
    func signed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register(["id_token_signed_response_alg": "RS256"]).actor
            let tokens = try await world.signInToRegistered(client, ["scope": "openid", "nonce": "n"])
            let jwt = try await world.verified(try tokens.require("id_token"))
            #expect(jwt.header["alg"] == "RS256" && jwt.claims["nonce"] == "n")
            #expect(try jwt.audience == [client.id])
        }
    }

    @Test("oidcc-idtoken-unsigned")
    func unsigned() async throws {
        try await World.with(.sqlite) { world in
            let answer = try await world.sendRegistration(
                ["id_token_signed_response_alg": "none"], with: try await world.initialToken())
            try await expect(400, "invalid_client_metadata", answer)
        }
    }

    @Test("oidcc-userinfo-rs256", arguments: Backend.available)
    func signedUserinfo(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register(["userinfo_signed_response_alg": "RS256"]).actor
            let tokens = try await world.signInToRegistered(client, ["scope": "openid"])
            let told = try await world.server.get("/oauth/userinfo", bearer: try tokens.require("access_token"))
            #expect(told.header("content-type") == "application/jwt")
            let jwt = try await world.verified(told.body)
            let subject = try await world.verified(try tokens.require("id_token")).subject
            #expect(try jwt.header["alg"] == "RS256" && jwt.subject == subject && jwt.audience == [client.id])
        }
    }

    @Test("oidcc-ensure-redirect-uri-in-authorization-request", arguments: Backend.available)
    func redirectURILeftOut(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register([
                "redirect_uris": ["https://rp.example/back", "https://rp.example/other"]
            ]).actor
            try await expectPage(world, client, ["scope": "openid", "redirect_uri": ""])
        }
    }

    @Test("oidcc-redirect-uri-query-OK", arguments: Backend.available)
    func query(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register(["redirect_uris": ["https://rp.example/back?foo=bar"]]).actor
            var browser = Browser(world.server)
            let back = try await world.consented(in: &browser, ["scope": "openid"], for: client)
            #expect(back.header("location")?.hasPrefix("https://rp.example/back?foo=bar&") == true)
            let tokens = try await world.redeemAuthorization(try back.requireRedirected("code"), as: client)
            #expect(tokens.status == 200)
        }
    }

    @Test("oidcc-redirect-uri-query-mismatch", arguments: Backend.available)
    func queryMismatch(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register(["redirect_uris": ["https://rp.example/back?foo=bar"]]).actor
            try await expectPage(
                world, client, ["scope": "openid", "redirect_uri": "https://rp.example/back?bar=foo"])
        }
    }

    @Test("oidcc-redirect-uri-query-added", arguments: Backend.available)
    func queryAdded(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register().actor
            try await expectPage(
                world, client, ["scope": "openid", "redirect_uri": "\(World.returnURI)?foo=bar"])
        }
    }

    @Test("oidcc-redirect-uri-regfrag")
    func fragment() async throws {
        try await World.with(.sqlite) { world in
            let answer = try await world.sendRegistration(
                ["redirect_uris": [.string("\(World.returnURI)#foobar")]],
                with: try await world.initialToken())
            try await expect(400, "invalid_redirect_uri", answer)
        }
    }

    @Test("oidcc-discovery-endpoint-verification")
    func discovery() async throws {
        try await World.with(.sqlite) { world in
            let metadata = try await world.server.get("/.well-known/openid-configuration").json
            func lists(_ name: String) -> Set<String> { Set(metadata[name]?.strings ?? []) }
            #expect(lists("response_types_supported").isSuperset(of: ["code", "id_token", "id_token token"]))
            #expect(lists("grant_types_supported").isSuperset(of: ["authorization_code", "implicit"]))
            #expect(lists("id_token_signing_alg_values_supported").contains("RS256"))
            #expect(lists("subject_types_supported") == ["public", "pairwise"])
            let methods: Set = [
                "none", "client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt",
            ]
            #expect(lists("token_endpoint_auth_methods_supported") == methods)
            #expect(!lists("token_endpoint_auth_signing_alg_values_supported").contains("none"))
            #expect(metadata["registration_endpoint"]?.string == "http://spindle.test/oauth/register")
        }
    }

    @Test("oidcc-server", arguments: Backend.available)
    func server(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await world.register()
            let tokens = try await world.signInToRegistered(
                made.actor, ["scope": "openid profile", "nonce": "n", "state": "s"])
            #expect(tokens.json["token_type"] == "Bearer" && (tokens.json["expires_in"]?.integer ?? 0) > 0)
            let jwt = try await world.verified(try tokens.require("id_token"))
            let told = try await world.server.get("/oauth/userinfo", bearer: try tokens.require("access_token"))
            #expect(try told.json["sub"]?.string == jwt.subject)
            // The suite deletes its client at the end.
            #expect(try await made.send("DELETE").status == 204)
        }
    }

    @Test("oidcc-registration-logo-uri", arguments: Backend.available)
    func logo(backend: Backend) async throws {
        let page = try await loginPage(backend, ["logo_uri": "https://rp.example/logo.png?v=2"])
        #expect(page.body.contains("<img src=\"https://rp.example/logo.png?v=2\""))
        #expect(page.header("content-security-policy")?.contains("img-src https://rp.example/logo.png;") == true)
    }

    @Test("oidcc-registration-policy-uri", arguments: Backend.available)
    func policy(backend: Backend) async throws {
        let page = try await loginPage(backend, ["policy_uri": "https://rp.example/policy"])
        #expect(page.body.contains("<a href=\"https://rp.example/policy\""))
        #expect(page.body.contains("Privacy policy</a>"))
    }

    @Test("oidcc-registration-tos-uri", arguments: Backend.available)
    func terms(backend: Backend) async throws {
        let page = try await loginPage(backend, ["tos_uri": "https://rp.example/terms"])
        #expect(page.body.contains("<a href=\"https://rp.example/terms\""))
        #expect(page.body.contains("Terms of use</a>"))
    }

    @Test("oidcc-ensure-client-assertion-with-iss-aud-succeeds", arguments: Backend.available)
    func issuerAsAudience(backend: Backend) async throws {
        try await World.with(backend) { world in
            let key = PrivateKey.generate(.rs256)
            let client = try await world.register([
                "token_endpoint_auth_method": "private_key_jwt", "jwks": SigningClient.keySet(key),
            ]).actor
            let signer = SigningClient(world: world, id: client.id, key: .own(key))
            let code = try await world.registeredCode(client)
            let assertion = signer.assertion(["aud": .string(SigningClient.issuer)])
            let tokens = try await signer.redeem(code, client, assertion)
            #expect(tokens.status == 200)
        }
    }

    private func expectPage(
        _ world: World, _ client: World.Actor, _ changes: KeyValuePairs<String, String>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var browser = Browser(world.server)
        let answer = try await browser.open(world.authorizeAddress(changes, for: client))
        #expect(answer.status == 400 && answer.isPage, "\(answer)", sourceLocation: sourceLocation)
        #expect(answer.header("location") == nil, sourceLocation: sourceLocation)
    }

    /// The page that a new browser gets when the client sends it here.
    private func loginPage(_ backend: Backend, _ changes: KeyValuePairs<String, JSON>) async throws -> Answer {
        var page: Answer?
        try await World.with(backend) { world in
            let client = try await world.register(changes).actor
            var browser = Browser(world.server)
            let asked = try await browser.open(world.authorizeAddress(["scope": "openid"], for: client))
            page = asked.isPage ? asked : try await browser.open(asked.header("location") ?? "/nowhere")
        }
        return try #require(page)
    }
}
