import Cryptography
import JOSE
import Keys
import Testing
import Values

@Suite("Secrets do not print") struct RedactionTests {
    private enum Token {}

    /// Every way in which a value may reach a log or an error text.
    private func said(_ value: some Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return "\(value) \(String(reflecting: value)) \([value]) \(Optional(value) as Any) \(dumped)"
    }

    @Test("A token's value does not appear when the token, or a value that contains it, is printed")
    func token() {
        struct Holder { let token: Secret<Token> }
        let secret = Secret<Token>("very-secret-value")
        for text in [said(secret), said(Holder(token: secret)), said(["a": secret]), said((1, secret))] {
            #expect(!text.contains("very-secret-value"))
        }
        #expect("\(secret)" == "<secret>")
    }

    @Test("Printing the master key, or a key derived from it, does not show its bytes")
    func keys() {
        let masterKey = MasterKey.random(from: FixedRandom(pattern: [173]))
        let seal = Seal(masterKey: masterKey, random: SystemRandom())
        for text in [said(masterKey), said(seal), said(masterKey.sealing(for: "x")), said(SealingKey(Array(0..<32)))] {
            #expect(!text.contains("173"))
            #expect(!text.contains("ra2t"))
            #expect(!text.contains("31"))
        }
    }

    @Test("Printing private keys, password hashes and shared secrets does not show them")
    func others() throws {
        #expect("\(PrivateKey.generate(.es256))" == "<private key>")
        let hash = PasswordHash(encoded: "$argon2id$v=19$m=8,t=1,p=1$c2FsdA$aGFzaA")
        #expect(!said(hash).contains("aGFzaA"))
        #expect(!said(AssertionKeys(secret: String(repeating: "s", count: 32))).contains("115"))
    }
}
