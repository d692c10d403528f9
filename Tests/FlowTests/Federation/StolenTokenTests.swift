import Cryptography
import JOSE
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Forged, stolen and expired tokens of a trusted issuer") struct StolenTokenTests {
    @Test(
        "an assertion without signature, with the public key as secret, or of another key is refused",
        arguments: Backend.available)
    func forgeries(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            try await story.trust(host, ["algorithms": ["RS256", "ES256"]])
            let claims = story.claims(host)
            let name = JSONWebKey(host.key).keyID
            func encode(_ json: JSON) -> String { Base64URL.encode(Array(json.text.utf8)) }
            for alg in ["none", "None", "NONE"] {
                let token = encode(["alg": .string(alg), "typ": "JWT"]) + "." + encode(claims) + "."
                story.expect("assertion_algorithm", try await story.present(token))
            }
            for secret in [JSONWebKey(host.key).json.text, host.keys, name] {
                let token = SigningClient.hs256(claims, key: Array(secret.utf8), keyID: name)
                story.expect("assertion_algorithm", try await story.present(token))
            }
            let thief = PrivateKey.generate(.es256)
            let renamed = CompactJWS.sign(claims, type: "JWT", key: thief, keyID: name)
            story.expect("assertion_algorithm_of_another_key", try await story.present(renamed))
            story.expect("assertion_key_unknown", try await story.present(host.sign(claims, with: thief)))
            let good = host.sign(claims)
            let parts = good.split(separator: ".")
            let altered = encode(story.claims(host, ["sub": "ola"]))
            story.expect("assertion_signature", try await story.present("\(parts[0]).\(altered).\(parts[2])"))
            // A refusal spends nothing.
            #expect(try await story.present(good).status == 200)
            story.expect("assertion_replayed", try await story.present(good))
        }
    }

    @Test("a used assertion is good again once its issuer is deleted and registered anew", arguments: Backend.available)
    func issuerAnew(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            let issuer = try await story.trust(host)
            let tokens = [host.sign(story.claims(host)), host.sign(story.claims(host, ["jti": .null, "sub": "ola"]))]
            for token in tokens { #expect(try await story.present(token).status == 200) }
            let path = "/admin/v1/issuers/\(issuer)"
            #expect(try await story.world.server.send("DELETE", path, bearer: story.world.admin).status == 204)
            try await story.trust(host)
            for token in tokens { story.expect("assertion_replayed", try await story.present(token)) }
            #expect(try await story.present(host.sign(story.claims(host))).status == 200)
        }
    }

    @Test("each claim must be valid, and each rule of its issuer", arguments: Backend.available)
    func claims(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            try await story.trust(
                host, ["authorized_parties": ["phone", "watch"], "max_age": 300, "nonce": "required"])
            let now = story.world.server.clock.now.seconds
            let good: KeyValuePairs<String, JSON> = ["azp": "phone", "nonce": "n"]
            func refused(_ reason: String, _ changes: KeyValuePairs<String, JSON>) async throws {
                var all = good.map { ($0.key, $0.value) }
                all.removeAll { member in changes.contains { $0.key == member.0 } }
                let told = (all + changes.map { ($0.key, $0.value) }).filter { $0.1 != .null }
                let usual = (story.claims(host).members ?? []).filter { usual in
                    !changes.contains { $0.key == usual.name }
                }
                let claims = JSON.object(usual + told.map { JSON.Member($0.0, $0.1) })
                story.expect(reason, try await story.present(host.sign(claims), nonce: "n"))
            }
            try await refused("assertion_audience", ["aud": "another-app"])
            try await refused("assertion_audience", ["aud": ["another-app"]])
            try await refused("assertion_of_unknown_issuer", ["iss": "https://elsewhere.example"])
            try await refused("assertion_expired", ["exp": .integer(now)])
            try await refused("assertion_not_yet_valid", ["nbf": .integer(now + 61)])
            try await refused("assertion_from_the_future", ["iat": .integer(now + 61)])
            try await refused("assertion_too_old", ["iat": .integer(now - 301)])
            try await refused("assertion_too_old", ["iat": .null])
            try await refused("assertion_authorized_party", ["azp": "a thief's app"])
            try await refused("assertion_authorized_party", ["azp": .null])
            try await refused("assertion_authorized_party", ["azp": ["phone"]])
            try await refused("assertion_nonce", ["nonce": "m"])
            try await refused("assertion_nonce", ["nonce": .null])
            story.expect("assertion_nonce_missing", try await story.signIn(at: host, good))
            #expect(try await story.signIn(at: host, good, nonce: "n").status == 200)
        }
    }

    @Test("an assertion that names several audiences is accepted only from a listed azp", arguments: Backend.available)
    func otherAudiences(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            try await story.trust(host, ["audiences": [.string(IssuerStory.audience), "our-other-app"]])
            let shared: JSON = [.string(IssuerStory.audience), "a-thief's-app"]
            story.expect("assertion_other_audience", try await story.signIn(at: host, ["aud": shared]))
            let azp: KeyValuePairs<String, JSON> = ["aud": shared, "azp": .string(IssuerStory.audience)]
            story.expect("assertion_other_audience", try await story.signIn(at: host, azp))
            let own: JSON = [.string(IssuerStory.audience), "our-other-app"]
            #expect(try await story.signIn(at: host, ["aud": own]).status == 200)
        }
    }

    @Test("other tokens of the issuer are not accepted as ID tokens", arguments: Backend.available)
    func otherTokens(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            try await story.trust(host)
            for type in ["at+jwt", "logout+jwt", "application/at+jwt", "secevent+jwt", ""] {
                story.expect(
                    "assertion_type", try await story.present(host.sign(story.claims(host), type: type)))
            }
            let logout: JSON = ["http://schemas.openid.net/event/backchannel-logout": [:]]
            story.expect("assertion_type", try await story.signIn(at: host, ["events": logout]))
            for type in ["JWT", "jwt", "application/jwt"] {
                #expect(try await story.present(host.sign(story.claims(host), type: type)).status == 200)
            }
        }
    }

    @Test(
        "a token is refused at another merchant, and never leads to another issuer's user", arguments: Backend.available
    )
    func anotherMerchant(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let world = story.world
            let host = try IssuerHost(named: "https://accounts.google.com")
            try await story.trust(host, provider: "google")
            let token = host.sign(story.claims(host))
            let thief = try await IssuerStory.client(world, of: world.rival)
            story.expect("assertion_of_unknown_issuer", try await story.present(token, as: thief))
            // The rival trusts Google too, for its own app.
            let made = try await World.make(
                world.server, world.admin, "issuers",
                [
                    "merchant_id": .string(world.rival), "provider": "google", "audiences": ["the-rival's-app"],
                    "discovery_url": .string(host.discovery), "create_users": true,
                ])
            #expect(made.status == 201)
            story.expect("assertion_audience", try await story.present(token, as: thief))
            let kari = try await story.present(token)
            #expect(kari.status == 200)
            let theirs = try await story.present(
                host.sign(story.claims(host, ["aud": "the-rival's-app"])), as: thief)
            #expect(try theirs.require("user_id") != kari.require("user_id"))
        }
    }

    @Test("an assertion used by one grant is refused by the other", arguments: Backend.available)
    func bothGrants(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            try await story.trust(host)
            let token = host.sign(story.claims(host))
            #expect(try await story.exchange(token).status == 200)
            story.expect("assertion_replayed", try await story.present(token))
            let another = host.sign(story.claims(host))
            #expect(try await story.present(another).status == 200)
            story.expect("assertion_replayed", try await story.exchange(another), "invalid_request")
        }
    }

    /// Has the rival trust `host` as Loom does, and returns an app of the rival's.
    private func rivalApp(_ story: IssuerStory, trusting host: IssuerHost) async throws -> World.Actor {
        let world = story.world
        let made = try await World.make(
            world.server, world.admin, "issuers",
            [
                "merchant_id": .string(world.rival), "issuer": .string(host.issuer),
                "audiences": [.string(IssuerStory.audience)], "discovery_url": .string(host.discovery),
                "create_users": true,
            ])
        #expect(made.status == 201, "\(made)")
        return try await IssuerStory.client(world, of: world.rival)
    }

    @Test(
        "an assertion for this server alone, used at one merchant, is accepted at another that trusts its issuer",
        arguments: Backend.available)
    func forUsAlone(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            try await story.trust(host)
            let rival = try await rivalApp(story, trusting: host)
            let ours = JSON.string(SigningClient.issuer)
            for changes: KeyValuePairs<String, JSON> in [
                ["aud": ours], ["aud": [ours]], ["aud": ours, "jti": .null],
                ["aud": [ours, SigningClient.at("/oauth/token")]], ["aud": SigningClient.at("/api/2/oauth/token")],
            ] {
                let token = host.sign(story.claims(host, changes))
                #expect(try await story.present(token, as: rival).status == 200)
                story.expect("assertion_replayed", try await story.present(token))
                story.expect("assertion_replayed", try await story.exchange(token), "invalid_request")
                story.expect("assertion_replayed", try await story.present(token, as: rival))
            }
            // Nor where the other merchant says that we are its app.
            let theirs: String = try #require(
                try await story.world.server.database.rows(
                    "SELECT id FROM issuers WHERE merchant_id = \(story.world.rival)"
                ).first?.get("id"))
            let audiences: JSON = [ours, .string(SigningClient.issuer + "/oauth/token")]
            #expect(try await story.world.change("issuers", theirs, ["audiences": audiences]).status == 200)
            let own = host.sign(story.claims(host, ["aud": ours]))
            #expect(try await story.present(own).status == 200)
            story.expect("assertion_replayed", try await story.present(own, as: rival))
            // Nobody uses up the `jti` of another assertion elsewhere.
            let first = host.sign(story.claims(host, ["aud": ours, "jti": "one"]))
            let second = host.sign(story.claims(host, ["aud": ours, "jti": "one", "sub": "ola"]))
            #expect(try await story.present(first, as: rival).status == 200)
            #expect(try await story.present(second).status == 200)
        }
    }

    @Test(
        "an assertion for an app that two merchants share is refused at the second of them",
        arguments: Backend.available)
    func forApp(_ backend: Backend) async throws {
        try await IssuerStory.with(backend) { story in
            let host = try IssuerHost()
            try await story.trust(host)
            let rival = try await rivalApp(story, trusting: host)
            let both: JSON = [.string(IssuerStory.audience), .string(SigningClient.issuer)]
            for changes: KeyValuePairs<String, JSON> in [[:], ["jti": .null], ["aud": both]] {
                let token = host.sign(story.claims(host, changes))
                #expect(try await story.present(token, as: rival).status == 200)
                #expect(try await story.present(token).status == 200)
                story.expect("assertion_replayed", try await story.present(token, as: rival))
                story.expect("assertion_replayed", try await story.present(token))
            }
        }
    }
}
