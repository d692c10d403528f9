import Cryptography
import JOSE
import TestSupport
import Testing
import Values

/// Of the same plan, the modules in which the client has a server of its own: for its keys, or for its sector.
@Suite("Dynamic OP: documents of the client's")
struct DynamicKeyModuleTests {
    private static let settings = ["outbound_allow_private": "127.0.0.0/8"]

    @Test("oidcc-registration-jwks-uri", arguments: Backend.available)
    func keySetAddress(backend: Backend) async throws {
        let key = PrivateKey.generate(.rs256)
        let host = try KeyHost(SigningClient.keySet(key))
        try await World.with(backend, settings: Self.settings) { world in
            let made = try await world.register([
                "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": .string(host.address),
            ])
            #expect(made.answer.json["jwks_uri"]?.string == host.address)
            let signer = SigningClient(world: world, id: made.id, key: .own(key))
            let tokens = try await signer.redeem(try await world.registeredCode(made.actor), made.actor)
            #expect(tokens.status == 200)
        }
    }

    @Test("oidcc-refresh-token-rp-key-rotation", arguments: Backend.available)
    func rotation(backend: Backend) async throws {
        let (old, new) = (PrivateKey.generate(.rs256), PrivateKey.generate(.rs256))
        let host = try KeyHost(SigningClient.keySet(old))
        try await World.with(backend, settings: Self.settings) { world in
            let client = try await world.register([
                "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": .string(host.address),
                "grant_types": ["authorization_code", "refresh_token"],
            ]).actor
            let signer = SigningClient(world: world, id: client.id, key: .own(old))
            let code = try await world.registeredCode(client, scope: "openid offline_access")
            let tokens = try await signer.redeem(code, client)
            host.publish(SigningClient.keySet(new, old))
            world.server.clock.advance(by: .seconds(60))
            let renewed = SigningClient(world: world, id: client.id, key: .own(new))
            let refreshed = try await renewed.ask(
                nil, ["grant_type": "refresh_token", "refresh_token": try tokens.require("refresh_token")])
            #expect(refreshed.status == 200, "\(refreshed)")
        }
    }

    @Test("oidcc-registration-sector-uri", arguments: Backend.available)
    func sector(backend: Backend) async throws {
        let host = try KeyHost(["https://a.example/back", "https://b.example/back", "https://c.example/back"])
        try await World.with(backend, settings: Self.settings) { world in
            let first = try await world.register(sectored(host, ["https://a.example/back", "https://b.example/back"]))
            #expect(first.answer.json["sector_identifier_uri"]?.string == host.address)
            let second = try await world.register(sectored(host, ["https://c.example/back"]))
            let alone = try await world.register(["subject_type": "pairwise"])
            var subjects: [String] = []
            for made in [first, second, alone] {
                let tokens = try await world.signInToRegistered(made.actor, ["scope": "openid"])
                subjects.append(try await world.verified(try tokens.require("id_token")).subject ?? "")
            }
            #expect(subjects[0] == subjects[1] && subjects[0] != subjects[2] && subjects[0] != world.user)
        }
    }

    @Test("oidcc-registration-sector-bad", arguments: Backend.available)
    func foreignSector(backend: Backend) async throws {
        let host = try KeyHost(["https://a.example/back"])
        try await World.with(backend, settings: Self.settings) { world in
            let token = try await world.initialToken()
            let foreign = sectored(host, ["https://a.example/back", "https://thief.example/back"])
            try await expect(400, "invalid_client_metadata", try await world.sendRegistration(foreign, with: token))
            for document in ["", "{}", "[1]"] {
                host.publish(text: document)
                let own = sectored(host, ["https://a.example/back"])
                try await expect(400, "invalid_client_metadata", try await world.sendRegistration(own, with: token))
            }
        }
    }

    @Test("a sector is not left by a change, nor joined past registration", arguments: Backend.available)
    func keptSector(backend: Backend) async throws {
        let host = try KeyHost(["https://a.example/back"])
        try await World.with(backend, settings: Self.settings) { world in
            let made = try await world.register(sectored(host, ["https://a.example/back"]))
            let thief = try await made.send("PUT", made.update(["redirect_uris": ["https://thief.example/back"]]))
            try await expect(400, "invalid_client_metadata", thief)
            #expect(try await made.send("PUT", made.update(["client_name": "Another"])).status == 200)
            let uri: JSON = .string(host.address)
            for json: JSON in [
                ["redirect_uris": ["https://thief.example/back"]], ["sector_identifier_uri": "https://b.example/s"],
            ] {
                let answer = try await world.change("clients", made.id, json)
                #expect(answer.status == 400 && answer.json["member"] == "sector_identifier_uri")
            }
            let joined = try await world.change("clients", world.backend.id, ["sector_identifier_uri": uri])
            #expect(joined.status == 400)
        }
    }

    private func sectored(_ host: KeyHost, _ redirectURIs: [String]) -> KeyValuePairs<String, JSON> {
        [
            "subject_type": "pairwise", "sector_identifier_uri": .string(host.address),
            "redirect_uris": .array(redirectURIs.map { .string($0) }),
        ]
    }
}
