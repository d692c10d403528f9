import Testing

@testable import Cryptography

@Suite("Password hashes of other systems") struct ForeignHashTests {
    /// What somebody published: a hash and the bytes it is of.
    struct Vector: Sendable, CustomTestStringConvertible {
        let source: String
        let hash: String
        let password: [UInt8]
        var testDescription: String { "\(source): \(hash)" }

        init(_ source: String, _ hash: String, _ password: String) {
            self.init(source, hash, bytes: Array(password.utf8))
        }

        init(_ source: String, _ hash: String, bytes: [UInt8]) {
            self.source = source
            self.hash = hash
            self.password = bytes
        }
    }

    static let vectors = [
        Vector("crypt_blowfish", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U"),
        Vector("crypt_blowfish", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK", "U*U*"),
        Vector("crypt_blowfish", "$2b$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK", "U*U*"),
        Vector("crypt_blowfish", "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a", "U*U*U"),
        Vector("crypt_blowfish", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy", ""),
        Vector(
            "crypt_blowfish", "$2y$05$/OK.fbVrR/bpIqNJ5ianF.CE5elHaaO4EbggVDjb8P19RukzXSM3e",
            bytes: [0xFF, 0xFF, 0xA3]),
        Vector(
            "RFC 7914 §12",
            "$scrypt$ln=10,r=8,p=16$TmFDbA$"
                + "/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWIurzDZLiKjiG/xCSedmDDaxyevuUqD7m2DYMvfoswGQA",
            "password"),
        Vector(
            "RFC 7914 §12",
            "$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$"
                + "cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofLVQylVYT8Pz2LUlwUkKpr55h6F3A1lHkDfzwF7RVdYhw",
            "pleaseletmein"),
        Vector(
            "passlib",
            "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E", "password"),
        Vector("RFC 6070", "$pbkdf2$1$c2FsdA$DGDID5YfDnHzqbUkr2ASBi/gN6Y", "password"),
        Vector("RFC 6070", "$pbkdf2$4096$c2FsdA$SwB5AbdlSJq+rUnZJvch0GWkKcE", "password"),
        Vector("RFC 6070", "$pbkdf2-sha1$4096$c2FsdA$SwB5AbdlSJq.rUnZJvch0GWkKcE", "password"),
        Vector(
            "RFC 6070",
            "$pbkdf2$4096$c2FsdFNBTFRzYWx0U0FMVHNhbHRTQUxUc2FsdFNBTFRzYWx0$PS7sT+QchJuAyNg2YsDkSospGpZM8vBwOA",
            "passwordPASSWORDpassword"),
        Vector("RFC 6070", "$pbkdf2$4096$c2EAbHQ$Vvpqp1VICZ3MN9fwNCXgww", "pass\0word"),
        Vector(
            "RFC 7914 §11",
            "$pbkdf2-sha256$1$c2FsdA$"
                + "VawEblbjCJ/sFpHCJUS2BflBhSFt3gRl5oudV8INrLxJypzM8Xm2RZkWZLOdd+8xfHG4RbHjC9UJESBB06GXgw",
            "passwd"),
        Vector(
            "RFC 7914 §11",
            "$pbkdf2-sha256$i=80000$TmFDbA$"
                + "TdzY9guYviGDDO5e8icB+WQaRBjQTAQUrv8Ih2s0q1ah1CWhIlgzVJrbhBtRybMXaicr3ruh0HhHj2Kzl/M8jQ",
            "Password"),
        Vector(
            "RFC 7914 §11, as Django writes it",
            "pbkdf2_sha256$80000$NaCl$"
                + "TdzY9guYviGDDO5e8icB+WQaRBjQTAQUrv8Ih2s0q1ah1CWhIlgzVJrbhBtRybMXaicr3ruh0HhHj2Kzl/M8jQ==",
            "Password"),
        Vector(
            "passlib", "$pbkdf2-sha256$8000$XAuBMIYQQogxRg$tRRlz8hYn63B9LYiCd6PRo6FMiunY9ozmMMI3srxeRE", "password"),
        Vector(
            "the reference implementation",
            "$argon2i$m=65536,t=2,p=1$c29tZXNhbHQ$9sTbSlTio3Biev89thdrlKKiCaYsjjYVJxGAL3swxpQ", "password"),
        Vector(
            "the reference implementation",
            "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA", "password"),
        Vector(
            "the reference implementation",
            "$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc", "password"),
        Vector(
            "libargon2's argon2d_hash_encoded",
            "$argon2d$v=19$m=256,t=2,p=1$c29tZXNhbHQ$JcTui6RIBUtJ78gE5Hi52CO+H5vS6Z9R1uxAB6OhUB8",
            "password"),
        Vector(
            "RFC 6070's input with SHA-512",
            "$pbkdf2-sha512$4096$c2FsdFNBTFRzYWx0U0FMVHNhbHRTQUxUc2FsdFNBTFRzYWx0$"
                + "jAUR9Mbll8asYxXY8DYuIl88UBSVuiO4aMAFF03E7nERW1n55gzZUy+jPg91rv4wIlxYOhhs2CvU2uqXJKPTuA",
            "passwordPASSWORDpassword"),
    ]

    @Test("A published hash verifies its password and no other, and is marked for upgrade", arguments: vectors)
    func published(_ vector: Vector) throws {
        let hash = try PasswordHash(imported: vector.hash)
        #expect(try hash.scheme().matches(vector.password))
        for other in [vector.password + [0x21], [UInt8](vector.password.dropLast()) + [0x7E]] {
            #expect(try !hash.scheme().matches(other))
        }
        #expect(hash.needsUpgrade(to: .standard))
    }

    @Test("Bcrypt uses 72 bytes of a password, however long it is, and refuses one with a NUL")
    func longBcrypt() throws {
        let hash = try PasswordHash(imported: "$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui")
        let start = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        #expect(start.utf8.count == 72)
        #expect(try hash.matches(PasswordHash.Typed(start + "chars after 72 are ignored")))
        #expect(try hash.matches(PasswordHash.Typed(start + String(repeating: "x", count: 5000))))
        #expect(try !hash.matches(PasswordHash.Typed(String(start.dropLast()))))
        #expect(try !hash.matches(PasswordHash.Typed(start + "\0")))
        let empty = try PasswordHash(imported: "$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy")
        #expect(try !empty.matches(PasswordHash.Typed("\0anything")))
    }

    @Test("A bcrypt salt whose last letter has spare bits set is the same salt")
    func spareBits() throws {
        // `.` is 0 and `/` is 1 in the last of 22 letters, of which 128 bits need but two.
        let hash = try PasswordHash(imported: "$2a$05$CCCCCCCCCCCCCCCCCCCCC/E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW")
        #expect(try hash.matches(PasswordHash.Typed("U*U")))
    }

    @Test("A foreign hash verifies the password as it was typed or in composed form, whichever was hashed")
    func asTyped() async throws {
        let pool = HashingPool(parameters: Self.cheap, workers: 1, random: SystemRandom())
        // Of "cafe" and a combining acute accent; of the composed letter.
        let decomposed = PasswordHash(encoded: Self.cafe("lor2LckEi67DEyVllO8p5sQwUy5EkiCCUaFD0QFrPRY"))
        let composed = PasswordHash(encoded: Self.cafe("H+++sOlC9mwNSw4Qq/bWC2Zad/yvI1wvhTVdjA0lWgM"))
        #expect(try await pool.verify("cafe\u{301}", against: decomposed, for: "a"))
        #expect(try await pool.verify("caf\u{E9}", against: composed, for: "a"))
        #expect(try await pool.verify("cafe\u{301}", against: composed, for: "a"))
        #expect(try await !pool.verify("cafe", against: composed, for: "a"))
    }

    private static let cheap = PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1)
    private static func cafe(_ digest: String) -> String { "$pbkdf2-sha256$1000$c2FsdHNhbHQ$\(digest)" }

    @Test("A stand-in hash is computed, and never matches")
    func standIn() async throws {
        let pool = HashingPool(parameters: Self.cheap, workers: 1, random: SystemRandom())
        let hash = try PasswordHash(imported: "$pbkdf2$1$c2FsdA$DGDID5YfDnHzqbUkr2ASBi/gN6Y")
        #expect(try await pool.verify("password", against: hash, for: "a"))
        #expect(try await !pool.verify("password", against: nil, for: "a", standIn: hash))
        #expect(pool.hashesComputed == 2)
    }
}
