import Cryptography
import Testing

@testable import JOSE
@testable import JSON

@Suite("Signatures") struct SignatureTests {
    private static let allowed = Set(SignatureAlgorithm.allCases)

    private func key(_ example: JWSExample) throws -> AssertionKey {
        if let secret = example.secret { return AssertionKey(secret: try #require(Base64URL.decode(secret))) }
        let jwk = try JSON(parsing: Array((example.jwk ?? "").utf8))
        return try AssertionKey(jwk: jwk)
    }

    @Test(
        "Every published JWS example verifies with its own key, and with no other example's key",
        arguments: JWSExample.all)
    func verifies(_ example: JWSExample) throws {
        let token = try SignedJWT(example.token, allowed: Self.allowed)
        #expect(token.algorithm.rawValue == example.algorithm)
        #expect(try key(example).verifies(token))
        for other in JWSExample.all where other.jwk != example.jwk || other.secret != example.secret {
            #expect(try !key(other).verifies(token), "\(other.place)")
        }
    }

    @Test("A signature with a changed bit, or over changed bytes, does not verify", arguments: JWSExample.all)
    func changed(_ example: JWSExample) throws {
        let key = try key(example)
        let parts = example.token.split(separator: ".").map(String.init)
        for part in [1, 2] {
            let bytes = try #require(Base64URL.decode(parts[part]))
            for place in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 20)) + [bytes.count - 1] {
                for bit in [0, 3, 7] {
                    var changed = bytes
                    changed[place] ^= 1 << bit
                    var text = parts
                    text[part] = Base64URL.encode(changed)
                    let token = try SignedJWT(text.joined(separator: "."), allowed: Self.allowed)
                    #expect(!key.verifies(token), "part \(part), byte \(place), bit \(bit)")
                }
            }
        }
    }

    @Test("A signature of another length, or of zeros, is refused", arguments: JWSExample.all)
    func lengths(_ example: JWSExample) throws {
        let key = try key(example)
        let end = try #require(example.token.lastIndex(of: "."))
        let signature = try #require(Base64URL.decode(example.token[example.token.index(after: end)...]))
        let zeros = [UInt8](repeating: 0, count: signature.count)
        var others = [
            [], [0], zeros, signature + [0], [0] + signature, Array(signature.dropLast()), signature + signature,
        ]
        if example.algorithm.hasPrefix("ES") { others += halves(signature) }
        for other in others {
            let token = try SignedJWT(
                example.token[...end] + Base64URL.encode(other), allowed: Self.allowed)
            #expect(!key.verifies(token), "\(other.count) bytes")
        }
    }

    /// An ECDSA signature with one half that is zero, and one with both halves a byte longer, which are the same
    /// numbers.
    private func halves(_ signature: [UInt8]) -> [[UInt8]] {
        let (r, s) = (signature.prefix(signature.count / 2), signature.suffix(signature.count / 2))
        let zeros = [UInt8](repeating: 0, count: r.count)
        return [r + zeros, zeros + s, [0] + r + [0] + s].map(Array.init)
    }

    @Test(
        "The server's signature verifies with the published key, and with no other",
        arguments: PrivateKey.Algorithm.allCases)
    func ownVerifies(_ algorithm: PrivateKey.Algorithm) async throws {
        let (key, other) = (PrivateKey.generate(algorithm), PrivateKey.generate(algorithm))
        let token = CompactJWS.sign(
            .members(["sub": "1001"]), type: "JWT", key: key, keyID: JSONWebKey(key).keyID)
        let allowed = try #require(SignatureAlgorithm(rawValue: algorithm.rawValue))
        let keys = try AssertionKeys(keySet: "{\"keys\":[\(JSONWebKey(key).json.text)]}")
        let jwt = try await keys.verify(token, allowed: [allowed])
        #expect(jwt.claims["sub"] == "1001")
        let strangers = try AssertionKeys(keySet: "{\"keys\":[\(JSONWebKey(other).json.text)]}")
        await #expect(throws: JWTRejection.self) { try await strangers.verify(token, allowed: [allowed]) }
    }

    @Test(
        "A signing key reads back the same from PKCS #8, and not as a key of another kind",
        arguments: PrivateKey.Algorithm.allCases)
    func stored(_ algorithm: PrivateKey.Algorithm) throws {
        let key = PrivateKey.generate(algorithm)
        let again = try PrivateKey(pkcs8: key.pkcs8, algorithm: algorithm)
        #expect(JSONWebKey(again) == JSONWebKey(key))
        for other in PrivateKey.Algorithm.allCases where other != algorithm {
            // An RSA key is read whatever padding it signs with.
            if [.rs256, .ps256].contains(other), [.rs256, .ps256].contains(algorithm) { continue }
            #expect(throws: PrivateKey.Unreadable.self) { try PrivateKey(pkcs8: key.pkcs8, algorithm: other) }
        }
    }

    @Test(
        "A published key states its use, and has no private member", arguments: PrivateKey.Algorithm.allCases)
    func published(_ algorithm: PrivateKey.Algorithm) throws {
        let json = JSONWebKey(PrivateKey.generate(algorithm)).json
        #expect(json["use"] == "sig" && json["alg"] == .string(algorithm.rawValue) && json["kid"]?.string != nil)
        for member in ["d", "p", "q", "dp", "dq", "qi", "k"] { #expect(json[member] == nil) }
    }
}
