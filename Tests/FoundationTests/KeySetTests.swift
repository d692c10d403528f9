import Cryptography
import JOSE
import JSON
import Testing

@Suite("JWK sets of other servers") struct KeySetTests {
    private static let all = Set(SignatureAlgorithm.allCases)
    private static let key = PrivateKey.generate(.es256)
    private static let jwk = JSONWebKey(key)
    private static var token: String {
        CompactJWS.sign(.members(["sub": "a"]), type: "JWT", key: key, keyID: jwk.keyID)
    }

    /// The public key with `changes` to its members; nil removes a member.
    private static func jwk(_ changes: [String: JSON?]) -> String {
        var members = (jwk.json.members ?? []).filter { changes[$0.name] == nil }
        for (name, value) in changes { if let value { members.append(JSON.Member(name, value)) } }
        return JSON.object(members).text
    }

    private func verify(with keys: String...) async throws {
        _ = try await AssertionKeys(keySet: "{\"keys\":[\(keys.joined(separator: ","))]}")
            .verify(Self.token, allowed: Self.all)
    }

    @Test("A usable key in a JWK set is used even beside unusable ones")
    func mixedSet() async throws {
        let zeros = String(repeating: "A", count: 43)
        try await verify(
            with: "{}", "7", "null", #"{"kty":"RSA"}"#, #"{"kty":"RSA","n":"!","e":"AQAB"}"#,
            #"{"kty":"oct","k":"AAAA"}"#,
            #"{"kty":"EC","crv":"P-256","kid":"x","x":"AAAA","y":"AAAA"}"#,
            #"{"kty":"EC","crv":"P-256","kid":"y","x":"\#(zeros)","y":"\#(zeros)"}"#,
            #"{"kty":"EC","crv":"secp256k1","x":"AAAA","y":"AAAA"}"#, #"{"kty":"OKP","crv":"X25519","x":"AAAA"}"#,
            #"{"kty":"AKP","alg":"ML-DSA-65","pub":"AAAA"}"#, Self.jwk.json.text)
    }

    private static let usable: [[String: JSON?]] = [
        [:], ["use": nil], ["alg": nil], ["key_ops": .array(["verify"])], ["key_ops": .array(["sign", "verify"])],
        ["x5c": .array(["anything"])], ["kid": .string(jwk.keyID)], ["d": .null, "k": .null, "p": .null],
        ["use": .null, "alg": .null, "key_ops": .null, "x5c": .null, "x5t": .null, "x5u": .null, "ext": .null],
    ]

    @Test("A JWK is used if no member excludes it from verifying signatures", arguments: usable)
    func used(_ changes: [String: JSON?]) async throws { try await verify(with: Self.jwk(changes)) }

    private static let unusable: [[String: JSON?]] = [
        ["use": "enc"], ["use": .array(["sig"])], ["alg": "ES384"], ["alg": "RS256"], ["alg": "HS256"],
        ["alg": "none"], ["alg": 7], ["key_ops": .array(["sign"])], ["key_ops": "verify"], ["key_ops": .array([])],
        ["d": "AAAA"], ["k": "AAAA"], ["kty": "RSA"], ["crv": "P-384"], ["crv": nil], ["kid": 7],
        ["x": .string((jwk.json["x"]?.string ?? "") + "=")],
    ]

    @Test("A JWK for another use, with a private key, or inconsistent is not used", arguments: unusable)
    func notUsed(_ changes: [String: JSON?]) async throws {
        await #expect(throws: JWTRejection.unknownKey) { try await verify(with: Self.jwk(changes)) }
    }

    @Test("A JWK with a null kid counts as one without kid: the key verifies tokens without one")
    func nullKeyID() async throws {
        let unnamed = CompactJWS.sign(.members(["sub": "a"]), type: "JWT", key: Self.key, keyID: Self.jwk.keyID)
            .split(separator: ".")
        let header = Base64URL.encode(Array(#"{"alg":"ES256"}"#.utf8))
        let input = "\(header).\(unnamed[1])"
        let token = "\(input).\(Base64URL.encode(Self.key.sign(Array(input.utf8))))"
        let keys = try AssertionKeys(keySet: "{\"keys\":[\(Self.jwk(["kid": .null]))]}")
        _ = try await keys.verify(token, allowed: Self.all)
    }

    private static let faults: [([String: JSON?], String)] = [
        (["x": .null], "has no x"), (["y": nil], "has no y"), (["crv": .null], "has no crv"),
        (["kty": .null], "has no kty"), (["kty": 7], "has no string in kty"),
        (["x": "!"], "has no base64url in x"), (["use": "enc"], "has a use other than sig"),
        (["kid": 7], "has no string in kid"), (["key_ops": .array(["sign"])], "has key_ops without verify"),
        (["alg": "RS256"], "has an alg that is none of its kty"), (["d": "AAAA"], "is private or symmetric"),
        (["x": "AAAA"], "is weak, or its numbers are no key"),
    ]

    @Test("The fault of an unusable JWK names the member that is missing, null or wrong", arguments: faults)
    func fault(_ changes: [String: JSON?], _ fault: String) throws {
        let set = "{\"keys\":[\(Self.jwk([:])),\(Self.jwk(changes)),{}]}"
        #expect(try AssertionKeys(keySet: set).fault == "keys[1] \(fault)")
        #expect(try AssertionKeys(keySet: "{\"keys\":[\(Self.jwk([:]))]}").fault == nil)
    }

    @Test("The EC coordinates of a JWK must have their full length")
    func shiftedCoordinates() async throws {
        guard case .p256(let x, let y) = Self.key.publicNumbers else { return }
        let shifted = Self.jwk([
            "x": .string(Base64URL.encode(x + y.prefix(1))), "y": .string(Base64URL.encode(Array(y.dropFirst()))),
        ])
        await #expect(throws: JWTRejection.unknownKey) { try await verify(with: shifted) }
    }

    @Test("An RSA key of 1024 bits, or with an unsafe exponent, is not used to verify signatures")
    func weakKeys() async throws {
        let weak = try #require(JWTFixtures.keys["weak"])
        let keys = try AssertionKeys(keySet: "{\"keys\":[\(weak)]}")
        #expect(keys.isEmpty)
        await #expect(throws: JWTRejection.unknownKey) {
            try await keys.verify(JWTFixtures.weakToken, allowed: Self.all)
        }
        let strong = try JSON(parsing: Array(#require(JWTFixtures.keys["rsa"]).utf8))
        let modulus = try #require(strong["n"]?.string)
        for exponent in ["AQ", "AA", "", "BA", "AQAAAAE", "_____w", "AgAB"] {
            let text = #"{"keys":[{"kty":"RSA","n":"\#(modulus)","e":"\#(exponent)"}]}"#
            #expect(try AssertionKeys(keySet: text).isEmpty, "\(exponent)")
        }
        // A leading zero byte, as some issuers write it, is accepted.
        let padded = Base64URL.encode([0] + (try #require(Base64URL.decode(modulus))))
        #expect(try !AssertionKeys(keySet: #"{"keys":[{"kty":"RSA","n":"\#(padded)","e":"AQAB"}]}"#).isEmpty)
    }

    @Test("Only the first hundred keys of a JWK set are used, and a set of more than 64 KiB is refused")
    func bounds() async throws {
        let filler = String(repeating: "{},", count: 99)
        _ = try await AssertionKeys(keySet: "{\"keys\":[\(filler)\(Self.jwk.json.text)]}")
            .verify(Self.token, allowed: Self.all)
        #expect(try AssertionKeys(keySet: "{\"keys\":[\(filler){},\(Self.jwk.json.text)]}").isEmpty)
        let long = "{\"keys\":[],\"x\":\"\(String(repeating: "x", count: 65536))\"}"
        #expect(throws: AssertionKeys.Unreadable.self) { try AssertionKeys(keySet: long) }
    }

    @Test(
        "Text that is no JWK set is refused",
        arguments: ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[],"keys":[]}"#, "{\"keys\":["])
    func notASet(_ text: String) { #expect(throws: AssertionKeys.Unreadable.self) { try AssertionKeys(keySet: text) } }

    @Test("The server's JWK has no private member, and its kid is the thumbprint of its required members")
    func ownKey() throws {
        let json = JSONWebKey(Self.key).json
        #expect(json.members?.map(\.name) == ["crv", "kty", "x", "y", "use", "alg", "kid"])
        let required = JSON.object(Array((json.members ?? []).prefix(4))).text
        #expect(json["kid"]?.string == Base64URL.encode(Digest.sha256(required.utf8)))
        let rsa = JSONWebKey(PrivateKey.generate(.rs256)).json
        #expect(rsa.members?.map(\.name) == ["e", "kty", "n", "use", "alg", "kid"])
    }

    private static let own = PrivateKey.generate(.es256)

    /// A set of `count` keys of one algorithm, the right one last, each with the kid `name` or none.
    private func keySet(_ count: Int, named name: String?) throws -> AssertionKeys {
        let others = (1..<count).map { _ in PrivateKey.generate(.es256) }
        let keys = (others + [Self.own]).map { key -> JSON in
            let bare = (JSONWebKey(key).json.members ?? []).filter { $0.name != "kid" }
            return .object(bare + (name.map { [.init("kid", .string($0))] } ?? []))
        }
        return try AssertionKeys(keySet: JSON.members(["keys": .array(keys)]).text)
    }

    private func tokenNaming(_ name: String?) -> String {
        let header = JSON.members(["alg": "ES256", "kid": name.map { .string($0) }])
        let input = [header, .object([])].map { Base64URL.encode(Array($0.text.utf8)) }.joined(separator: ".")
        return input + "." + Base64URL.encode(Self.own.sign(Array(input.utf8)))
    }

    @Test(
        "At most four keys of a JWK set are tried for a token; if more keys match, the token is refused",
        arguments: [nil, "k"] as [String?])
    func four(name: String?) async throws {
        _ = try await keySet(4, named: name).verify(tokenNaming(name), allowed: Self.all)
        await #expect(throws: JWTRejection.tooManyKeys) {
            try await keySet(5, named: name).verify(tokenNaming(name), allowed: Self.all)
        }
    }

    @Test("In a large JWK set the key that a token names is found, and so is the only one of its algorithm")
    func named() async throws {
        var keys = (1..<99).map { _ in JSONWebKey(PrivateKey.generate(.edDSA)).json }
        keys.append(JSONWebKey(Self.own).json)
        let set = try AssertionKeys(keySet: JSON.members(["keys": .array(keys)]).text)
        _ = try await set.verify(tokenNaming(JSONWebKey(Self.own).keyID), allowed: Self.all)
        _ = try await set.verify(tokenNaming(nil), allowed: Self.all)
    }
}
