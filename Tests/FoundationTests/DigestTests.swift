import Testing

@testable import Cryptography

@Suite("Digests") struct DigestTests {
    @Test("SHA-256 has the digests of the standard's examples")
    func sha256() {
        #expect(
            Digest.sha256("".utf8)
                == bytes(hex: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
        #expect(
            Digest.sha256("abc".utf8)
                == bytes(hex: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
    }

    @Test("MD5 has the digests of RFC 1321, appendix A.5")
    func md5() {
        #expect(Digest.md5Label([]) == bytes(hex: "d41d8cd98f00b204e9800998ecf8427e"))
        #expect(Digest.md5Label(Array("message digest".utf8)) == bytes(hex: "f96b697d7cb7938d525a2f31aaf161d0"))
    }

    @Test("HMAC-SHA-256 passes RFC 4231's cases 1, 2 and 6")
    func hmac() {
        #expect(
            Digest.hmacSHA256(Array("Hi There".utf8), key: [UInt8](repeating: 0x0b, count: 20))
                == bytes(hex: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"))
        #expect(
            Digest.hmacSHA256(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
                == bytes(hex: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
        #expect(
            Digest.hmacSHA256(
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                key: [UInt8](repeating: 0xaa, count: 131))
                == bytes(hex: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"))
    }

    @Test("HKDF-SHA-256 passes RFC 5869's cases 1 and 3")
    func derivation() {
        let key = [UInt8](repeating: 0x0b, count: 22)
        let derived = hkdf(
            key: key, salt: bytes(hex: "000102030405060708090a0b0c"), info: bytes(hex: "f0f1f2f3f4f5f6f7f8f9"))
        #expect(derived == bytes(hex: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"))
        #expect(
            hkdf(key: key, salt: [], info: [])
                == bytes(hex: "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"))
    }

    @Test("The constant-time comparison tells equal from different bytes")
    func comparison() {
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
        #expect(constantTimeEqual([], []))
    }
}
