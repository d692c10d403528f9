import Cryptography
import JOSE
import JSON
import Testing

@Suite("The server's signatures") struct OwnSignatureTests {
    @Test(
        "The server's signature verifies with the published key, and with no other",
        arguments: PrivateKey.Algorithm.allCases)
    func verifies(_ algorithm: PrivateKey.Algorithm) async throws {
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

    @Test("A signing key is the same after it was stored", arguments: PrivateKey.Algorithm.allCases)
    func stored(_ algorithm: PrivateKey.Algorithm) throws {
        let key = PrivateKey.generate(algorithm)
        let again = try PrivateKey(pkcs8: key.pkcs8, algorithm: algorithm)
        #expect(JSONWebKey(again) == JSONWebKey(key))
        for other in PrivateKey.Algorithm.allCases where other != algorithm {
            // An RSA key is one, whatever its padding.
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
