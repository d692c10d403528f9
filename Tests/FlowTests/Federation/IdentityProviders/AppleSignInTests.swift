import Cryptography
import Foundation
import JOSE
import JSON
import TestSupport
import Testing
import Values

@Suite("Sign in with Apple")
struct AppleSignInTests {
    private static let apple = "https://appleid.apple.com"

    private static func appleFile(_ key: PrivateKey) -> String {
        let text = Data(key.pkcs8).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN PRIVATE KEY-----\n\(text)\n-----END PRIVATE KEY-----\n"
    }

    /// An issuer that claims to be Apple, and the key that signs the client secret.
    private static func withApple(
        _ backend: Backend, _ body: (StandInStory, PrivateKey) async throws -> Void
    ) async throws {
        let key = PrivateKey.generate(.es256)
        let there = try IdentityProviderStandIn(
            named: apple, ["token_endpoint_auth_methods_supported": ["client_secret_post"]])
        try await World.with(backend, settings: IdentityProviderStory.settings) { here in
            let issuer = try await here.issuer(
                discoveredAt: there.origin + "/discovery",
                [
                    .init("provider", "apple"), .init("audiences", ["spindle-here"]), .init("algorithms", ["ES256"]),
                    .init("team_id", "TEAM123456"), .init("key_id", "KEY1234567"),
                    .init("private_key", .string(appleFile(key))), .init("scope", "openid name email"),
                ])
            try await body(StandInStory(here: here, there: there, issuer: issuer), key)
        }
        there.stop()
    }

    @Test(
        "Apple's answer is posted without cookies, and Apple gets a client secret signed for each request",
        arguments: Backend.available)
    func apple(backend: Backend) async throws {
        try await Self.withApple(backend) { story, key in
            var browser = Browser(story.here.server)
            let departure = try await story.leave(&browser)
            #expect(departure.location.contains("response_mode=form_post"))
            story.grant(story.claims(departure))
            let form: KeyValuePairs = [
                "state": departure.state, "code": "a-code",
                "user": "{\"name\":{\"firstName\":\"Kari\",\"lastName\":\"Nordmann\"},\"email\":\"k@example.com\"}",
            ]
            // As a browser posts it from Apple's page: without SameSite=Lax cookies.
            let posted = try await story.here.server.post(story.callback, form, headers: ["Origin": Self.apple])
            #expect(posted.status == 303)
            let way = try #require(posted.header("location"))
            #expect(way.hasPrefix("\(story.callback)?state=\(departure.state)&code=a-code&user="))
            // Another browser cannot use it.
            var thief = Browser(story.here.server)
            story.expect(410, "state_of_another_browser", try await thief.open(way), thief)
            let back = try await browser.open(way)
            #expect(back.status == 303)
            let code = try await browser.open(try #require(back.header("location"))).requireRedirected("code")
            let userID = try await story.here.redeemAuthorization(code).require("user_id")
            #expect(try await story.here.user(userID)["name"] == "Kari Nordmann")

            let redemption = try #require(story.there.redemptions.first)
            #expect(redemption.form["client_id"] == "spindle-here")
            let keys = try AssertionKeys(keySet: JSON.members(["keys": [Self.published(key, "KEY1234567")]]).text)
            let secret = try await keys.verify(try #require(redemption.form["client_secret"]), allowed: [.es256])
            let now = story.here.server.clock.now.seconds
            #expect(secret.claims["iss"] == "TEAM123456" && secret.claims["sub"] == "spindle-here")
            #expect(secret.claims["aud"] == .string(Self.apple))
            #expect(secret.claims["iat"]?.integer == now && secret.claims["exp"]?.integer == now + 300)
            #expect(secret.header["kid"] == "KEY1234567")
        }
    }

    private static func published(_ key: PrivateKey, _ id: String) -> JSON {
        .object((JSONWebKey(key).json.members ?? []).map { $0.name == "kid" ? .init("kid", .string(id)) : $0 })
    }

    @Test(
        "An issuer's answer posted by another browser signs in neither that browser nor the one that began",
        arguments: Backend.available)
    func anotherBrowsersForm(backend: Backend) async throws {
        try await Self.withApple(backend) { story, _ in
            var attacker = Browser(story.here.server)
            var victim = Browser(story.here.server)
            let departure = try await story.leave(&attacker)
            story.grant(story.claims(departure))
            // The attacker leads the victim to the provider with this state; the victim's browser posts the answer.
            let posted = try await story.here.server.post(
                story.callback, ["state": departure.state, "code": "the-code"])
            #expect(posted.status == 303)
            story.expect(
                410, "state_of_another_browser", try await victim.open(try #require(posted.header("location"))), victim)
            // What the attacker can fetch has no answer in it.
            #expect(try await attacker.open("\(story.callback)?state=\(departure.state)").status == 502)
            #expect(try await !attacker.isSignedIn())
            #expect(try await !victim.isSignedIn())
            #expect(story.there.redemptions.isEmpty)
            #expect(try await story.here.places(of: "the-code").isEmpty)
            #expect(try await story.here.places(of: departure.state).isEmpty)
        }
    }

    @Test(
        "A malformed answer by form_post is refused, and an error that Apple posts ends the sign-in",
        arguments: Backend.available)
    func forms(backend: Backend) async throws {
        try await Self.withApple(backend) { story, _ in
            var browser = Browser(story.here.server)
            let departure = try await story.leave(&browser)
            for bad: KeyValuePairs in [
                ["state": departure.state], ["code": "x"], ["state": "", "code": "x"],
                ["state": departure.state, "code": "x", "user": String(repeating: "u", count: 8000)],
            ] {
                #expect(try await story.here.server.post(story.callback, bad).status == 400)
            }
            let declined = try await story.here.server.post(
                story.callback, ["state": departure.state, "error": "user_cancelled_authorize"])
            #expect(try await browser.open(try #require(declined.header("location"))).status == 403)
        }
    }

    @Test(
        "Apple's private_key must be P-256 in PEM, with key id and team id, and no other issuer may have one",
        arguments: Backend.available)
    func registration(backend: Backend) async throws {
        try await World.with(backend) { here in
            let file = Self.appleFile(.generate(.es256))
            let good: [JSON.Member] = [
                .init("merchant_id", .string(here.merchant)), .init("provider", "apple"), .init("audiences", ["a"]),
                .init("client_id", "a"), .init("team_id", "T"), .init("key_id", "K"),
                .init("private_key", .string(file)),
            ]
            let bad: [(String, KeyValuePairs<String, JSON>)] = [
                ("team_id", ["team_id": .null]), ("key_id", ["key_id": .null]), ("private_key", ["private_key": .null]),
                ("private_key", ["private_key": "no key"]),
                ("private_key", ["private_key": .string(Self.appleFile(.generate(.edDSA)))]),
                ("client_secret", ["client_secret": "s"]),
                (
                    "private_key",
                    [
                        "provider": .null, "issuer": "https://m.example", "discovery_url": "https://m.example/d",
                        "sign_in_name": "M",
                    ]
                ),
                ("team_id", ["client_id": .null]),
            ]
            for (member, changes) in bad {
                let json = JSON.object(good.changed(changes).filter { $0.value != .null })
                let answer = try await World.make(here.server, here.admin, "issuers", json)
                #expect(answer.status == 422 || answer.status == 400, "\(member): \(answer)")
                #expect(answer.body.contains("\"\(member)\""), "\(member): \(answer)")
            }
            let made = try await World.make(here.server, here.admin, "issuers", .object(good))
            #expect(made.status == 201, "\(made)")
            #expect(!made.body.contains("PRIVATE") && made.json["team_id"] == nil)
        }
    }
}
