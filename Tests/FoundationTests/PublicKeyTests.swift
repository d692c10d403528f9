import Cryptography
import Testing

@Suite("Public keys of other servers") struct PublicKeyTests {
    private static let rsa = PrivateKey.generate(.rs256)
    private static let point = PrivateKey.generate(.es256)

    private func numbers(_ key: PrivateKey) -> PublicKey.Numbers {
        switch key.publicNumbers {
        case .rsa(let modulus, let exponent): .rsa(modulus: modulus, exponent: exponent)
        case .p256(let x, let y): .point(.p256, x: x, y: y)
        case .ed25519(let x): .ed25519(x: x)
        }
    }

    private static let schemes: [PrivateKey.Algorithm: SignatureScheme] = [
        .rs256: .pkcs1(.sha256), .ps256: .pss(.sha256), .es256: .ecdsa(.sha256), .edDSA: .ed25519,
    ]

    @Test(
        "A signature verifies only by the scheme it was made with", arguments: PrivateKey.Algorithm.allCases)
    func schemes(_ algorithm: PrivateKey.Algorithm) throws {
        let key = PrivateKey.generate(algorithm)
        let publicKey = try PublicKey(numbers(key))
        let signature = key.sign([1, 2, 3])
        let right = try #require(Self.schemes[algorithm])
        let all =
            [SignatureScheme.ed25519]
            + Digest.Function.allCases.flatMap { [SignatureScheme.pkcs1($0), .pss($0), .ecdsa($0)] }
        for scheme in all {
            #expect(publicKey.verifies(signature, of: [1, 2, 3], by: scheme) == (scheme == right), "\(scheme)")
        }
        #expect(!publicKey.verifies(signature, of: [1, 2, 4], by: right))
        #expect(!publicKey.verifies(signature, of: [], by: right))
    }

    @Test("An empty message can be signed and verified", arguments: PrivateKey.Algorithm.allCases)
    func nothing(_ algorithm: PrivateKey.Algorithm) throws {
        let key = PrivateKey.generate(algorithm)
        let scheme = try #require(Self.schemes[algorithm])
        #expect(try PublicKey(numbers(key)).verifies(key.sign([]), of: [], by: scheme))
    }

    @Test("An RSA key that is weak, or made to be slow, is refused")
    func weak() throws {
        guard case .rsa(let modulus, let exponent) = Self.rsa.publicNumbers else { return }
        func make(_ n: [UInt8], _ e: [UInt8]) throws { _ = try PublicKey(.rsa(modulus: n, exponent: e)) }
        try make(modulus, exponent)
        try make([0, 0] + modulus, [0] + exponent)
        try make(modulus, [3])
        for e in [[], [0], [1], [2], [4], [1, 0, 0], [2, 0, 1], [1, 0, 0, 1], modulus] as [[UInt8]] {
            #expect(throws: PublicKey.Unusable.self, "\(e)") { try make(modulus, e) }
        }
        let even = modulus.dropLast() + [modulus[255] & 0xFE]
        let long = [UInt8](repeating: 0xFF, count: 1025)
        for n in [[], [0], Array(modulus.dropFirst()), Array(even), long] {
            #expect(throws: PublicKey.Unusable.self, "\(n.count) bytes") { try make(n, exponent) }
        }
    }

    @Test("An EC point that is off its curve, or of another length, is refused")
    func points() throws {
        guard case .p256(let x, let y) = Self.point.publicNumbers else { return }
        _ = try PublicKey(.point(.p256, x: x, y: y))
        var off = y
        off[31] ^= 1
        let zeros = [UInt8](repeating: 0, count: 32)
        let ones = [UInt8](repeating: 0xFF, count: 32)
        for (x, y) in [
            (x, off), (y, x), (zeros, zeros), (ones, ones), ([0] + x, y), (Array(x.dropLast()), y), ([], []),
        ] {
            #expect(throws: PublicKey.Unusable.self) { try PublicKey(.point(.p256, x: x, y: y)) }
            #expect(throws: PublicKey.Unusable.self) { try PublicKey(.point(.p384, x: x, y: y)) }
        }
        #expect(throws: PublicKey.Unusable.self) { try PublicKey(.ed25519(x: Array(x.dropLast()))) }
        #expect(throws: PublicKey.Unusable.self) { try PublicKey(.ed25519(x: x + [0])) }
    }

    @Test("An Ed25519 key of small order, for which one signature fits every message, is refused")
    func smallOrder() throws {
        let zeros = [UInt8](repeating: 0, count: 30)
        let ones = [UInt8](repeating: 0xFF, count: 30)
        let eighth = try #require(
            Base64URL.decode("JuiVj8KyJ7BFw_SJ8u-Y8NXfrAXTxjM5sTgCiG1T_AU"), "a y of order 8, as it is known elsewhere")
        let otherEighth = try #require(Base64URL.decode("xxdqcD1N2E-6PAt2DRBnDyogU_osOczGTsf9d5KsA3o"))
        var weak = [[0] + zeros + [0], [1] + zeros + [0], [0xEC] + ones + [0x7F], eighth, otherEighth]
        // y from the prime on: 0 and 1 again, and others that a decoder must refuse (RFC 8032 §5.1.3).
        weak += (UInt8(0xED)...0xFF).map { [$0] + ones + [0x7F] }
        for y in weak {
            for sign in [UInt8(0), 0x80] {
                let x = y.dropLast() + [y[31] | sign]
                #expect(throws: PublicKey.Unusable.self, "\(y)") { try PublicKey(.ed25519(x: Array(x))) }
            }
        }
        for _ in 1...20 { _ = try PublicKey(numbers(PrivateKey.generate(.edDSA))) }
    }

    /// Made by Python's `cryptography`: a modulus, and signatures of "salt" under it.
    private static let modulus =
        """
        j5XWTfR-7kitktvIZypGTpCf5QBEcx5wYBp7z9zYS0QHPlkxv6bkzgerzFqtg2b6VtIVszdhP6i6t_HAYypTHEC9ly6jY1bODtI-\
        qKbOOFt40HgGfGEkKSsYc3OHGNlUKWg8XKtsTqKIu7yifKxq6Q3p9_hAHWEFNqEpfScvzeRhyJkCf-\
        yvarhybCISgOiDR_VjXVkkBM2Al8G_XqIgvseeFRvb-IzMgro6qGzsVs-yXK5tP-\
        gHvH0XKfzR1FXW_plBFmok6Z4J0NXuC-1e1LWmK9hovaeEZkNNmJvFdoIjgZXuhcI7-2WfqMxlC-hZBxpShl_Q9XR_yaI8gHHryQ
        """
    private static let salted: [(of: String, signature: String, isRight: Bool)] = [
        (
            "32 bytes of salt",
            """
            jJnJD4g9v6TetP_LsDfhZD_NZOfMey9nOt8hr4Jc0oS2Z6J8Hh4BR0uiyQDv6wKy_m-snIGnq8KdfjDbkzOEwilqp3L6wBJ5cWNv\
            VD2xvoMbCceYGBgtHhaELcJxsiObaZfmoWNEBreWaXnmjlylKWF4L10258EmOqXiYIXMixan28pXJlWu2ej1y6acRufcdn0t-\
            Ou8Z_G_ST31PyVLgyY6_wenk-F3AtaeR9igEGXiLfEx2UPQFgQACUFbMb9SulHV-\
            PAcN5p5_TvoHbPkEPH0I4HtIQrO8vLLKLUrGl1VlLXAAvruKxOn2ugQGaWM-PI58kRPJbcf8-9AYOQFKg
            """, true
        ),
        (
            "222 bytes, OpenSSL's default",
            """
            jbqt4oRyBut8ZnF_RfG3lbIpKS9wc5Z9qiycM1Qayx-OmikCJVnsg_PKUYm3_VBlcLzYLCwHGyB-sCiKxm694vi-\
            UGmSglZ5QiNtOLpyoIb74mVQKwHZEcyLu9Mbm-QJIocTwcN1JE_MSKLn6G2p8Uv36P40gPgK-\
            u3O1ZOUr3oNK0t6bC_qd6EkmUcqzON3uqsu2UV2ZNAiaC4YfyFcv7kH88Ea_ejmjY5EPh89Y9tVSQdAy0qm9YD6ieu-\
            r_6dYVFE0VS3w1Go7Bb-m9rzhalYyYX8BXm03vt3qs6GBf7iWPRNRoCn5fSMHHihccJsmgJBIn2IWAM3sKRVkwXk1A
            """, false
        ),
        (
            "no salt",
            """
            jBqcA4F8Ziz5nZmLAhE3REkSMBgg0vLBFuCB_Y70wkBpETY_qsNKE6B0ZW0WsklspdSq1zS45Vv9YzR2Dtm2-\
            RLHZGYCXP65puzwRzBCMqROLp7izmHVG2ifBo628q1ykxJUz1ld7C-\
            67FeFWZmoGI8fa6VbjeNyaXbP1S3yQzwvcMy1W4CyWaQH4b2RFL9EcesKPvUkmIdEswQAHlhov27aeDKoInGxdzLNpClVOncVZ-k\
            Ed4s44zt7_XCZh_0Emm65VGefaQdqGk2j6D5WBmYkyWNxFMtlNnCr1oTcTBYaPLfyay8Z-\
            7uQU85Uyau3zzqibD78XjiaO33JFOYGWw
            """, false
        ),
        (
            "MGF1 of SHA-1",
            """
            ZSfj0ymh48SCeKI96d_mAqllD_6OGR3cesfSb9aVssmxx7COTxYAuAB0I21rmmf6SwSI02xRVLdYUPeW0Cg41klCvlgVJqs1-\
            BPVcOlCWTQ-iOPC2sqYH_-\
            9kVe7jlVdV05ixsjIb6Zf3969SuQsvOY21A7LXsThq9mOKfaLgl9VWBPaTbhbktjJUzFHpzpzLdcM97FW4ugA7SsXZzxM0HPqek4\
            KsUI-7shs-5czFsQFr9lIjUtpW_L0dr68a0Dl1KWs3kfgYsgZ9XK2iC2bwwF8Ive_0R3DntLGhUlRHrWBV84G7R_h7MTUz-\
            QX6dgkuWOCfoYar6BwVcMOALsdpw
            """, false
        ),
    ]

    @Test("A PSS signature needs a salt as long as the digest, and the same digest function in MGF1")
    func salt() throws {
        let modulus = try #require(Base64URL.decode(Self.modulus))
        let key = try PublicKey(.rsa(modulus: modulus, exponent: [1, 0, 1]))
        for (of, text, isRight) in Self.salted {
            let signature = try #require(Base64URL.decode(text))
            #expect(key.verifies(signature, of: Array("salt".utf8), by: .pss(.sha256)) == isRight, "\(of)")
        }
    }
}
