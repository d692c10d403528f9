import Cryptography
import JOSE
import JSON
import TestSupport
import Testing

@Suite("Sign in with another issuer: redemption and userinfo")
struct IdentityProviderRedemptionTests {
    @Test(
        "No session is opened if the issuer's token endpoint refuses, fails, answers nonsense or is down",
        arguments: Backend.available)
    func tokenEndpoint(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            let big = "{\"id_token\":\"\(String(repeating: "x", count: 70_000))\"}"
            for (status, body, expected, reason) in [
                (
                    "400 Bad Request", "{\"error\":\"invalid_grant\"}", 502,
                    "upstream_failed: token endpoint: invalid_grant"
                ),
                (
                    "401 Unauthorized", "{\"error\":\"invalid_client\"}", 502,
                    "upstream_failed: token endpoint: invalid_client"
                ),
                ("400 Bad Request", "{\"error\":\"a\\nreason=b\"}", 502, "upstream_failed: token endpoint: areasonb"),
                ("400 Bad Request", "{}", 503, "upstream_unavailable"), ("500 Oops", "{}", 503, "upstream_unavailable"),
                ("302 Found", "{}", 503, "upstream_unavailable"), ("200 OK", "<html>", 503, "upstream_unavailable"),
                ("200 OK", "[]", 503, "upstream_unavailable"), ("200 OK", big, 503, "upstream_unavailable"),
                ("200 OK", "{\"id_token\":7}", 502, "upstream_mistrusted"),
            ] {
                let departure = try await story.leave(&browser)
                story.there.publish("/token", text: body, status: status)
                let answer = try await story.comeBack(departure, in: &browser)
                story.expect(expected, reason, answer, browser)
                #expect(answer.link(to: "/login?continue=") != nil)
            }
            let departure = try await story.leave(&browser)
            story.there.stop()
            story.expect(503, "upstream_unavailable", try await story.comeBack(departure, in: &browser), browser)
            #expect(!story.here.server.log.says("a secret"))
            #expect(!story.here.server.log.says("a-code"))
        }
    }

    @Test(
        "A user sent to an issuer whose discovery document cannot be read gets a page that says so",
        arguments: Backend.available)
    func noDocument(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            story.there.publish("/discovery", text: "{}")
            var browser = Browser(story.here.server)
            let page = try await browser.open(story.here.authorizeAddress())
            let answer = try await browser.follow(try page.requireLink(to: "/login/with/\(story.issuer)?"))
            story.expect(503, "upstream_unavailable", answer, browser)
            #expect(answer.words.contains("<bdi>The Mill</bdi> does not answer right now"))
        }
    }

    @Test(
        "Spindle redeems an issuer's code with the PKCE verifier, the same redirect URI and its credentials",
        arguments: Backend.available)
    func redemption(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            var browser = Browser(story.here.server)
            #expect(try await story.signIn(&browser).status == 303)
            let redemption = try #require(story.there.redemptions.first)
            #expect(redemption.form["grant_type"] == "authorization_code")
            #expect(redemption.form["redirect_uri"] == IdentityProviderStory.origin + story.callback)
            #expect(redemption.form["code_verifier"]?.count == 43)
            #expect(redemption.form["client_secret"] == nil && redemption.form["client_id"] == nil)
            // RFC 6749 §2.3.1: encoded as in a form before they are joined.
            #expect(redemption.authorization == "Basic c3BpbmRsZS1oZXJlOmElMjBzZWNyZXQlMjAlMjYlMjBtb3Jl")
        }
        try await StandInStory.with(
            backend, document: ["token_endpoint_auth_methods_supported": ["client_secret_post"]]
        ) { story in
            var browser = Browser(story.here.server)
            #expect(try await story.signIn(&browser).status == 303)
            let redemption = try #require(story.there.redemptions.first)
            #expect(redemption.authorization == nil)
            #expect(redemption.form["client_secret"] == "a secret & more")
            #expect(redemption.form["client_id"] == "spindle-here")
        }
        try await StandInStory.with(backend, ["client_secret": .null]) { story in
            var browser = Browser(story.here.server)
            #expect(try await story.signIn(&browser).status == 303)
            let redemption = try #require(story.there.redemptions.first)
            #expect(redemption.form["client_secret"] == nil && redemption.authorization == nil)
            #expect(redemption.form["client_id"] == "spindle-here")
        }
    }

    @Test(
        "Claims missing from an issuer's ID token are read from the issuer's userinfo endpoint",
        arguments: Backend.available)
    func userinfo(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            story.there.publish("/userinfo", ["sub": "kari", "name": "Kari Nordmann", "locale": "no"])
            story.there.addEndpoint("userinfo_endpoint", "/userinfo")
            var browser = Browser(story.here.server)
            #expect(try await story.signIn(&browser).status == 303)
            #expect(story.there.bearers == ["Bearer at"])
            let code = try await browser.open(story.here.authorizeAddress()).requireRedirected("code")
            let userID = try await story.here.redeemAuthorization(code).require("user_id")
            #expect(try await story.here.user(userID)["name"] == "Kari Nordmann")

            // Userinfo about another subject, or none at all, opens no session.
            browser.forgetSession()
            story.there.publish("/userinfo", ["sub": "ola"])
            story.expect(502, "upstream_mistrusted: userinfo", try await story.signIn(&browser), browser)
            story.there.publish("/userinfo", text: "ey.a.jwt")
            story.expect(503, "upstream_unavailable: userinfo", try await story.signIn(&browser), browser)
            story.there.publish("/userinfo", ["sub": "kari"], status: "401 Unauthorized")
            story.expect(503, "upstream_unavailable: userinfo", try await story.signIn(&browser), browser)
            // With all claims in the token, userinfo is not needed.
            let answer = try await story.signIn(&browser, ["email": "kari@example.com", "name": "Kari"])
            #expect(answer.status == 303)
        }
    }

    @Test(
        "Spindle authenticates by a method that the issuer's token endpoint supports, or sends it no user",
        arguments: Backend.available)
    func otherWays(backend: Backend) async throws {
        // Refused before the user leaves.
        try await StandInStory.with(
            backend, document: ["token_endpoint_auth_methods_supported": ["tls_client_auth"]]
        ) { story in
            var browser = Browser(story.here.server)
            let page = try await browser.open(story.here.authorizeAddress())
            let answer = try await browser.follow(try page.requireLink(to: "/login/with/\(story.issuer)?"))
            story.expect(
                503, "upstream_unavailable: its token endpoint takes none of our ways to authenticate", answer, browser)
        }
        try await StandInStory.with(
            backend, document: ["token_endpoint_auth_methods_supported": ["client_secret_jwt"]]
        ) { story in
            var browser = Browser(story.here.server)
            #expect(try await story.signIn(&browser).status == 303)
            let redemption = try #require(story.there.redemptions.first)
            #expect(redemption.form["client_secret"] == nil && redemption.authorization == nil)
            let parts = try #require(redemption.form["client_assertion"]).split(separator: ".").map(String.init)
            let mac = Digest.hmacSHA256(Array("\(parts[0]).\(parts[1])".utf8), key: Array("a secret & more".utf8))
            #expect(parts[2] == Base64URL.encode(mac))
        }
        try await StandInStory.with(
            backend, document: ["token_endpoint_auth_methods_supported": ["private_key_jwt"]]
        ) { story in
            var browser = Browser(story.here.server)
            #expect(try await story.signIn(&browser).status == 303)
            let redemption = try #require(story.there.redemptions.first)
            #expect(redemption.form["client_secret"] == nil && redemption.authorization == nil)
            let ours = try AssertionKeys(keySet: try await story.here.server.get("/oauth/jwks").body)
            let shown = try await ours.verify(try #require(redemption.form["client_assertion"]), allowed: [.rs256])
            #expect(shown.claims["iss"] == "spindle-here" && shown.claims["sub"] == "spindle-here")
            #expect(try shown.audience == [story.there.origin + "/token"])
        }
    }

    @Test(
        "An issuer's missing access token, or one not of type Bearer, is refused where userinfo is needed",
        arguments: Backend.available)
    func tokenType(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            story.there.publish("/userinfo", ["sub": "kari", "name": "Kari Nordmann"])
            story.there.addEndpoint("userinfo_endpoint", "/userinfo")
            var browser = Browser(story.here.server)
            for (type, reason) in [("DPoP", "token_type"), (nil, "token_type")] as [(String?, String)] {
                let departure = try await story.leave(&browser)
                story.there.publish(
                    "/token",
                    .members([
                        "access_token": "at", "token_type": type.map { .string($0) },
                        "id_token": .string(story.there.sign(story.claims(departure))),
                    ]))
                let answer = try await story.comeBack(departure, in: &browser)
                story.expect(502, "upstream_mistrusted: \(reason)", answer, browser)
            }
            let departure = try await story.leave(&browser)
            story.there.publish("/token", ["id_token": .string(story.there.sign(story.claims(departure)))])
            story.expect(
                502, "upstream_mistrusted: no access_token", try await story.comeBack(departure, in: &browser), browser)
            #expect(story.there.bearers.isEmpty)
        }
    }

    @Test(
        "An issuer's signed userinfo is accepted only if signature, issuer, audience and subject are right",
        arguments: Backend.available)
    func signedUserinfo(backend: Backend) async throws {
        try await StandInStory.with(backend) { story in
            story.there.addEndpoint("userinfo_endpoint", "/userinfo")
            let good: [JSON.Member] = [
                .init("sub", "kari"), .init("name", "Kari Nordmann"), .init("iss", .string(story.there.issuer)),
                .init("aud", "spindle-here"),
            ]
            var browser = Browser(story.here.server)
            story.there.publish("/userinfo", text: story.there.sign(.object(good)))
            #expect(try await story.signIn(&browser).status == 303)
            browser.forgetSession()
            let forgeries = [
                story.there.sign(.object(good), with: .generate(.es256)),
                story.there.sign(.object(good.changed(["iss": "https://elsewhere.example"]))),
                story.there.sign(.object(good.changed(["aud": "another"]))),
                story.there.sign(.object(good.changed(["sub": "ola"]))),
            ]
            for forgery in forgeries {
                story.there.publish("/userinfo", text: forgery)
                let answer = try await story.signIn(&browser)
                story.expect(502, "upstream_mistrusted: userinfo", answer, browser)
            }
        }
    }
}
