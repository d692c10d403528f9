import Cryptography
import JOSE
import JSON
import Keys
import TestSupport
import Testing
import Values

/// The plan's modules in which the client's own server publishes keys, request objects or a sector document.
@Suite("Dynamic OP: modules whose client publishes keys, request objects or a sector document")
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

    @Test(
        "A signing key of each announced algorithm is published before a client uses it, and signs its tokens",
        arguments: Backend.available)
    func publishedBefore(backend: Backend) async throws {
        try await World.with(backend) { world in
            let metadata = try await world.server.get("/.well-known/openid-configuration").json
            let announced = try #require(metadata["id_token_signing_alg_values_supported"]?.strings)
            let kept = try AssertionKeys(keySet: try await world.server.get("/oauth/jwks").body)
            for algorithm in announced where algorithm != "HS256" {
                let client = try await world.register(["id_token_signed_response_alg": .string(algorithm)]).actor
                let token = try await world.signInToRegistered(client, ["scope": "openid"]).require("id_token")
                // Verified with the key set that was fetched before the change.
                let allowed = try #require(SignatureAlgorithm(rawValue: algorithm))
                _ = try await kept.verify(token, allowed: [allowed])
            }
            #expect(Set(announced).isSuperset(of: PrivateKey.Algorithm.allCases.map(\.rawValue)))
        }
    }

    @Test(
        "Key rotation makes new keys for RS256 and for the algorithms that clients use, and for no others",
        arguments: Backend.available)
    func algorithmsInUse(backend: Backend) async throws {
        try await World.with(backend) { world in
            func published() async throws -> [String] {
                let keys = try await world.server.get("/oauth/jwks").json["keys"]?.array ?? []
                return keys.compactMap { $0["alg"]?.string }
            }
            let first = try await published()
            #expect(first.first == "RS256" && first.sorted() == ["ES256", "EdDSA", "PS256", "RS256"])
            _ = try await world.register(["id_token_signed_response_alg": "ES256"])
            let client = try await world.confidential([:])
            try await world.change("clients", client.id, ["userinfo_signed_response_alg": "PS256"])
            try await world.server.rotateKeys()
            // The new keys are published at once.
            let all = try await published()
            #expect(all.sorted() == ["ES256", "ES256", "EdDSA", "PS256", "PS256", "RS256", "RS256"])
        }
    }

    @Test("oidcc-server-rotate-keys", arguments: Backend.available)
    func serverRotation(backend: Backend) async throws {
        try await World.with(backend) { world in
            let client = try await world.register().actor
            func token() async throws -> String {
                try await world.signInToRegistered(client, ["scope": "openid"]).require("id_token")
            }
            func published() async throws -> Set<String> {
                let keys = try await world.server.get("/oauth/jwks").json["keys"]?.array ?? []
                return Set(keys.compactMap { $0["kid"]?.string })
            }
            let (old, before) = (try await token(), try await published())
            try await world.server.rotateKeys()
            // The new key is published at once, although the key set was just read.
            let after = try await published()
            #expect(after.isStrictSuperset(of: before))
            #expect(try TakenApart(try await token()).header["kid"] == TakenApart(old).header["kid"], "not known yet")
            world.server.clock.advance(by: .minutes(15))
            let new = try await token()
            let kid = try #require(try TakenApart(new).header["kid"]?.string)
            #expect(after.subtracting(before).contains(kid))
            for jwt in [old, new] { _ = try await world.verified(jwt) }
        }
    }

    @Test("oidcc-refresh-token", arguments: Backend.available)
    func refreshToken(backend: Backend) async throws {
        try await World.with(backend) { world in
            let grants: KeyValuePairs<String, JSON> = ["grant_types": ["authorization_code", "refresh_token"]]
            let (client, second) = (try await world.register(grants).actor, try await world.register(grants).actor)
            let tokens = try await world.signInToRegistered(client, ["scope": "openid offline_access"])
            let refresh = try tokens.require("refresh_token")
            #expect(try await world.refresh(refresh, as: second).error == "invalid_grant")
            let refreshed = try await world.refresh(refresh, as: client)
            #expect(refreshed.status == 200 && refreshed.header("cache-control") == "no-store")
            #expect(refreshed.json["token_type"] == "Bearer")
            let access = try refreshed.require("access_token")
            #expect(try await world.server.get("/oauth/userinfo", bearer: access).status == 200)
            let (first, again) = (try tokens.require("id_token"), try refreshed.require("id_token"))
            for name in ["iss", "sub", "aud", "auth_time"] {
                #expect(try TakenApart(again).claims[name] == TakenApart(first).claims[name], "\(name)")
            }
        }
    }

    @Test("oidcc-request-uri-signed-rs256", arguments: Backend.available)
    func requestByReference(backend: Backend) async throws {
        let key = PrivateKey.generate(.rs256)
        let host = try KeyHost(.null)
        try await World.with(backend, settings: Self.settings) { world in
            let metadata = try await world.server.get("/.well-known/openid-configuration").json
            #expect(metadata["request_uri_parameter_supported"]?.bool == true)
            #expect(metadata["request_object_signing_alg_values_supported"]?.strings?.contains("RS256") == true)
            let made = try await world.register([
                "request_uris": [.string(host.address)], "request_object_signing_alg": "RS256",
                "jwks": SigningClient.keySet(key),
            ])
            #expect(made.answer.json["request_uris"]?.strings == [host.address])
            let claims: JSON = [
                "iss": .string(made.id), "aud": "http://spindle.test", "client_id": .string(made.id),
                "response_type": "code", "redirect_uri": .string(World.returnURI), "scope": "openid",
                "state": "held", "nonce": "held too", "code_challenge": .string(challenge),
                "code_challenge_method": "S256",
            ]
            host.publish(text: CompactJWS.sign(claims, type: "JWT", key: key, keyID: JSONWebKey(key).keyID))
            var browser = Browser(world.server)
            let asked: KeyValuePairs = ["scope": "openid", "state": "", "request_uri": host.address]
            let opened = try await browser.open(world.authorizeAddress(asked, for: made.actor))
            #expect(opened.status == 303)
            let page = try await browser.open(try #require(opened.header("location")))
            let signedIn = try await browser.submit(page, ["email": World.email, "password": World.password])
            let consent = try await browser.open(try #require(signedIn.header("location")))
            let back = try await world.allow(consent, in: &browser, ticking: consent.boxes)
            #expect(back.redirected("state") == "held")
            let tokens = try await world.redeemAuthorization(try back.requireRedirected("code"), as: made.actor)
            #expect(try await world.verified(try tokens.require("id_token")).claims["nonce"] == "held too")
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

    @Test(
        "A change that would take a client out of its pairwise sector, or into another's, is refused",
        arguments: Backend.available)
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
