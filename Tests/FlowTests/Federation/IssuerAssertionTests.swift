import Cryptography
import JOSE
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("An assertion of a merchant's trusted issuer becomes a token (RFC 7523)")
struct IssuerAssertionTests {
    private static let secret = "a shared secret of at least 32 bytes"
    private static let name = "https://paper.example"

    @Test(
        "An issuer's assertions about one subject give tokens of one user, at the issuer's merchant only",
        arguments: Backend.available)
    func story(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await register(world, ["create_users": true])
            let first = try await present(world, claims(world))
            #expect(first.status == 200)
            #expect(try await world.isLive(try first.require("access_token")))
            #expect(try await world.refresh(try first.require("refresh_token"), as: world.backend).status == 200)
            let second = try await present(world, claims(world))
            #expect(try second.require("user_id") == first.require("user_id"))
            let other = try await present(world, claims(world, ["sub": "ola"]))
            #expect(try other.require("user_id") != first.require("user_id"))
            // Another merchant does not trust this issuer.
            #expect(try await present(world, claims(world), as: world.rivalBackend).error == "invalid_grant")
        }
    }

    @Test(
        "An issuer's assertion is accepted once, known by its jti or, without one, by its text",
        arguments: Backend.available)
    func replay(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await register(world, ["create_users": true])
            let named = claims(world, ["jti": "one"])
            #expect(try await present(world, named).status == 200)
            #expect(try await present(world, named).error == "invalid_grant")
            #expect(try await present(world, claims(world, ["jti": "one", "sub": "ola"])).error == "invalid_grant")
            let nameless = claims(world, ["jti": .null])
            #expect(try await present(world, nameless).status == 200)
            #expect(try await present(world, nameless).error == "invalid_grant")
            #expect(world.server.log.says("assertion_replayed"))
            let raced = sign(claims(world))
            let answers = try await race(10) { try await present(world, assertion: raced) }
            #expect(answers.filter { $0.status == 200 }.count == 1)
        }
    }

    @Test(
        "An assertion's time, audience, issuer and signature must be valid, and a refusal does not spend it",
        arguments: Backend.available)
    func refusals(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await register(world, ["create_users": true])
            let now = world.server.clock.now.seconds
            let bad: [KeyValuePairs<String, JSON>] = [
                ["exp": .integer(now)], ["exp": .null], ["exp": .integer(now + 2 * 86400)], ["exp": "soon"],
                ["nbf": .integer(now + 600)], ["iat": .integer(now + 600)], ["aud": "https://other.example"],
                ["aud": .null], ["iss": "https://elsewhere.example"], ["iss": .null], ["sub": .null], ["sub": ""],
            ]
            for changes in bad {
                let answer = try await present(world, claims(world, changes))
                try await expect(400, "invalid_grant", answer, "\(changes)")
            }
            let good = claims(world)
            let forged = sign(good, secret: "another secret of at least 32 bytes")
            try await expect(400, "invalid_grant", try await present(world, assertion: forged))
            let unsigned = sign(good, header: ["alg": "none"]).split(separator: ".").prefix(2).joined(separator: ".")
            try await expect(400, "invalid_grant", try await present(world, assertion: unsigned + "."))
            for torn in ["x", "a.b.c", "..", String(sign(good).dropLast(3))] {
                let answer = try await present(world, assertion: torn)
                #expect(answer.status == 400, "\(torn)")
            }
            #expect(try await present(world, good).status == 200)
        }
    }

    @Test(
        "The issuer URL and the token endpoint's URL are both accepted as an assertion's audience",
        arguments: Backend.available)
    func audiences(backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await register(world, ["create_users": true, "audiences": ["https://alias.example"]])
            for audience: JSON in [
                "http://spindle.test", "http://spindle.test/oauth/token", "https://alias.example",
                ["https://alias.example", "http://spindle.test"],
            ] {
                #expect(try await present(world, claims(world, ["aud": audience])).status == 200, "\(audience.text)")
            }
        }
    }

    @Test(
        "An assertion about an unknown subject is refused unless its issuer may create users",
        arguments: Backend.available)
    func unknownSubject(backend: Backend) async throws {
        try await World.with(backend) { world in
            let issuer = try await register(world, [:])
            #expect(try await present(world, claims(world)).error == "invalid_grant")
            try await world.change("issuers", try issuer.require("id"), ["create_users": true])
            let made = try await present(world, claims(world))
            try await world.change("issuers", try issuer.require("id"), ["create_users": false])
            #expect(try await present(world, claims(world)).json["user_id"] == made.json["user_id"])
            try await world.change("users", try made.require("user_id"), ["disabled": true])
            #expect(try await present(world, claims(world)).error == "invalid_grant")
        }
    }

    @Test(
        "The admin API registers, lists, disables and deletes an issuer, and never shows its secret",
        arguments: Backend.available)
    func administration(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await register(world, ["create_users": true])
            #expect(made.status == 201)
            #expect(made.json["algorithms"]?.strings == ["HS256"])
            let id = try made.require("id")
            let path = "/admin/v1/issuers/\(id)"
            for answer in [
                made, try await world.server.get(path, bearer: world.admin),
                try await world.server.get("/admin/v1/issuers", bearer: world.admin),
            ] {
                #expect(answer.body.contains(Self.name))
                #expect(!answer.body.contains(Self.secret))
            }
            try await world.change("issuers", id, ["disabled": true])
            #expect(try await present(world, claims(world)).error == "invalid_grant")
            try await world.change("issuers", id, ["disabled": false])
            #expect(try await present(world, claims(world)).status == 200)

            let token = try await world.clientToken(
                try await world.confidential(["scope": "admin:merchant"], of: world.rival), scope: "admin:merchant")
            expectProblem(try await world.server.get(path, bearer: token), 404)
            expectProblem(try await world.server.send("DELETE", path, bearer: token), 404)
            let stolen = try await World.make(
                world.server, token, "issuers",
                [
                    "merchant_id": .string(world.merchant), "issuer": "https://thief.example",
                    "secret": .string(Self.secret),
                ])
            expectProblem(stolen, 403, member: "merchant_id")

            #expect(try await world.server.send("DELETE", path, bearer: world.admin).status == 204)
            expectProblem(try await world.server.get(path, bearer: world.admin), 404)
            #expect(try await present(world, claims(world)).error == "invalid_grant")
        }
    }

    @Test("Two merchants' issuers of the same name have different users", arguments: Backend.available)
    func strangers(backend: Backend) async throws {
        try await World.with(backend) { world in
            let rivalSecret = "the rival's secret of at least 32 bytes"
            _ = try await register(world, ["create_users": true])
            _ = try await register(world, ["create_users": true], of: world.rival, secret: rivalSecret)
            let ours = try await present(world, claims(world))
            let theirs = sign(claims(world), secret: rivalSecret)
            #expect(try await present(world, assertion: theirs).error == "invalid_grant")
            let answer = try await present(world, assertion: theirs, as: world.rivalBackend)
            #expect(try answer.require("user_id") != ours.require("user_id"))
            // A subject that equals a user's id or address is another user.
            for subject in [world.user, World.email] {
                let named = try await present(world, claims(world, ["sub": .string(subject)]))
                #expect(try named.require("user_id") != world.user)
            }
        }
    }

    // MARK: -

    private func register(
        _ world: World, _ more: JSON, of merchant: String? = nil, secret: String = IssuerAssertionTests.secret
    ) async throws -> Answer {
        let base: JSON = [
            "merchant_id": .string(merchant ?? world.merchant), "issuer": .string(Self.name),
            "secret": .string(secret),
        ]
        return try await World.make(
            world.server, world.admin, "issuers", .object((base.members ?? []) + (more.members ?? [])))
    }

    private func claims(_ world: World, _ changes: KeyValuePairs<String, JSON> = [:]) -> JSON {
        var claims: [JSON.Member] = [
            .init("iss", .string(Self.name)), .init("sub", "kari"), .init("aud", "http://spindle.test/oauth/token"),
            .init("exp", .integer(world.server.clock.now.seconds + 300)),
            .init("jti", .string(Base64URL.encode(SystemRandom().bytes(8)))),
        ]
        for (name, value) in changes {
            claims.removeAll { $0.name == name }
            if value != .null { claims.append(.init(name, value)) }
        }
        return .object(claims)
    }

    private func sign(_ claims: JSON, header: JSON = ["alg": "HS256"], secret: String = IssuerAssertionTests.secret)
        -> String
    {
        let signed = [header, claims].map { Base64URL.encode(Array($0.text.utf8)) }.joined(separator: ".")
        return signed + "." + Base64URL.encode(Digest.hmacSHA256(Array(signed.utf8), key: Array(secret.utf8)))
    }

    private func present(_ world: World, _ claims: JSON, as client: World.Actor? = nil) async throws -> Answer {
        try await present(world, assertion: sign(claims), as: client)
    }

    private func present(_ world: World, assertion: String, as client: World.Actor? = nil) async throws -> Answer {
        try await world.token(
            ["grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion],
            as: client ?? world.backend)
    }

    @Test(
        "An assertion that is unsigned, signed by another key or with the public key as secret is refused",
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

    @Test(
        "A used assertion is refused even after its issuer was deleted and registered again",
        arguments: Backend.available)
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

    @Test("Each claim of an assertion must be valid, and obey each rule of its issuer", arguments: Backend.available)
    func eachClaim(_ backend: Backend) async throws {
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

    @Test(
        "An assertion with a further audience that its issuer's registration does not list is refused",
        arguments: Backend.available)
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

    @Test("An issuer's access, logout and event tokens are not accepted as assertions", arguments: Backend.available)
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
            // An access token whose `typ` is JWT names a client that is not its audience.
            story.expect("assertion_type", try await story.signIn(at: host, ["client_id": "an-app-of-the-issuer"]))
            let own: KeyValuePairs<String, JSON> = ["client_id": .string(IssuerStory.audience)]
            #expect(try await story.signIn(at: host, own).status == 200)
            for type in ["JWT", "jwt", "application/jwt"] {
                #expect(try await story.present(host.sign(story.claims(host), type: type)).status == 200)
            }
        }
    }

    @Test(
        "An assertion for one merchant's app is refused at another, where the same subject is another user",
        arguments: Backend.available)
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

    @Test(
        "An assertion used by the jwt-bearer grant is refused by token exchange, and the other way round",
        arguments: Backend.available)
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
        "An assertion whose audience is this server alone can be used once in all, not once per merchant",
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
            // Nor if the other merchant names this server as its audience.
            let theirs: String = try #require(
                try await story.world.server.database.rows(
                    "SELECT id FROM issuers WHERE merchant_id = \(story.world.rival)"
                ).first?.get("id"))
            let audiences: JSON = [ours, .string(SigningClient.issuer + "/oauth/token")]
            #expect(try await story.world.change("issuers", theirs, ["audiences": audiences]).status == 200)
            let own = host.sign(story.claims(host, ["aud": ours]))
            #expect(try await story.present(own).status == 200)
            story.expect("assertion_replayed", try await story.present(own, as: rival))
            // A `jti` used at one merchant does not use up another assertion's at another.
            let first = host.sign(story.claims(host, ["aud": ours, "jti": "one"]))
            let second = host.sign(story.claims(host, ["aud": ours, "jti": "one", "sub": "ola"]))
            #expect(try await story.present(first, as: rival).status == 200)
            #expect(try await story.present(second).status == 200)
        }
    }

    @Test(
        "An assertion for an app that two merchants share can be used once at each merchant",
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
