import Cryptography
import JOSE
import JSON
import Testing

@Suite("Choosing keys for a token") struct KeyChoiceTests {
    private static let all = Set(SignatureAlgorithm.allCases)
    private static let own = PrivateKey.generate(.es256)

    /// A set of `count` keys of one algorithm, the right one last, each called `name` or not at all.
    private func keySet(_ count: Int, named name: String?) throws -> AssertionKeys {
        let others = (1..<count).map { _ in PrivateKey.generate(.es256) }
        let keys = (others + [Self.own]).map { key -> JSON in
            let bare = (JSONWebKey(key).json.members ?? []).filter { $0.name != "kid" }
            return .object(bare + (name.map { [.init("kid", .string($0))] } ?? []))
        }
        return try AssertionKeys(keySet: JSON.members(["keys": .array(keys)]).text)
    }

    private func token(_ name: String?) -> String {
        let header = JSON.members(["alg": "ES256", "kid": name.map { .string($0) }])
        let input = [header, .object([])].map { Base64URL.encode(Array($0.text.utf8)) }.joined(separator: ".")
        return input + "." + Base64URL.encode(Self.own.sign(Array(input.utf8)))
    }

    @Test("Up to four keys that fit are tried for a token; if more fit, none is", arguments: [nil, "k"] as [String?])
    func four(name: String?) async throws {
        _ = try await keySet(4, named: name).verify(token(name), allowed: Self.all)
        await #expect(throws: JWTRejection.tooManyKeys) {
            try await keySet(5, named: name).verify(token(name), allowed: Self.all)
        }
    }

    @Test("The key that a token names is found among a hundred, and so is the only one of its algorithm")
    func named() async throws {
        var keys = (1..<99).map { _ in JSONWebKey(PrivateKey.generate(.edDSA)).json }
        keys.append(JSONWebKey(Self.own).json)
        let set = try AssertionKeys(keySet: JSON.members(["keys": .array(keys)]).text)
        _ = try await set.verify(token(JSONWebKey(Self.own).keyID), allowed: Self.all)
        _ = try await set.verify(token(nil), allowed: Self.all)
    }
}
