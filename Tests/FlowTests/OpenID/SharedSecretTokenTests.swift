import Cryptography
import JOSE
import JSON
import TestSupport
import Testing
import Values

@Suite("HS256 ID tokens, signed with the client's sign secret (OpenID Connect Core §10.1)")
struct SharedSecretTokenTests {
    /// A website whose ID tokens are signed with its sign secret.
    private struct Site {
        let site: Website
        let secret: String

        init(_ world: World, _ changes: KeyValuePairs<String, JSON> = [:]) async throws {
            let members: JSON = [
                "client_name": "Gateway", "redirect_uris": ["https://site.example/back"],
                "post_logout_redirect_uris": [.string(Website.bye)],
                "grant_types": ["authorization_code", "refresh_token", "password"],
                "scope": "openid profile email offline_access", "merchant_id": .string(world.merchant),
                "id_token_signed_response_alg": "HS256", "require_pkce": false,
            ]
            let all = (members.members ?? []) + changes.map { JSON.Member($0.key, $0.value) }
            let made = try await World.make(world.server, world.admin, "clients", .object(all))
            #expect(made.json["id_token_signed_response_alg"] == "HS256")
            secret = try made.require("sign_secret")
            site = Website(
                actor: World.Actor(
                    id: try made.require("client_id"), secret: try made.require("client_secret"),
                    redirectURI: "https://site.example/back"), world: world)
        }

        func verified(_ token: String) async throws -> VerifiedJWT {
            try await AssertionKeys(secret: secret).verify(token, allowed: [.hs256])
        }

        /// The claims of `token` with `changes` over them, signed with `secret` under `header`.
        static func forged(
            _ token: String, _ secret: [UInt8], header: JSON = ["alg": "HS256", "typ": "JWT"],
            _ changes: KeyValuePairs<String, JSON> = [:]
        ) throws -> String {
            let changed = Set(changes.map(\.key))
            let claims = (try TakenApart(token).claims.members ?? []).filter { !changed.contains($0.name) }
            let all = JSON.object(claims + changes.map { JSON.Member($0.key, $0.value) })
            let input = [header, all].map { Base64URL.encode($0.bytes) }.joined(separator: ".")
            return input + "." + Base64URL.encode(Digest.hmacSHA256(Array(input.utf8), key: secret))
        }
    }

    @Test(
        "A client verifies its HS256 ID tokens with its sign secret, and no published key verifies them",
        arguments: Backend.available)
    func signed(backend: Backend) async throws {
        try await World.with(backend) { world in
            let it = try await Site(world)
            var browser = Browser(world.server)
            let answer = try await it.site.signIn(in: &browser, scope: "openid offline_access")
            let refreshed = try await world.refresh(try answer.require("refresh_token"), as: it.site.actor)
            for each in [answer, refreshed] {
                let jwt = try await it.verified(try each.require("id_token"))
                #expect(jwt.header == ["alg": "HS256", "typ": "JWT"])
                #expect(jwt.claims["iss"] == "http://spindle.test")
                #expect(jwt.claims["aud"]?.string == it.site.actor.id)
                #expect(jwt.claims["sub"]?.string == world.user)
                let digest = Digest.sha256(try each.require("access_token").utf8)
                #expect(jwt.claims["at_hash"]?.string == Base64URL.encode(Array(digest.prefix(16))))
            }
            await #expect(throws: JWTRejection.self) {
                try await world.published(try answer.require("id_token"))
            }
            let metadata = try await world.server.get("/.well-known/openid-configuration").json
            #expect(metadata["id_token_signing_alg_values_supported"]?.strings?.contains("HS256") == true)
            #expect(metadata["userinfo_signing_alg_values_supported"]?.strings?.contains("HS256") == false)
        }
    }

    @Test(
        "A client with HS256 ID tokens gets JWT access tokens signed with a key of the server",
        arguments: Backend.available)
    func accessTokens(backend: Backend) async throws {
        try await World.with(backend) { world in
            let it = try await Site(world, ["access_token_format": "jwt"])
            var browser = Browser(world.server)
            let token = try await it.site.signIn(in: &browser).require("access_token")
            #expect(try await world.published(token).header["alg"] == "RS256")
        }
    }

    @Test(
        "A client with HS256 ID tokens gets logout tokens signed with its sign secret too",
        arguments: Backend.available)
    func logoutTokens(backend: Backend) async throws {
        let receiver = try CallbackReceiver()
        try await World.with(backend, settings: World.receiversAllowed) { world in
            let it = try await Site(
                world, ["backchannel_logout_uri": .string("http://127.0.0.1:\(receiver.port)/site")])
            var browser = Browser(world.server)
            let hint = try await it.site.signIn(in: &browser).require("id_token")
            let out = try await browser.logOut(["id_token_hint": hint, "post_logout_redirect_uri": Website.bye])
            #expect(out.header("location") == Website.bye)
            let body = try await receiver.next().body
            let jwt = try await it.verified(String(body.dropFirst("logout_token=".count)))
            #expect(jwt.header == ["alg": "HS256", "typ": "logout+jwt"])
            // A logout token is no hint.
            let page = try await browser.logOut([
                "id_token_hint": String(body.dropFirst("logout_token=".count)),
                "post_logout_redirect_uri": Website.bye,
            ])
            #expect(page.header("location") == nil)
        }
    }

    @Test(
        "A client without a secret, or one that registered itself, cannot have HS256 ID tokens",
        arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await World.with(backend) { world in
            let hmac: JSON = ["id_token_signed_response_alg": "HS256"]
            let signer = try await world.signingClient()
            for id in [world.app.id, signer.id] {
                expectProblem(
                    try await world.change("clients", id, hmac), 400, member: "id_token_signed_response_alg")
            }
            for wrong in ["HS384", "HS512", "none", "hs256"] {
                let answer = try await world.change(
                    "clients", world.backend.id, ["id_token_signed_response_alg": .string(wrong)])
                expectProblem(answer, 400, member: "id_token_signed_response_alg")
            }
            let stranger = try await world.register([:]).actor
            expectProblem(
                try await world.change("clients", stranger.id, hmac), 400, member: "id_token_signed_response_alg")
        }
    }

    @Test(
        "A logout hint signed by HMAC with a public value or another client's secret is refused",
        arguments: Backend.available)
    func confusion(backend: Backend) async throws {
        try await World.with(backend) { world in
            let (it, other, plain) = (try await Site(world), try await Site(world), try await world.website())
            var browser = Browser(world.server)
            let shared = try await it.site.signIn(in: &browser).require("id_token")
            let signed = try await plain.signIn(in: &browser).require("id_token")
            let kid = try #require(try TakenApart(signed).header["kid"])
            let keySet = try await world.server.get("/oauth/jwks")
            let key = try #require(keySet.json["keys"]?.array?.first)
            let modulus = try #require(key["n"]?.string)
            let number = try #require(Base64URL.decode(modulus))
            let secrets: [[UInt8]] = [
                Array(keySet.body.utf8), key.bytes, Array(modulus.utf8), number, Array((kid.string ?? "").utf8), [],
                Array(other.secret.utf8), Array(it.site.actor.secret.utf8),
            ]
            var forgeries = [try TakenApart(shared).unsigned, try TakenApart(shared).forged()]
            for secret in secrets {
                for token in [shared, signed] {
                    forgeries.append(try Site.forged(token, secret))
                    forgeries.append(
                        try Site.forged(token, secret, header: ["alg": "HS256", "typ": "JWT", "kid": kid]))
                }
                // Under the name of an asymmetric algorithm.
                forgeries.append(try Site.forged(shared, secret, header: ["alg": "RS256", "typ": "JWT", "kid": kid]))
            }
            let own = Array(it.secret.utf8)
            for algorithm in ["HS384", "HS512", "none", "hs256", "RS256"] {
                forgeries.append(
                    try Site.forged(shared, own, header: ["alg": .string(algorithm), "typ": "JWT", "kid": kid]))
            }
            // A client's secret signs no hint of another client.
            forgeries.append(try Site.forged(shared, own, ["aud": .string(plain.actor.id)]))
            forgeries.append(try Site.forged(shared, own, ["aud": .string(other.site.actor.id)]))
            forgeries.append(
                try Site.forged(shared, own, ["aud": [.string(it.site.actor.id)], "iss": "https://x.example"]))
            for forgery in forgeries {
                let page = try await browser.logOut([
                    "id_token_hint": forgery, "post_logout_redirect_uri": Website.bye,
                ])
                #expect(page.header("location") == nil && page.words.contains("Sign out?"), "\(forgery)")
            }
            #expect(try await browser.isSignedIn())
            // The genuine token is a hint.
            let out = try await browser.logOut(["id_token_hint": shared, "post_logout_redirect_uri": Website.bye])
            #expect(out.header("location") == Website.bye)
        }
    }

    @Test(
        "A client that changes from HS256 to RS256 cannot use its HS256 ID tokens as logout hints any more",
        arguments: Backend.available)
    func back(backend: Backend) async throws {
        try await World.with(backend) { world in
            let it = try await Site(world)
            var browser = Browser(world.server)
            let shared = try await it.site.signIn(in: &browser).require("id_token")
            let changed = try await world.change(
                "clients", it.site.actor.id, ["id_token_signed_response_alg": "RS256"])
            #expect(changed.json["id_token_signed_response_alg"] == "RS256")
            let page = try await browser.logOut(["id_token_hint": shared, "post_logout_redirect_uri": Website.bye])
            #expect(page.header("location") == nil)
            let signed = try await it.site.signIn(in: &browser).require("id_token")
            // An RS256 ID token stays a hint after the client changes to HS256.
            try #require(
                try await world.change("clients", it.site.actor.id, ["id_token_signed_response_alg": "HS256"]).status
                    == 200)
            let out = try await browser.logOut(["id_token_hint": signed, "post_logout_redirect_uri": Website.bye])
            #expect(out.header("location") == Website.bye)
        }
    }

    @Test(
        "Ditto's webhook accepts no HS256 ID token, since the token's client could have made it",
        arguments: Backend.available)
    func ditto(backend: Backend) async throws {
        try await World.with(backend) { world in
            let it = try await Site(world)
            let ditto = try await DittoStory(
                world, ["token_kinds": ["id_token"], "clients": [.string(it.site.actor.id)]])
            var browser = Browser(world.server)
            expectRefused(try await ditto.ask(try await it.site.signIn(in: &browser).require("id_token")))
            #expect(world.server.log.says("ditto_shared_secret"))
        }
    }
}
