import Cryptography
import JOSE
import JSON
import Storage
import TestSupport
import Testing

@Suite("Settings of a trusted issuer belong to the platform or to its merchant") struct IssuerAdministrationTests {
    private static let settings = ["outbound_allow_private": "127.0.0.0/8"]

    /// Registers an issuer as an administrator of Loom itself, or of the platform.
    private func make(_ world: World, _ members: JSON, by token: String) async throws -> Answer {
        try await World.make(
            world.server, token, "issuers",
            .object([.init("merchant_id", .string(world.merchant))] + (members.members ?? [])))
    }

    private func merchantsToken(_ world: World) async throws -> String {
        try await world.clientToken(
            try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
            scope: "admin:merchant")
    }

    @Test("Only the platform may let an issuer link users by e-mail address", arguments: Backend.available)
    func addresses(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let token = try await merchantsToken(world)
            let own: KeyValuePairs<String, JSON> = [
                "issuer": "https://op.loom.example", "secret": .string(Self.secret),
            ]
            func json(_ more: KeyValuePairs<String, JSON>) -> JSON {
                .object((own.map { ($0.key, $0.value) } + more.map { ($0.key, $0.value) }).map { .init($0.0, $0.1) })
            }
            expectProblem(try await make(world, json(["link_by_email": true]), by: token), 403, member: "link_by_email")
            expectProblem(
                try await make(world, json(["authoritative_domains": ["gmail.com"]]), by: token), 403,
                member: "link_by_email")
            let made = try await make(world, json([:]), by: token)
            #expect(made.status == 201, "\(made)")
            let path = "/admin/v1/issuers/\(try made.require("id"))"
            func change(_ json: JSON) async throws -> Answer {
                try await world.server.send("PATCH", path, json: json, bearer: token)
            }
            expectProblem(try await change(["link_by_email": true]), 403, member: "link_by_email")
            #expect(try await change(["nonce": "required", "create_users": true]).status == 200)

            // Once the platform lets it link users, only the platform changes its keys.
            try await world.change("issuers", try made.require("id"), ["authoritative_domains": ["loom.example"]])
            for json: JSON in [
                ["secret": .string(Self.secret + "!")], ["audiences": ["another"]], ["algorithms": ["HS384"]],
                ["nonce": "none"], ["authoritative_domains": []],
            ] {
                expectProblem(try await change(json), 403, member: "link_by_email")
            }
            // The merchant may let it create fewer users, not more.
            #expect(try await change(["create_users": false]).status == 200)
            expectProblem(try await change(["create_users": true]), 403, member: "link_by_email")
            #expect(try await change(["create_users": false, "disabled": true]).status == 200)
        }
    }

    @Test("A merchant administrator cannot add a sign-in button for its own issuer", arguments: Backend.available)
    func acrossMerchants(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let token = try await merchantsToken(world)
            let json: JSON = [
                "issuer": "https://op.example", "discovery_url": "https://op.example/d", "client_id": "us",
                "client_secret": "s", "sign_in_name": "OP",
            ]
            expectProblem(try await make(world, json, by: token), 403, member: "client_id")
            let plain: JSON = ["issuer": "https://op.example", "discovery_url": "https://op.example/d"]
            let own = try await make(world, plain, by: token)
            #expect(own.status == 201, "\(own)")
            let path = "/admin/v1/issuers/\(try own.require("id"))"
            func change(_ json: JSON) async throws -> Answer {
                try await world.server.send("PATCH", path, json: json, bearer: token)
            }
            let signIn: JSON = ["client_id": "us", "client_secret": "s", "sign_in_name": "OP"]
            expectProblem(try await change(signIn), 403, member: "client_id")
            #expect(try await world.change("issuers", try own.require("id"), signIn).status == 200)
            // What the platform trusts keeps its keys.
            expectProblem(try await change(["discovery_url": "https://evil.example/d"]), 403, member: "client_id")
            expectProblem(try await change(["client_id": .null]), 403, member: "client_id")
            // It keeps its name too, which the platform's mails quote.
            expectProblem(try await change(["sign_in_name": "Your account closes"]), 403, member: "client_id")
            #expect(try await change(["disabled": true]).status == 200)
        }
    }

    private static let secret = "a shared secret of at least 48 bytes, for any of the algorithms"

    @Test(
        "A merchant cannot register a provider such as Google with other keys than the provider's own",
        arguments: Backend.available)
    func providerKeys(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let token = try await merchantsToken(world)
            let host = try IssuerHost(named: "https://accounts.google.com")
            let forged: JSON = ["provider": "google", "audiences": ["1"], "discovery_url": .string(host.discovery)]
            expectProblem(try await make(world, forged, by: token), 403, member: "provider")
            let made = try await make(world, ["provider": "google", "audiences": ["1"]], by: token)
            #expect(made.status == 201, "\(made)")
            let path = "/admin/v1/issuers/\(try made.require("id"))"
            for json: JSON in [
                ["jwks_uri": .string(host.keys)], ["discovery_url": .string(host.discovery)],
            ] {
                expectProblem(
                    try await world.server.send("PATCH", path, json: json, bearer: token), 403, member: "provider")
            }
            let renamed = try await world.server.send("PATCH", path, json: ["audiences": ["2"]], bearer: token)
            #expect(renamed.status == 200)
            #expect(try await world.server.send("DELETE", path, bearer: token).status == 204)

            // An issuer of the provider's name with keys of the merchant's does not become the provider.
            let imitation: JSON = ["issuer": "https://accounts.google.com", "jwks_uri": .string(host.keys)]
            expectProblem(try await make(world, imitation, by: token), 403, member: "provider")
            let own = try await make(world, imitation, by: world.admin)
            let become = try await world.server.send(
                "PATCH", "/admin/v1/issuers/\(try own.require("id"))",
                json: ["provider": "google", "audiences": ["1"]], bearer: token)
            expectProblem(become, 403, member: "provider")
        }
    }

    @Test(
        "The registration of an issuer with an invalid member is refused with the member's name",
        arguments: Backend.available)
    func faults(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let base: [JSON.Member] = [
                .init("issuer", "https://op.example"), .init("discovery_url", "https://op.example/d"),
            ]
            let cases: [(KeyValuePairs<String, JSON>, String)] = [
                (["nonce": "always"], "nonce"), (["nonce": true], "nonce"),
                (["nonce_transform": "md5"], "nonce_transform"),
                (["authorized_parties": "phone"], "authorized_parties"),
                (["authorized_parties": ["a\nb"]], "authorized_parties"), (["max_age": 0], "max_age"),
                (["max_age": 86401], "max_age"), (["link_by_email": "yes"], "link_by_email"),
                (["authoritative_domains": ["a@b.example"]], "authoritative_domains"),
                (["authoritative_domains": [""]], "authoritative_domains"),
                (["discovery_url": "ftp://op.example/d"], "discovery_url"),
                (["discovery_url": "https://10.0.0.1/d"], "discovery_url"),
                (["jwks_uri": "https://op.example/keys"], "discovery_url"),
                (["client_secret": "s"], "client_secret"), (["scope": "openid"], "scope"),
                (["sign_in_name": "OP"], "sign_in_name"), (["client_id": "c"], "sign_in_name"),
                (["client_id": "c", "sign_in_name": "O\u{202E}P"], "sign_in_name"),
                (["client_id": "c", "sign_in_name": "O\u{2028}P"], "sign_in_name"),
                (["client_id": "c", "sign_in_name": "OP", "scope": "email"], "scope"),
                (["client_id": "c", "sign_in_name": "OP", "scope": "openid \u{e6}"], "scope"),
                (["client_id": "c", "sign_in_name": "O\u{202E}P"], "sign_in_name"),
                (["client_id": "c", "sign_in_name": .string(String(repeating: "O", count: 61))], "sign_in_name"),
                (["provider": "apple", "audiences": ["1"]], "issuer"),
            ]
            for (changes, member) in cases {
                let replaced = JSON.object(
                    base.filter { good in !changes.contains { $0.key == good.name } }
                        + changes.map { JSON.Member($0.key, $0.value) })
                expectProblem(try await make(world, replaced, by: world.admin), 400, member: member)
            }
            let apple: [(KeyValuePairs<String, JSON>, String)] = [
                (["audiences": []], "audiences"), (["app_secret": "s"], "app_secret"),
                (["app_names": ["a"]], "app_names"), (["secret": .string(Self.secret)], "secret"),
            ]
            for (changes, member) in apple {
                let good: [JSON.Member] = [.init("provider", "apple"), .init("audiences", ["1"])]
                let json = JSON.object(
                    good.filter { good in !changes.contains { $0.key == good.name } }
                        + changes.map { JSON.Member($0.key, $0.value) })
                expectProblem(try await make(world, json, by: world.admin), 400, member: member)
            }
        }
    }

    @Test(
        "The client secret for an issuer's button is stored sealed and never shown",
        arguments: Backend.available)
    func signIn(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let made = try await make(
                world,
                [
                    "issuer": "https://op.example", "discovery_url": "https://op.example/d", "client_id": "us",
                    "client_secret": "our secret there", "sign_in_name": "Loom's employees", "max_age": 60,
                ], by: world.admin)
            #expect(made.status == 201, "\(made)")
            #expect(made.json["scope"] == "openid email profile" && made.json["client_id"] == "us")
            #expect(!made.body.contains("our secret"))
            let id = try made.require("id")
            let stored = try await world.server.database.read { db in
                try db.rows("SELECT sealed_client_secret FROM issuer_settings WHERE issuer_id = \(id)").first?
                    .get("sealed_client_secret", as: String?.self)
            }
            let sealed = try #require(stored ?? nil)
            #expect(!sealed.contains("our secret"))
            let changed = try await world.change("issuers", id, ["scope": "openid", "max_age": .null])
            #expect(changed.json["sign_in_name"] == "Loom's employees" && changed.json["scope"] == "openid")
            #expect(made.json["max_age"] == 60 && changed.json["max_age"] == nil)
            let ended = try await world.change("issuers", id, ["client_id": .null])
            #expect(ended.status == 200 && ended.json["client_id"] == nil && ended.json["sign_in_name"] == nil)

            // A provider is registered by its name, and its audience is our client there.
            let google = try await make(world, ["provider": "google", "client_id": "us"], by: world.admin)
            #expect(google.json["sign_in_name"] == "Google" && google.json["audiences"]?.strings == ["us"])
            let facebook: JSON = ["provider": "facebook", "client_id": "1", "audiences": ["2"], "app_secret": "s"]
            expectProblem(try await make(world, facebook, by: world.admin), 400, member: "client_id")
            let good = try await make(
                world, ["provider": "facebook", "client_id": "1", "app_secret": "s"], by: world.admin)
            #expect(good.json["scope"] == "public_profile email" && good.json["audiences"]?.strings == ["1"])
        }
    }

    @Test(
        "A merchant administrator cannot replace the client_id that the platform set at a provider",
        arguments: Backend.available, [true, false])
    func platformsClient(_ backend: Backend, linksByEmail: Bool) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let token = try await merchantsToken(world)
            let google: JSON = [
                "provider": "google", "client_id": "platforms", "client_secret": "s",
                "link_by_email": .bool(linksByEmail), "signs_in_everywhere": .bool(!linksByEmail),
            ]
            let made = try await make(world, google, by: world.admin)
            #expect(made.status == 201, "\(made)")
            let path = "/admin/v1/issuers/\(try made.require("id"))"
            func change(_ json: JSON, by token: String) async throws -> Answer {
                try await world.server.send("PATCH", path, json: json, bearer: token)
            }
            let theirs: JSON = ["client_id": "theirs", "client_secret": "t"]
            for json: JSON in [["client_id": "theirs"], theirs, ["sign_in_name": "BankID"]] {
                expectProblem(try await change(json, by: token), 403)
            }
            let kept = try await world.server.get(path, bearer: world.admin).json
            #expect(kept["client_id"] == "platforms" && kept["sign_in_name"] == "Google")
            let ended = try await change(["client_id": .null], by: token)
            #expect(ended.status == 200 && ended.json["client_id"] == nil, "\(ended)")
            for json: JSON in [theirs, ["client_id": "platforms", "client_secret": "t"]] {
                expectProblem(try await change(json, by: token), 403)
            }
            #expect(try await change(theirs, by: world.admin).status == 200)
        }
    }

    @Test(
        "A merchant administrator can change the client_id of a Google button that the merchant added",
        arguments: Backend.available)
    func ownClient(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let token = try await merchantsToken(world)
            let made = try await make(world, ["provider": "google", "client_id": "a", "client_secret": "s"], by: token)
            #expect(made.status == 201, "\(made)")
            let path = "/admin/v1/issuers/\(try made.require("id"))"
            for json: JSON in [
                ["client_id": "b", "client_secret": "t"], ["client_id": "c"], ["sign_in_name": "Our Google"],
                ["client_id": .null], ["client_id": "d", "client_secret": "u"],
            ] {
                let changed = try await world.server.send("PATCH", path, json: json, bearer: token)
                #expect(changed.status == 200 && changed.json["signs_in_everywhere"] == false, "\(changed)")
            }
        }
    }

    @Test(
        "A merchant can change the client_id of a platform's provider only once the platform confines it",
        arguments: Backend.available)
    func everywhere(_ backend: Backend) async throws {
        try await World.with(backend, settings: Self.settings) { world in
            let token = try await merchantsToken(world)
            let google: JSON = ["provider": "google", "client_id": "a", "client_secret": "s"]
            let made = try await make(world, google, by: world.admin)
            #expect(made.json["signs_in_everywhere"] == true, "\(made)")
            let id = try made.require("id")
            func change(_ json: JSON) async throws -> Answer {
                try await world.server.send("PATCH", "/admin/v1/issuers/\(id)", json: json, bearer: token)
            }
            let theirs: JSON = ["client_id": "b", "client_secret": "t"]
            for json: JSON in [theirs, ["sign_in_name": "Our Google"]] {
                expectProblem(try await change(json), 403, member: "client_id")
            }
            for json: JSON in [["audiences": ["a", "phone"]], ["nonce": "required"], ["create_users": false]] {
                let changed = try await change(json)
                #expect(changed.status == 200 && changed.json["signs_in_everywhere"] == true, "\(changed)")
            }
            #expect(try await change(["client_id": .null]).status == 200)
            expectProblem(try await change(theirs), 403, member: "client_id")
            let confined = try await world.change("issuers", id, ["signs_in_everywhere": false])
            #expect(confined.status == 200, "\(confined)")
            for json: JSON in [theirs, ["sign_in_name": "Our Google"]] {
                let changed = try await change(json)
                #expect(changed.status == 200 && changed.json["signs_in_everywhere"] == false, "\(changed)")
            }
        }
    }

    /// What the platform gives an issuer, and how it takes that back.
    private static let trusts: [(given: JSON, takenBack: JSON)] = [
        (
            ["client_id": "us", "client_secret": "s", "sign_in_name": "OP"],
            ["client_id": .null, "client_secret": .null, "sign_in_name": .null, "scope": .null]
        ),
        (["link_by_email": true], ["link_by_email": false]),
        (["authoritative_domains": ["loom.example"]], ["link_by_email": false, "authoritative_domains": []]),
    ]

    @Test(
        "A merchant administrator cannot change the keys of an issuer that the platform once trusted",
        arguments: Backend.available)
    func keys(_ backend: Backend) async throws {
        for (given, takenBack) in Self.trusts {
            try await IssuerStory.with(backend) { story in
                let world = story.world
                let host = try IssuerHost()
                let token = try await merchantsToken(world)
                let id = try await story.trust(host)
                #expect(try await world.change("issuers", id, given).status == 200)
                let kari = try await story.signIn(at: host).require("user_id")
                #expect(try await world.change("issuers", id, takenBack).status == 200)

                let path = "/admin/v1/issuers/\(id)"
                let own = PrivateKey.generate(.es256)
                let keySet: JSON = ["keys": [JSONWebKey(own).json]]
                for json: JSON in [
                    ["jwks": keySet], ["jwks": keySet, "discovery_url": .null, "audiences": ["another"]],
                    ["discovery_url": "https://evil.example/d"], ["jwks_uri": "https://evil.example/keys"],
                    ["audiences": ["another"]], ["algorithms": ["ES256"]], ["nonce": "none"],
                ] {
                    expectProblem(try await world.server.send("PATCH", path, json: json, bearer: token), 403)
                }
                let forged = try await story.present(host.sign(story.claims(host), with: own))
                #expect(forged.status != 200, "\(forged)")
                // A change by the platform does not free it for the merchant.
                #expect(try await world.change("issuers", id, ["audiences": ["another"]]).status == 200)
                expectProblem(
                    try await world.server.send("PATCH", path, json: ["jwks": keySet], bearer: token), 403)
                #expect(
                    try await world.server.send("PATCH", path, json: ["create_users": false], bearer: token).status
                        == 200)

                // Registered again it is the merchant's own, and no user is linked to it.
                #expect(try await world.server.send("DELETE", path, bearer: token).status == 204)
                let anew = try await World.make(
                    world.server, token, "issuers",
                    [
                        "merchant_id": .string(world.merchant), "issuer": .string(host.issuer), "jwks": keySet,
                        "audiences": [.string(IssuerStory.audience)], "create_users": true,
                    ])
                #expect(anew.status == 201, "\(anew)")
                let other = try await story.present(host.sign(story.claims(host), with: own))
                #expect(try other.require("user_id") != kari, "\(other)")
            }
        }
    }
}
