import Cryptography
import JOSE
import JSON
import TestSupport
import Testing
import Values

@Suite("A client authenticates by its registered method, and by no other")
struct ClientMethodTests {
    @Test(
        "A client that signs cannot use a secret, and a client with a secret cannot use an assertion",
        arguments: Backend.available)
    func others(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.signingClient()
            for secret in ["", "guess"] {
                let form = ["grant_type": "client_credentials", "client_id": client.id, "client_secret": secret]
                let answer = try await world.server.post("/oauth/token", form: form.map { ($0.key, $0.value) })
                try await expect(401, "invalid_client", answer)
            }
            for actor in [world.backend, world.app] {
                let other = SigningClient(world: world, id: actor.id, key: client.key)
                try await expect(401, "invalid_client", try await other.ask())
            }
            let secret = SigningClient(world: world, id: world.backend.id, key: .secret(world.backend.secret))
            try await expect(401, "invalid_client", try await secret.ask())
        }
    }

    @Test(
        "A client that uses two authentication methods at once, or another client's client_id, is refused",
        arguments: Backend.available)
    func twice(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.signingClient()
            let grant = ("grant_type", "client_credentials")
            func proof() -> [(String, String)] {
                [("client_assertion_type", SigningClient.type), ("client_assertion", client.assertion()), grant]
            }
            let basic = try await world.server.post("/oauth/token", form: proof(), basic: world.backend.basic)
            try await expect(400, "invalid_request", basic)
            let body = try await world.server.post("/oauth/token", form: proof() + [("client_secret", "x")])
            try await expect(400, "invalid_request", body)
            let other = try await world.server.post("/oauth/token", form: proof() + [("client_id", world.backend.id)])
            try await expect(401, "invalid_client", other)
        }
    }

    @Test("A client assertion without client_assertion_type, of another type or that is no JWT is refused")
    func malformed() async throws {
        try await World.with(.sqlite) { world in
            let client = try await world.signingClient()
            let type = ("client_assertion_type", SigningClient.type)
            let good = ("client_assertion", client.assertion())
            let nul = Base64URL.encode(Array(#"{"sub":"a\u0000"}"#.utf8))
            for form in [
                [good], [type], [("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:saml2"), good],
                [type, ("client_assertion", "x")], [type, ("client_assertion", "a.b.c")],
                [type, ("client_assertion", "e30.\(nul).e30")], [type, ("client_assertion", "e30.e30.")],
                [type, ("client_assertion", String(repeating: "a", count: 20000))],
            ] {
                let answer = try await world.server.post(
                    "/oauth/token", form: form + [("grant_type", "client_credentials"), ("client_id", client.id)])
                try await expect(401, "invalid_client", answer, "\(form)")
            }
        }
    }

    @Test("Only the algorithm that the client registered is accepted in its assertions")
    func pinned() async throws {
        try await World.with(.sqlite) { world in
            let key = PrivateKey.generate(.rs256)
            var members = JSONWebKey(key).json.members ?? []
            // Without `alg` the key is good for any RSA signature.
            members.removeAll { $0.name == "alg" }
            let keySet: JSON = ["keys": [.object(members)]]
            let client = try await world.signingClient(key, ["jwks": keySet])
            #expect(try await client.ask().status == 200)
            try await world.change("clients", client.id, ["token_endpoint_auth_signing_alg": "PS256"])
            try await expect(401, "invalid_client", try await client.ask())
        }
    }

    @Test(
        "A client's key set is fetched from its jwks_uri once, and again for a key id not seen before",
        arguments: Backend.available)
    func published(backend: Backend) async throws {
        let (old, new) = (PrivateKey.generate(.es256), PrivateKey.generate(.es256))
        let host = try KeyHost(SigningClient.keySet(old))
        try await World.with(backend, settings: ["outbound_allow_private": "127.0.0.0/8"]) { world in
            let made = try await world.confidential([
                "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": .string(host.address),
            ])
            let client = SigningClient(world: world, id: made.id, key: .own(old))
            let renewed = SigningClient(world: world, id: made.id, key: .own(new))
            #expect(try await client.ask().status == 200)
            #expect(try await client.ask().status == 200)
            #expect(host.questions == 1)
            try await expect(401, "invalid_client", try await renewed.ask())
            host.publish(SigningClient.keySet(new))
            world.server.clock.advance(by: .seconds(11))
            #expect(try await renewed.ask().status == 200)
            try await expect(401, "invalid_client", try await client.ask())
        }
    }

    @Test(
        "A client that signs gets 503 and Retry-After while its jwks_uri serves no usable key set",
        arguments: ["", "no JSON", #"{"keys":[]}"#])
    func unpublished(_ body: String) async throws {
        let host = try KeyHost(.null)
        host.publish(text: body)
        try await World.with(.sqlite, settings: ["outbound_allow_private": "127.0.0.0/8"]) { world in
            let key = PrivateKey.generate(.es256)
            let made = try await world.confidential([
                "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": .string(host.address),
            ])
            let client = SigningClient(world: world, id: made.id, key: .own(key))
            // The client may be right, so it is told to ask again.
            let answer = try await client.ask()
            try await expect(503, "temporarily_unavailable", answer)
            #expect(answer.header("retry-after") == "10")
            #expect(world.server.log.says("reason=client_keys_unavailable"))
        }
    }

    @Test("An RSA key of 8192 bits in a client's key set is ignored, and the client's other keys work")
    func slow() async throws {
        let key = PrivateKey.generate(.es256)
        // An odd number of 8192 bits stands for a modulus; the key is never used.
        let modulus = Base64URL.encode([0xC5] + [UInt8](repeating: 0x5A, count: 1022) + [0x55])
        let slow: JSON = ["kty": "RSA", "n": .string(modulus), "e": "AQAB", "kid": "slow"]
        let host = try KeyHost(["keys": [slow, JSONWebKey(key).json]])
        try await World.with(.sqlite, settings: ["outbound_allow_private": "127.0.0.0/8"]) { world in
            let made = try await world.confidential([
                "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": .string(host.address),
            ])
            let client = SigningClient(world: world, id: made.id, key: .own(key))
            #expect(try await client.ask().status == 200)
            let claims = try TakenApart(client.assertion()).claims
            let forged = CompactJWS.sign(claims, type: "JWT", key: .generate(.rs256), keyID: "slow")
            try await expect(401, "invalid_client", try await client.ask(forged))
            #expect(world.server.log.says("no known key has its key id"))
        }
    }

    @Test("A client's jwks_uri whose host resolves to a private address is not fetched by default")
    func privateAddress() async throws {
        let key = PrivateKey.generate(.es256)
        let host = try KeyHost(SigningClient.keySet(key))
        try await World.with(.sqlite) { world in
            // That a name leads to a private address shows only when it is looked up.
            let address = host.address.replacing("http://127.0.0.1", with: "https://localhost")
            let made = try await world.confidential([
                "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": .string(address),
            ])
            let client = SigningClient(world: world, id: made.id, key: .own(key))
            try await expect(503, "temporarily_unavailable", try await client.ask())
            #expect(host.questions == 0)
        }
    }

    @Test("A client authentication method needs its members, and members that it does not use are refused")
    func registered() async throws {
        try await World.with(.sqlite) { world in
            let key = PrivateKey.generate(.es256)
            let keySet = SigningClient.keySet(key)
            let secret: JSON = ["keys": [["kty": "oct", "k": "c2VjcmV0"], JSONWebKey(key).json]]
            for (member, changes): (String, KeyValuePairs<String, JSON>) in [
                ("jwks", ["token_endpoint_auth_method": "private_key_jwt"]),
                (
                    "token_endpoint_auth_signing_alg",
                    [
                        "token_endpoint_auth_method": "private_key_jwt", "jwks": keySet,
                        "token_endpoint_auth_signing_alg": "HS256",
                    ]
                ),
                (
                    "token_endpoint_auth_signing_alg",
                    ["token_endpoint_auth_method": "client_secret_jwt", "token_endpoint_auth_signing_alg": "ES256"]
                ),
                ("token_endpoint_auth_signing_alg", ["token_endpoint_auth_signing_alg": "ES256"]),
                ("token_endpoint_auth_signing_alg", ["token_endpoint_auth_signing_alg": "none"]),
                ("jwks", ["token_endpoint_auth_method": "private_key_jwt", "jwks": secret]),
                ("jwks", ["jwks": keySet, "jwks_uri": "https://site.example/keys"]),
                ("token_endpoint_auth_method", ["token_endpoint_auth_method": "tls_client_auth"]),
            ] {
                let members = [JSON.Member("merchant_id", .string(world.merchant))]
                let json = JSON.object(members + changes.map { .init($0.key, $0.value) })
                let answer = try await World.make(world.server, world.admin, "clients", json)
                #expect(answer.status == 400 && answer.json["member"]?.string == member, "\(changes): \(answer)")
            }
            let client = try await world.signingClient(key)
            #expect(try await world.change("clients", client.id, ["jwks": .null]).status == 400)
            let other = try await world.change("clients", client.id, ["token_endpoint_auth_method": "none"])
            #expect(other.json["member"]?.string == "token_endpoint_auth_method")
        }
    }
}
