import Cryptography
import JOSE
import JSON
import TestSupport
import Values

/// A relying party that signs request objects with `key`: valid claims with `changes` over them.
struct RequestSigner {
    static let key = PrivateKey.generate(.es256)

    var party: ConformanceParty

    init(_ world: World, _ changes: KeyValuePairs<String, JSON> = [:]) async throws {
        party = try await ConformanceParty(world, type: "code")
        let keySet = JSON.Member("jwks", SigningClient.keySet(Self.key))
        try await world.change(
            "clients", party.client.id, .object([keySet] + changes.map { .init($0.key, $0.value) }))
    }

    func claims(_ changes: KeyValuePairs<String, JSON> = [:]) -> JSON {
        let good: [JSON.Member] = [
            .init("iss", .string(party.client.id)), .init("aud", "http://spindle.test"),
            .init("client_id", .string(party.client.id)), .init("response_type", "code"),
            .init("redirect_uri", .string(ConformanceParty.callback)), .init("scope", "openid email"),
            .init("state", "some state"), .init("nonce", "signed nonce"),
            .init("exp", .integer(party.world.server.clock.now.seconds + 60)),
        ]
        let changed = Set(changes.map(\.key))
        let claims = good.filter { !changed.contains($0.name) } + changes.map { .init($0.key, $0.value) }
        return .object(claims.filter { $0.value != .null })
    }

    func object(
        _ changes: KeyValuePairs<String, JSON> = [:], type: String = "oauth-authz-req+jwt",
        key: PrivateKey = Self.key
    ) -> String {
        CompactJWS.sign(claims(changes), type: type, key: key, keyID: JSONWebKey(key).keyID)
    }

    func refusal(_ object: String) async throws -> String? {
        try await party.world.server.get(party.address(["request": object])).redirected("error")
    }
}
