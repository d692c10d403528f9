import Cryptography
import Testing

@Suite("Sealing") struct SealingTests {
    private let key = SealingKey(Array(0..<32))

    @Test("AES-256-GCM passes test case 15 of its specification")
    func knownVector() throws {
        let key = SealingKey(bytes(hex: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
        let nonce = bytes(hex: "cafebabefacedbaddecaf888")
        let plain = bytes(
            hex: """
                d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
                1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255
                """)
        let expected = bytes(
            hex: """
                522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
                8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad b094dac5d93471bdec1a502270e3cc6c
                """)
        let sealed = key.seal(plain, context: "", random: FixedRandom(pattern: nonce))
        #expect(Base64URL.decode(sealed) == nonce + expected)
        #expect(key.open(sealed, context: "") == plain)
    }

    @Test("A value that Python's cryptography sealed with a context opens with the same key and context")
    func anotherMaker() {
        let sealed = "AAECAwQFBgcICQoLJiKlfqaXp2-s9eupdkyjP5O4PMzmi22Y"
        #expect(key.open(sealed, context: "signing_keys/7") == Array("a secret".utf8))
        #expect(
            key.seal(Array("a secret".utf8), context: "signing_keys/7", random: FixedRandom(pattern: Array(0..<12)))
                == sealed)
    }

    @Test("A sealed value does not open with another key, another context or any changed bit")
    func tampering() throws {
        let sealed = key.seal([1, 2, 3], context: "row/1", random: SystemRandom())
        #expect(key.open(sealed, context: "row/1") == [1, 2, 3])
        #expect(key.open(sealed, context: "row/2") == nil)
        #expect(key.open(sealed, context: "") == nil)
        #expect(SealingKey(Array(1...32)).open(sealed, context: "row/1") == nil)
        let bytes = try #require(Base64URL.decode(sealed))
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(key.open(Base64URL.encode(changed), context: "row/1") == nil)
        }
        for length in 0..<bytes.count {
            #expect(key.open(Base64URL.encode(Array(bytes.prefix(length))), context: "row/1") == nil)
        }
    }

    @Test("Sealing twice gives different texts, and an empty value can be sealed")
    func nonces() {
        let sealed = (0..<100).map { _ in key.seal([], context: "", random: SystemRandom()) }
        #expect(Set(sealed).count == 100)
        #expect(sealed.allSatisfy { key.open($0, context: "") == [] })
    }

    @Test("Each purpose and each salt gives another key derived from a sealing key")
    func purposes() {
        let sealed = key.derived(for: "one").seal([1], context: "", random: SystemRandom())
        #expect(key.derived(for: "one").open(sealed, context: "") == [1])
        #expect(key.derived(for: "two").open(sealed, context: "") == nil)
        #expect(key.derived(for: "one", salt: [1]).open(sealed, context: "") == nil)
        #expect(key.open(sealed, context: "") == nil)
    }
}
