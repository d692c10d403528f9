import Cryptography
import JSON
import TestSupport
import Testing
import Values

@Suite("ID tokens of Google, Apple and Facebook") struct ProviderIDTokenTests {
    private static let google = "https://accounts.google.com"
    private static let apple = "https://appleid.apple.com"
    private static let facebook = "https://www.facebook.com"

    @Test(
        "Google, Apple or Facebook is registered by name and app ids, and its other settings are preset",
        arguments: Backend.available)
    func presets(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let world = story.world
            let cases: [(String, JSON, KeyValuePairs<String, JSON>)] = [
                (
                    "google", [:],
                    [
                        "issuer": .string(Self.google), "nonce": "if_sent", "nonce_transform": "none",
                        "discovery_url": "https://accounts.google.com/.well-known/openid-configuration",
                    ]
                ),
                (
                    "apple", [:],
                    [
                        "issuer": .string(Self.apple), "nonce": "if_sent", "nonce_transform": "sha256",
                        "discovery_url": "https://appleid.apple.com/.well-known/openid-configuration",
                    ]
                ),
                (
                    "facebook", ["app_secret": "s"],
                    [
                        "issuer": .string(Self.facebook), "nonce": "required", "nonce_transform": "none",
                        "jwks_uri": "https://limited.facebook.com/.well-known/oauth/openid/jwks/",
                    ]
                ),
            ]
            for (provider, more, expected) in cases {
                let named: JSON = [
                    "merchant_id": .string(world.merchant), "provider": .string(provider), "audiences": ["1"],
                ]
                let made = try await World.make(
                    world.server, world.admin, "issuers", .object((named.members ?? []) + (more.members ?? [])))
                #expect(made.status == 201, "\(made)")
                let shown = try await world.server.get("/admin/v1/issuers/\(made.require("id"))", bearer: world.admin)
                #expect(shown.json == made.json)
                #expect(shown.json["algorithms"]?.strings == ["RS256"], "\(provider)")
                #expect(shown.json["link_by_email"] == false && shown.json["create_users"] == false)
                for (name, value) in expected { #expect(shown.json[name] == value, "\(provider) \(name)") }
            }
        }
    }

    @Test(
        "Both spellings of iss in Google's ID token are accepted; a nonce must match if either side has one",
        arguments: Backend.available)
    func google(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: Self.google)
            try await story.trust(host, provider: "google")
            let first = try await story.signIn(at: host, ["azp": "the-android-app"])
            #expect(first.status == 200, "\(first)")
            let second = try await story.signIn(at: host, ["iss": "accounts.google.com", "nonce": "n"], nonce: "n")
            #expect(try second.require("user_id") == first.require("user_id"))
            // A finder of the token does not know the app's nonce.
            story.expect("assertion_nonce_missing", try await story.signIn(at: host, ["nonce": "n"]))
            story.expect("assertion_nonce", try await story.signIn(at: host, ["nonce": "n"], nonce: "m"))
            story.expect("assertion_nonce", try await story.signIn(at: host, nonce: "n"))
            story.expect("assertion_nonce", try await story.signIn(at: host, ["nonce": 1], nonce: "1"))
            story.expect("assertion_audience", try await story.signIn(at: host, ["aud": "somebody-else's-app"]))
            story.expect(
                "assertion_of_unknown_issuer", try await story.signIn(at: host, ["iss": "http://accounts.google.com"]))
            #expect(host.questions("/keys") == 1 && host.questions("/discovery") == 1)
        }
    }

    @Test(
        "The nonce in Apple's ID token is compared as a SHA-256 hash, and email_verified may be a text",
        arguments: Backend.available)
    func apple(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: Self.apple)
            try await story.trust(host, provider: "apple")
            let hash = Digest.sha256("n".utf8).map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
            let day = story.world.server.clock.now.seconds + 86400
            let made = try await story.signIn(
                at: host,
                [
                    "nonce": .string(hash), "email": "kari@example.com", "email_verified": "true",
                    "is_private_email": "false", "exp": .integer(day), "jti": .null,
                ], nonce: "n")
            #expect(made.status == 200, "\(made)")
            let me = try await story.world.server.get("/me", bearer: made.require("access_token"))
            #expect(me.json["email"] == "kari@example.com" && me.json["email_verified"] == true)
            story.expect("assertion_nonce", try await story.signIn(at: host, ["nonce": "n"], nonce: "n"))
            story.expect("assertion_nonce", try await story.signIn(at: host, ["nonce": .string(hash)], nonce: hash))
            // An app that hands Apple the nonce as it is.
            let id = try await story.world.server.get("/admin/v1/issuers", bearer: story.world.admin)
                .json["items"]?.array?.first?["id"]?.string
            try await story.world.change("issuers", try #require(id), ["nonce_transform": "none"])
            #expect(try await story.signIn(at: host, ["nonce": "n"], nonce: "n").status == 200)
        }
    }

    @Test(
        "An ID token of Facebook's Limited Login always needs a nonce, and its e-mail address is not stored",
        arguments: Backend.available)
    func facebook(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost(named: Self.facebook)
            try await story.trust(
                host,
                ["discovery_url": .null, "jwks_uri": .string(host.keys), "app_secret": "the app's secret"],
                provider: "facebook")
            let made = try await story.signIn(
                at: host,
                [
                    "nonce": "n", "email": "kari@example.com", "email_verified": true, "given_name": "Kari",
                    "family_name": "Nordmann", "name": "Kari Nordmann",
                ], nonce: "n")
            #expect(made.status == 200, "\(made)")
            let me = try await story.world.server.get("/me", bearer: made.require("access_token"))
            #expect(me.json["name"] == "Kari Nordmann" && me.json["email"] == nil)
            let again = try await story.signIn(
                at: host, ["iss": "https://limited.facebook.com", "nonce": "n"], nonce: "n")
            #expect(try again.require("user_id") == made.require("user_id"))
            story.expect("assertion_nonce_missing", try await story.signIn(at: host))
            story.expect("assertion_nonce", try await story.signIn(at: host, nonce: "n"))
        }
    }

    @Test("An access token and an ID token of one provider lead to the same user", arguments: Backend.available)
    func bothKinds(_ backend: Backend) async throws {
        try await ProviderStory.with(backend) { story in
            let world = story.world
            let host = try IssuerHost(named: Self.google)
            let issuers = try await world.server.get("/admin/v1/issuers", bearer: world.admin).json["items"]?.array
            let google = try #require(issuers?.first { $0["provider"] == "google" }?["id"]?.string)
            try await world.change("issuers", google, ["discovery_url": .string(host.discovery)])
            story.google("token", "1001")
            #expect(try await story.register("googleplus", "token").status == 200)
            let byAccessToken = try await story.logIn("googleplus", "token")
            let now = world.server.clock.now.seconds
            let byIDToken = try await story.logIn(
                host.sign([
                    "iss": .string(Self.google), "sub": "1001", "aud": .string(ProviderStandIn.googleApp),
                    "exp": .integer(now + 60),
                ]))
            #expect(try byIDToken.require("user_id") == byAccessToken.require("user_id"))
            // A SPiD-compatible client gets SPiD's error.
            let stranger = try await story.logIn(
                host.sign([
                    "iss": .string(Self.google), "sub": "1002", "aud": .string(ProviderStandIn.googleApp),
                    "exp": .integer(now + 60),
                ]))
            #expect(stranger.status == 400 && stranger.error == "unknown_user", "\(stranger)")
        }
    }
}
