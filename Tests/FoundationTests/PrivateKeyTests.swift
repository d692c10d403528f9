import Cryptography
import JOSE
import JSON
import Testing

@Suite("Private keys") struct PrivateKeyTests {
    @Test(
        "A private key is the same after being encoded as PKCS #8 and read back",
        arguments: PrivateKey.Algorithm.allCases)
    func roundTrip(_ algorithm: PrivateKey.Algorithm) throws {
        let key = PrivateKey.generate(algorithm)
        let again = try PrivateKey(pkcs8: key.pkcs8, algorithm: algorithm)
        #expect(again.publicNumbers == key.publicNumbers)
        #expect(again.pkcs8 == key.pkcs8)
    }

    @Test("Key coordinates and signatures have the byte lengths that JOSE requires")
    func sizes() {
        guard case .rsa(let modulus, let exponent) = PrivateKey.generate(.rs256).publicNumbers else {
            Issue.record("no RSA key")
            return
        }
        #expect(modulus.count == 256 && modulus[0] >= 0x80)
        #expect(exponent == [1, 0, 1])
        #expect(PrivateKey.generate(.rs256).sign([1]).count == 256)
        for _ in 0..<300 {
            // One in 256 coordinates begins with a zero byte, which must stay.
            let key = PrivateKey.generate(.es256)
            guard case .p256(let x, let y) = key.publicNumbers else { return }
            #expect(x.count == 32 && y.count == 32)
            #expect(key.sign([1]).count == 64)
        }
    }

    @Test("A private key of another algorithm than expected, or in damaged PKCS #8, is refused")
    func refusals() throws {
        let rsa = PrivateKey.generate(.rs256).pkcs8
        let ec = PrivateKey.generate(.es256).pkcs8
        #expect(throws: PrivateKey.Unreadable.self) { try PrivateKey(pkcs8: rsa, algorithm: .es256) }
        #expect(throws: PrivateKey.Unreadable.self) { try PrivateKey(pkcs8: ec, algorithm: .rs256) }
        #expect(throws: PrivateKey.Unreadable.self) { try PrivateKey(pkcs8: [], algorithm: .rs256) }
        #expect(throws: PrivateKey.Unreadable.self) { try PrivateKey(pkcs8: ec.dropLast(), algorithm: .es256) }
        #expect(throws: PrivateKey.Unreadable.self) { try PrivateKey(pkcs8: ec + [0], algorithm: .es256) }
    }

    @Test("Many threads can sign with one private key", arguments: PrivateKey.Algorithm.allCases)
    func sharing(_ algorithm: PrivateKey.Algorithm) async throws {
        let key = PrivateKey.generate(algorithm)
        let jwk = JSONWebKey(key)
        let keys = try AssertionKeys(keySet: "{\"keys\":[\(jwk.json.text)]}")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let token = CompactJWS.sign(
                        .members(["n": .integer(Int64(number))]), type: "JWT", key: key, keyID: jwk.keyID)
                    _ = try await keys.verify(token, allowed: [.rs256, .es256, .ps256, .edDSA])
                }
            }
            try await group.waitForAll()
        }
    }
}
