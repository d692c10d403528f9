import Cryptography
import JOSE
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Key sets that clients register by value")
struct RegisteredKeySetTests {
    /// A public RSA key of `bits` without a private half.
    private static func rsa(_ bits: Int, _ exponent: String = "AQAB") -> JSON {
        let modulus = [0x80 | SystemRandom().bytes(1)[0]] + SystemRandom().bytes(bits / 8 - 2) + [1]
        return ["kty": "RSA", "n": .string(Base64URL.encode(modulus)), "e": .string(exponent)]
    }

    @Test("A client's key set with over twenty keys, over 16 KiB, or with weak or too large RSA keys is refused")
    func bounds() async throws {
        let small = JSONWebKey(PrivateKey.generate(.es256)).json
        func filled(_ text: Int) -> JSON {
            .object((small.members ?? []) + [.init("x5u", .string(String(repeating: "x", count: text)))])
        }
        let refused: [[JSON]] = [
            Array(repeating: small, count: 21), [filled(16 * 1024)], [small, Self.rsa(8192)], [Self.rsa(4104), small],
            [Self.rsa(1024)], [Self.rsa(2048, "_____w")], [Self.rsa(2048, "AgAB")],
        ]
        let taken: [[JSON]] = [
            Array(repeating: small, count: 20), [filled(8 * 1024)], [Self.rsa(4096)], [Self.rsa(2048), small],
        ]
        try await World.with(.sqlite) { world in
            let token = try await world.initialToken()
            let client = try await world.confidential([:])
            for (sets, isTaken) in [(refused, false), (taken, true)] {
                for set in sets {
                    let jwks: JSON = ["keys": .array(set)]
                    let came = try await world.sendRegistration(
                        ["token_endpoint_auth_method": "private_key_jwt", "jwks": jwks], with: token)
                    let changed = try await world.change("clients", client.id, ["jwks": jwks])
                    guard !isTaken else {
                        #expect(came.status == 201 && changed.status == 200, "\(set.count) \(came)")
                        continue
                    }
                    try await expect(400, "invalid_client_metadata", came)
                    expectProblem(changed, 400, member: "jwks")
                }
            }
        }
    }

    @Test(
        "An Ed25519 key of small order, which verifies forged signatures, is refused for clients and for issuers",
        arguments: Backend.available)
    func smallOrder(backend: Backend) async throws {
        try await World.with(backend) { world in
            let identity = Base64URL.encode([1] + [UInt8](repeating: 0, count: 31))
            let jwks: JSON = ["keys": [["kty": "OKP", "crv": "Ed25519", "kid": "k", "x": .string(identity)]]]
            let client = try await world.confidential([:])
            expectProblem(try await world.change("clients", client.id, ["jwks": jwks]), 400, member: "jwks")
            let issuer: JSON = [
                "merchant_id": .string(world.merchant), "issuer": "https://op.example", "jwks": jwks,
                "audiences": ["x"],
            ]
            expectProblem(try await World.make(world.server, world.admin, "issuers", issuer), 400, member: "jwks")
            // A key of small order that is already stored verifies nothing, and its client can still be read.
            let signer = try await world.signingClient(PrivateKey.generate(.edDSA), [:])
            let stored = JSON.members(["jwks": jwks]).text
            try await world.server.database.write { db in
                _ = try db.execute("UPDATE clients SET openid = \(stored) WHERE id = \(signer.id)")
            }
            world.server.clock.advance(by: .minutes(1))
            #expect(try await world.server.get("/admin/v1/clients/\(signer.id)", bearer: world.admin).status == 200)
            try await expect(401, "invalid_client", try await signer.ask())
        }
    }

    /// Every member that a JWK may have, null where `key` has none, as some programs write a key.
    static func filled(_ key: PrivateKey) -> JSON {
        let jwk = JSONWebKey(key).json
        let optional = [
            "use", "alg", "kid", "key_ops", "x5u", "x5c", "x5t", "x5t#S256", "n", "e", "d", "p", "q", "dp", "dq", "qi",
            "oth", "k",
        ]
        let kept = (jwk.members ?? []).filter { !["use", "alg", "kid"].contains($0.name) }
        return .object(kept + optional.map { .init($0, .null) })
    }

    /// An assertion of `client` that names no key.
    private func unnamed(_ client: SigningClient, _ key: PrivateKey) throws -> String {
        let claims = try TakenApart(client.assertion()).claims
        let input = [#"{"alg":"ES256","typ":"JWT"}"#, claims.text].map { Base64URL.encode(Array($0.utf8)) }
            .joined(separator: ".")
        return input + "." + Base64URL.encode(key.sign(Array(input.utf8)))
    }

    @Test("A null member of a JWK counts as absent, in a client's jwks and in the key set at its jwks_uri")
    func nulls() async throws {
        let (key, other) = (PrivateKey.generate(.es256), PrivateKey.generate(.es256))
        let host = try KeyHost(["keys": [Self.filled(key)]])
        try await World.with(.sqlite, settings: ["outbound_allow_private": "127.0.0.0/8"]) { world in
            let byValue = try await world.signingClient(key, ["jwks": ["keys": [Self.filled(key)]]])
            #expect(try await byValue.ask(unnamed(byValue, key)).status == 200)
            let published = try await world.confidential([
                "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": .string(host.address),
            ])
            let client = SigningClient(world: world, id: published.id, key: .own(key))
            #expect(try await client.ask(unnamed(client, key)).status == 200)
            // An incomplete key is skipped, and the other one used.
            let broken: JSON = ["kty": "EC", "crv": "P-256", "x": .null, "y": .null, "kid": "broken"]
            host.publish(["keys": [broken, JSONWebKey(other).json]])
            world.server.clock.advance(by: .hours(1))
            let renewed = SigningClient(world: world, id: published.id, key: .own(other))
            #expect(try await renewed.ask().status == 200)
            // A set without a usable key is unavailable, and the log names the fault.
            host.publish(["keys": [broken]])
            world.server.clock.advance(by: .hours(1))
            try await expect(503, "temporarily_unavailable", try await renewed.ask())
            #expect(world.server.log.says("keys[0] has no x"))
        }
    }

    @Test(
        "The refusal of a key set (JWKS) without a usable key names the key's member at fault",
        arguments: Backend.available)
    func named(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.confidential([:])
            let token = try await world.initialToken()
            for (key, fault): (JSON, String) in [
                (["kty": "RSA", "n": .null, "e": "AQAB"], "keys[0] has no n"),
                (["kty": .null, "n": "AQAB", "e": "AQAB"], "keys[0] has no kty"),
                (["kty": "EC", "crv": "P-256", "x": "AAAA", "y": .null], "keys[0] has no y"),
            ] {
                let jwks: JSON = ["keys": [key]]
                let changed = try await world.change("clients", client.id, ["jwks": jwks])
                expectProblem(changed, 400, member: "jwks")
                let came = try await world.sendRegistration(
                    ["token_endpoint_auth_method": "private_key_jwt", "jwks": jwks], with: token)
                try await expect(400, "invalid_client_metadata", came)
                let issuer = try await World.make(
                    world.server, world.admin, "issuers",
                    [
                        "merchant_id": .string(world.merchant), "issuer": "https://op.example", "jwks": jwks,
                        "audiences": ["x"],
                    ])
                expectProblem(issuer, 400, member: "jwks")
                for answer in [changed, came, issuer] { #expect(answer.body.contains(fault), "\(answer)") }
            }
        }
    }

    @Test("An assertion without kid that five of the client's keys could fit is refused; only the log says why")
    func unnamed() async throws {
        try await World.with(.sqlite) { world in
            let keys = (1...5).map { _ in PrivateKey.generate(.es256) }
            let client = try await world.signingClient(
                keys[0], ["jwks": ["keys": .array(keys.map { JSONWebKey($0).json })]])
            #expect(try await client.ask().status == 200, "it names its key")
            let parts = client.assertion().split(separator: ".").map(String.init)
            let input = Base64URL.encode(Array(#"{"alg":"ES256","typ":"JWT"}"#.utf8)) + "." + parts[1]
            let unnamed = input + "." + Base64URL.encode(keys[0].sign(Array(input.utf8)))
            try await expect(401, "invalid_client", try await client.ask(unnamed))
            #expect(world.server.log.says("too many keys fit"))
        }
    }
}
