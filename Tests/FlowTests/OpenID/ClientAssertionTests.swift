import Cryptography
import JOSE
import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Clients that authenticate by a signed assertion (RFC 7523, OpenID Connect Core §9)")
struct ClientAssertionTests {
    @Test("A client authenticates by an assertion signed with any algorithm, with or without client_id")
    func algorithms() async throws {
        try await World.with(.sqlite) { world in
            for algorithm in PrivateKey.Algorithm.allCases {
                let client = try await world.signingClient(.generate(algorithm))
                #expect(try await client.ask().status == 200, "\(algorithm)")
                let named = try await client.ask(
                    nil, ["grant_type": "client_credentials", "client_id": client.id])
                #expect(named.status == 200)
            }
        }
    }

    @Test(
        "Clients can authenticate by assertion at the token, introspection and revocation endpoints",
        arguments: Backend.available)
    func everywhere(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.signingClient()
            let token = try await client.ask().require("access_token")
            let told = try await client.ask(nil, ["token": token], at: "/oauth/introspect")
            #expect(told.json["active"] == true)
            #expect(try await client.ask(nil, ["token": token], at: "/oauth/revoke").status == 200)
            let again = try await client.ask(nil, ["token": token], at: "/oauth/introspect")
            #expect(again.json["active"] == false)
        }
    }

    @Test(
        "A client_secret_jwt assertion is signed with the client_secret, which is also the sign secret",
        arguments: Backend.available)
    func secretJWT(backend: Backend) async throws {
        try await World.with(backend) { world in
            let made = try await World.make(
                world.server, world.admin, "clients",
                [
                    "merchant_id": .string(world.merchant), "grant_types": ["client_credentials"],
                    "token_endpoint_auth_method": "client_secret_jwt", "token_endpoint_auth_signing_alg": "HS256",
                ])
            let secret = try made.require("client_secret")
            #expect(try made.require("sign_secret") == secret)
            let client = SigningClient(world: world, id: try made.require("client_id"), key: .secret(secret))
            #expect(try await client.ask().status == 200)
            let more = try await world.server.send(
                "POST", "/admin/v1/clients/\(client.id)/secrets", json: [:], bearer: world.admin)
            #expect(more.status == 409, "it has one secret, and no other")
            let wrong = SigningClient(world: world, id: client.id, key: .secret(secret + "x"))
            try await expect(401, "invalid_client", try await wrong.ask())
        }
    }

    @Test(
        "A client assertion's aud may name only the issuer, the token endpoint and the endpoint asked",
        arguments: Backend.available)
    func audiences(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.signingClient()
            let (issuer, endpoint) = (JSON.string(SigningClient.issuer), SigningClient.at("/oauth/token"))
            let good: [JSON] = [
                issuer, endpoint, [issuer], [endpoint], [issuer, endpoint], [endpoint, issuer], [issuer, issuer],
                [issuer, endpoint, SigningClient.at("/api/2/oauth/token")],
            ]
            for path in ["/oauth/token", "/api/2/oauth/token"] {
                for audience in good + [SigningClient.at(path)] {
                    let answer = try await client.ask(client.assertion(["aud": audience]), at: path)
                    #expect(answer.status == 200, "\(path) \(audience)")
                }
            }
            let foreign: [JSON] = [
                "https://other.example", ["https://other.example", endpoint], [issuer, "https://other.example"],
                [issuer, endpoint, "https://other.example"], [issuer, ""], "", [], [[issuer]], [issuer, 1],
                .string(SigningClient.issuer + "/"), "/oauth/token", SigningClient.at("/oauth/token/"),
                .string(SigningClient.issuer.uppercased()), SigningClient.at("/oauth/to\u{212A}en"),
                SigningClient.at("/oauth/introspect"), [issuer, SigningClient.at("/oauth/revoke")],
            ]
            for audience in foreign {
                let refused = try await client.ask(client.assertion(["aud": audience]))
                try await expect(401, "invalid_client", refused, "\(audience)")
            }
        }
    }

    @Test(
        "At introspection and revocation a client assertion's aud may also be the endpoint that is asked",
        arguments: Backend.available)
    func askedEndpoint(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.signingClient()
            let (issuer, token) = (JSON.string(SigningClient.issuer), SigningClient.at("/oauth/token"))
            let others = ["/oauth/introspect": "/oauth/revoke", "/oauth/revoke": "/oauth/introspect"]
            for (path, other) in others {
                let asked = SigningClient.at(path)
                let good: [JSON] = [issuer, token, asked, [asked], [issuer, token, asked], [issuer, token]]
                for audience in good {
                    let answer = try await client.ask(
                        client.assertion(["aud": audience]), ["token": "unknown"], at: path)
                    #expect(answer.status == 200, "\(path) \(audience)")
                }
                let bad: [JSON] = [
                    SigningClient.at(other), [asked, SigningClient.at(other)], [asked, "https://other.example"],
                ]
                for audience in bad {
                    let refused = try await client.ask(
                        client.assertion(["aud": audience]), ["token": "unknown"], at: path)
                    try await expect(401, "invalid_client", refused, "\(path) \(audience)")
                }
            }
            #expect(world.server.log.says("assertion_audience"))
        }
    }

    @Test("With require_issuer_audience a client assertion's aud must be the issuer alone, at every endpoint")
    func issuerAlone() async throws {
        try await World.with(.sqlite) { world in
            let client = try await world.signingClient(.generate(.es256), ["require_issuer_audience": true])
            let (issuer, endpoint) = (JSON.string(SigningClient.issuer), SigningClient.at("/oauth/token"))
            #expect(try await client.ask().status == 200)
            #expect(try await client.ask(client.assertion(["aud": [issuer]])).status == 200)
            let refused: [JSON] = [endpoint, [endpoint], [issuer, endpoint], [issuer, issuer], []]
            for audience in refused {
                let answer = try await client.ask(client.assertion(["aud": audience]))
                try await expect(401, "invalid_client", answer, "\(audience)")
            }
            let asked = client.assertion(["aud": SigningClient.at("/oauth/introspect")])
            try await expect(
                401, "invalid_client", try await client.ask(asked, ["token": "x"], at: "/oauth/introspect"))
            try await world.change("clients", client.id, ["require_issuer_audience": false])
            #expect(try await client.ask(client.assertion(["aud": endpoint])).status == 200)
        }
    }

    @Test(
        "A forged, expired or another client's assertion is refused, always with the same answer",
        arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await World.with(backend) { world in
            let key = PrivateKey.generate(.es256)
            let client = try await world.signingClient(key)
            let other = try await world.signingClient()
            let thief = SigningClient(world: world, id: client.id, key: .own(.generate(.es256)))
            let now = world.server.clock.now.seconds
            let claims = try TakenApart(client.assertion()).claims
            let jwk = JSONWebKey(key)
            var assertions = [
                ("rejected", try TakenApart(client.assertion()).unsigned), ("rejected", thief.assertion()),
                ("rejected", SigningClient.hs256(claims, key: Array(jwk.json.text.utf8), keyID: jwk.keyID)),
                ("rejected", SigningClient.hs256(claims, key: Array(jwk.json.text.utf8))),
                ("rejected", client.assertion() + "A"),
                ("rejected", CompactJWS.sign(claims, type: "JWT", key: key, keyID: "another")),
                // JWTs that the client signed for another purpose.
                ("type", CompactJWS.sign(claims, type: "oauth-authz-req+jwt", key: key, keyID: jwk.keyID)),
                ("type", CompactJWS.sign(claims, type: "logout+jwt", key: key, keyID: jwk.keyID)),
                // Another client's key, in this client's name.
                ("rejected", SigningClient(world: world, id: client.id, key: other.key).assertion()),
            ]
            for (reason, changes): (String, KeyValuePairs<String, JSON>) in [
                ("issuer", ["iss": .string(other.id)]), ("issuer", ["iss": .null]),
                ("audience", ["aud": "https://other.example"]), ("audience", ["aud": .null]),
                ("audience", ["aud": ["https://other.example"]]), ("rejected", ["aud": 1]),
                ("audience", ["aud": "http://spindle.test/oauth/tokens"]),
                ("expiry_missing", ["exp": .null]), ("expired", ["exp": .integer(now)]),
                ("rejected", ["exp": "soon"]), ("lives_too_long", ["exp": .integer(now + 86401)]),
                ("lives_too_long", ["exp": .integer(now + 3601), "iat": .null]),
                ("not_yet_valid", ["nbf": .integer(now + 61)]), ("from_the_future", ["iat": .integer(now + 61)]),
                ("too_old", ["iat": .integer(now - 601)]),
                ("jti_missing", ["jti": .null]), ("jti_missing", ["jti": ""]), ("rejected", ["jti": 1]),
            ] {
                assertions.append((reason, client.assertion(changes)))
            }
            var bodies: Set<String> = []
            for (reason, assertion) in assertions {
                let answer = try await client.ask(assertion)
                try await expect(401, "invalid_client", answer, "\(reason)")
                #expect(world.server.log.says("reason=assertion_\(reason)"), "\(reason)")
                bodies.insert(answer.body)
            }
            let unknown = SigningClient(world: world, id: "nobody", key: client.key)
            bodies.insert(try await unknown.ask().body)
            try await world.change("clients", client.id, ["disabled": true])
            bodies.insert(try await client.ask().body)
            #expect(bodies.count == 1, "\(bodies)")
        }
    }

    @Test("A client assertion from a clock that is a minute ahead is accepted")
    func skew() async throws {
        try await World.with(.sqlite) { world in
            let client = try await world.signingClient()
            let soon: JSON = .integer(world.server.clock.now.seconds + 60)
            #expect(try await client.ask(client.assertion(["nbf": soon, "iat": soon])).status == 200)
        }
    }

    @Test("A client assertion is accepted once in all, at whichever endpoint", arguments: Backend.available)
    func replay(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.signingClient()
            let first = client.assertion(["jti": "one"])
            #expect(try await client.ask(first).status == 200)
            try await expect(401, "invalid_client", try await client.ask(first))
            try await expect(
                401, "invalid_client", try await client.ask(first, ["token": "x"], at: "/oauth/introspect"))
            try await expect(401, "invalid_client", try await client.ask(client.assertion(["jti": "one"])))
            #expect(world.server.log.says("reason=assertion_replayed"))
            // The same jti of another client is another assertion.
            let other = try await world.signingClient()
            #expect(try await other.ask(other.assertion(["jti": "one"])).status == 200)
        }
    }

    @Test("Of concurrent uses of one client assertion at two nodes only one is accepted", arguments: Backend.available)
    func race(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.signingClient()
            let assertion = client.assertion()
            try await world.server.beside { node in
                let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                    for number in 0..<16 {
                        let server = number % 2 == 0 ? world.server : node
                        group.addTask { try await client.ask(assertion, on: server).status }
                    }
                    return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
                }
                #expect(statuses == [200: 1, 401: 15])
            }
        }
    }

    @Test(
        "The record of a used client assertion is deleted once the assertion is too old to be accepted",
        arguments: Backend.available)
    func forgotten(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.signingClient()
            #expect(try await client.ask().status == 200)
            func remembered() async throws -> Int {
                try await world.server.database.read { db in
                    try db.rows("SELECT fingerprint FROM used_assertions").count
                }
            }
            _ = await Retention(database: world.server.database).sweep(at: world.server.clock.now + .minutes(1))
            #expect(try await remembered() == 1)
            _ = await Retention(database: world.server.database).sweep(at: world.server.clock.now + .minutes(7))
            #expect(try await remembered() == 0)
            // An assertion that is too old after minutes is not remembered for the day until its exp.
            let day = JSON.integer(world.server.clock.now.seconds + 86_000)
            #expect(try await client.ask(client.assertion(["exp": day])).status == 200)
            _ = await Retention(database: world.server.database).sweep(at: world.server.clock.now + .minutes(10))
            #expect(try await remembered() == 1)
            _ = await Retention(database: world.server.database).sweep(at: world.server.clock.now + .minutes(17))
            #expect(try await remembered() == 0)
        }
    }
}
