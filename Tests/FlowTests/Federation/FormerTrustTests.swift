import Cryptography
import JOSE
import JSON
import TestSupport
import Testing

@Suite("What a merchant may change of an issuer that the platform no longer trusts") struct FormerTrustTests {
    /// What the platform gives an issuer, and how it takes that back.
    private static let trusts: [(given: JSON, takenBack: JSON)] = [
        (
            ["client_id": "us", "client_secret": "s", "sign_in_name": "OP"],
            ["client_id": .null, "client_secret": .null, "sign_in_name": .null, "scope": .null]
        ),
        (["link_by_email": true], ["link_by_email": false]),
        (["authoritative_domains": ["loom.example"]], ["link_by_email": false, "authoritative_domains": []]),
    ]

    private func merchantsToken(_ world: World) async throws -> String {
        try await world.clientToken(
            try await world.confidential(["scope": "admin:merchant", "grant_types": ["client_credentials"]]),
            scope: "admin:merchant")
    }

    @Test(
        "a merchant's administrator swaps the keys of an issuer that was the platform's, and is everybody linked to it",
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
                // The platform may, and that does not free it.
                #expect(try await world.change("issuers", id, ["audiences": ["another"]]).status == 200)
                expectProblem(
                    try await world.server.send("PATCH", path, json: ["jwks": keySet], bearer: token), 403)
                #expect(
                    try await world.server.send("PATCH", path, json: ["create_users": false], bearer: token).status
                        == 200)

                // Registered anew it is the merchant's, and nobody is linked to it.
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
