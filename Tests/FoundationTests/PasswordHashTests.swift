import Testing

@testable import Cryptography

@Suite("Password hashes") struct PasswordHashTests {
    private static let cheap = PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1)

    @Test("The reference implementation's Argon2id example verifies")
    func knownVector() throws {
        let hash = PasswordHash(
            encoded: "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc")
        #expect(try hash.matches(PasswordHash.Typed("password")))
        #expect(try !hash.matches(PasswordHash.Typed("Password")))
        let made = try PasswordHash(
            of: Array("password".utf8), salt: Array("somesalt".utf8),
            parameters: PasswordHashCost(memoryKiB: 65536, iterations: 2, parallelism: 1))
        #expect(made == hash)
    }

    @Test("The standard cost of password hashes is OWASP's first choice for Argon2id, and is stated in the hash")
    func cost() throws {
        let hash = try PasswordHash(of: [1], salt: [UInt8](repeating: 0, count: 16), parameters: .standard)
        #expect(hash.encoded.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
        #expect(!hash.needsUpgrade(to: .standard))
        #expect(hash.needsUpgrade(to: PasswordHashCost(memoryKiB: 19457, iterations: 2, parallelism: 1)))
        #expect(PasswordHash(encoded: "$2b$12$whatever").needsUpgrade(to: .standard))
    }

    @Test(
        "A stronger Argon2id hash of another system is never replaced by a weaker one",
        arguments: [
            ("argon2id$v=19$m=19456,t=2,p=1", false), ("argon2id$v=19$m=65536,t=3,p=4", false),
            ("argon2id$v=19$m=65536,t=1,p=1", false), ("argon2id$v=19$m=19456,t=2,p=8", false),
            ("argon2id$v=19$m=19455,t=2,p=1", true), ("argon2id$v=19$m=19456,t=1,p=1", true),
            ("argon2id$v=16$m=65536,t=3,p=4", true), ("argon2i$v=19$m=65536,t=3,p=4", true),
            ("argon2id$m=65536,t=3,p=4", true),
        ])
    func stronger(_ cost: String, _ isWeaker: Bool) {
        let hash = PasswordHash(encoded: "$\(cost)$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc")
        #expect(hash.needsUpgrade(to: .standard) == isWeaker)
    }

    @Test("A password verifies in composed and in decomposed characters, whichever were used to choose it")
    func normalization() async throws {
        let composed = try PasswordHash.Typed("caf\u{E9}")
        let decomposed = try PasswordHash.Typed("cafe\u{301}")
        #expect(composed.normalized == decomposed.normalized)
        #expect(composed.normalized == Array("caf\u{E9}".utf8))
        let pool = HashingPool(parameters: Self.cheap, workers: 1, random: SystemRandom())
        for (chosen, typed) in [("caf\u{E9}", "cafe\u{301}"), ("cafe\u{301}", "caf\u{E9}")] {
            let hash = try await pool.hash(chosen, for: "a", random: SystemRandom())
            #expect(try await pool.verify(typed, against: hash, for: "a"))
            #expect(try await pool.verify(chosen, against: hash, for: "a"))
        }
    }

    @Test("A hashed password has at most 8192 bytes, and may be empty or have a NUL")
    func length() async throws {
        #expect(throws: PasswordTooLong()) { try PasswordHash.Typed(String(repeating: "x", count: 8193)) }
        let pool = HashingPool(parameters: Self.cheap, workers: 1, random: SystemRandom())
        for password in ["", "a\0b", String(repeating: "x", count: 8192)] {
            let hash = try await pool.hash(password, for: "a", random: SystemRandom())
            #expect(try await pool.verify(password, against: hash, for: "a"))
            #expect(
                try await !pool.verify(
                    password + "y".prefix(password.count < 8192 ? 1 : 0) + "", against: nil, for: "a"))
        }
        let hash = try await pool.hash("a\0b", for: "a", random: SystemRandom())
        #expect(try await !pool.verify("a\0c", against: hash, for: "a"))
        #expect(try await !pool.verify("a", against: hash, for: "a"))
    }

    @Test("A stored text that is no password hash causes an error, not the answer that the password is wrong")
    func damaged() {
        for encoded in ["", "x", "$argon2id$v=19$m=8,t=1,p=1$$", "$argon2i$v=19$m=8,t=1,p=1$c29tZXNhbHQ$aGFzaA"] {
            #expect(throws: PasswordHashingFailed()) {
                try PasswordHash(encoded: encoded).matches(PasswordHash.Typed("x"))
            }
        }
    }

    /// A published hash and the bytes it was made of.
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
        // The hash of "cafe" with a combining accent; the hash of the composed letter.
        let decomposed = PasswordHash(encoded: Self.cafe("lor2LckEi67DEyVllO8p5sQwUy5EkiCCUaFD0QFrPRY"))
        let composed = PasswordHash(encoded: Self.cafe("H+++sOlC9mwNSw4Qq/bWC2Zad/yvI1wvhTVdjA0lWgM"))
        #expect(try await pool.verify("cafe\u{301}", against: decomposed, for: "a"))
        #expect(try await pool.verify("caf\u{E9}", against: composed, for: "a"))
        #expect(try await pool.verify("cafe\u{301}", against: composed, for: "a"))
        #expect(try await !pool.verify("cafe", against: composed, for: "a"))
    }

    private static func cafe(_ digest: String) -> String { "$pbkdf2-sha256$1000$c2FsdHNhbHQ$\(digest)" }

    @Test("For an unknown user the given stand-in hash is computed, and no password matches")
    func standIn() async throws {
        let pool = HashingPool(parameters: Self.cheap, workers: 1, random: SystemRandom())
        let hash = try PasswordHash(imported: "$pbkdf2$1$c2FsdA$DGDID5YfDnHzqbUkr2ASBi/gN6Y")
        #expect(try await pool.verify("password", against: hash, for: "a"))
        #expect(try await !pool.verify("password", against: nil, for: "a", standIn: hash))
        #expect(pool.hashesComputed == 2)
    }

    private static let salt = "c2FsdHNhbHQ"
    private static let digest = "H+++sOlC9mwNSw4Qq/bWC2Zad/yvI1wvhTVdjA0lWgM"
    private static let bcrypt = "CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"

    static let bombs = [
        "$argon2id$v=19$m=262145,t=1,p=1$\(salt)$\(digest)", "$argon2id$v=19$m=4294967295,t=1,p=1$\(salt)$\(digest)",
        "$argon2id$v=19$m=262144,t=17,p=1$\(salt)$\(digest)", "$argon2i$v=19$m=8,t=524289,p=1$\(salt)$\(digest)",
        "$argon2d$v=19$m=65536,t=1,p=17$\(salt)$\(digest)", "$argon2d$m=8,t=9999999999,p=1$\(salt)$\(digest)",
        "$2b$17$\(bcrypt)", "$2a$31$\(bcrypt)", "$2y$99$\(bcrypt)",
        "$scrypt$ln=21,r=1,p=1$\(salt)$\(digest)", "$scrypt$ln=20,r=3,p=1$\(salt)$\(digest)",
        "$scrypt$ln=63,r=8,p=1$\(salt)$\(digest)", "$scrypt$ln=64,r=8,p=1$\(salt)$\(digest)",
        "$scrypt$ln=14,r=8,p=65$\(salt)$\(digest)", "$scrypt$ln=1,r=9999999999,p=1$\(salt)$\(digest)",
        "$scrypt$ln=1,r=1,p=9999999999$\(salt)$\(digest)",
        "$pbkdf2-sha256$5000001$\(salt)$\(digest)", "$pbkdf2$2500001$\(salt)$\(digest)",
        "$pbkdf2-sha512$9999999999$\(salt)$\(digest)", "pbkdf2_sha256$2147483648$salt$\(digest)=",
    ]

    @Test("A password hash that would cost too much is refused without computing it", arguments: bombs)
    func bomb(_ encoded: String) throws {
        do throws(PasswordHashFault) {
            _ = try PasswordHash(imported: encoded)
            Issue.record("taken")
        } catch {
            guard case .tooCostly = error else {
                Issue.record("\(error)")
                return
            }
            #expect(!"\(error)".contains(Self.digest))
        }
        #expect(throws: PasswordHashingFailed()) {
            try PasswordHash(encoded: encoded).matches(PasswordHash.Typed("password"))
        }
    }

    @Test("A password hash at the limit of cost is accepted")
    func limits() throws {
        for encoded in [
            "$argon2id$v=19$m=262144,t=16,p=16$\(Self.salt)$\(Self.digest)", "$2b$16$\(Self.bcrypt)",
            "$scrypt$ln=20,r=2,p=4$\(Self.salt)$\(Self.digest)", "$pbkdf2-sha512$5000000$\(Self.salt)$\(Self.digest)",
        ] {
            #expect(try PasswordHash(imported: encoded).encoded == encoded)
        }
    }

    static let malformed = [
        "$argon2id$", "$argon2id$v=19$m=65536,t=2,p=1$\(salt)", "$argon2id$v=18$m=65536,t=2,p=1$\(salt)$\(digest)",
        "$argon2id$v=19$t=2,m=65536,p=1$\(salt)$\(digest)", "$argon2id$v=19$m=65536,t=2$\(salt)$\(digest)",
        "$argon2id$v=19$m=0x10,t=2,p=1$\(salt)$\(digest)", "$argon2id$v=19$m=-8,t=2,p=1$\(salt)$\(digest)",
        "$argon2id$v=19$m=7,t=2,p=1$\(salt)$\(digest)", "$argon2id$v=19$m=64,t=0,p=1$\(salt)$\(digest)",
        "$argon2id$v=19$m=64,t=1,p=0$\(salt)$\(digest)", "$argon2id$v=19$m=64,t=1,p=1$\(salt)$c2hvcnQ",
        "$argon2id$v=19$m=64,t=1,p=1$c2FsdA$\(digest)", "$argon2id$v=19$m=64,t=1,p=1$\(salt)$\(digest)$more",
        "$argon2id$v=19$m=64,t=1,p=1,x=1$\(salt)$\(digest)", "$argon2id$v=19$m=64,t=1,p=1$\(salt)$this!is!no!base64",
        "$2b$05$", "$2b$05$\(bcrypt)x", "$2b$05$\(bcrypt.dropLast())", "$2b$03$\(bcrypt)", "$2b$5$\(bcrypt)x",
        "$2b$xx$\(bcrypt)", "$2b$05x\(bcrypt)", "$2b$05$\(bcrypt.dropLast())$", "$2b$05$\(bcrypt.dropLast(2))-+",
        "$scrypt$", "$scrypt$ln=0,r=8,p=1$\(salt)$\(digest)", "$scrypt$ln=10,r=0,p=1$\(salt)$\(digest)",
        "$scrypt$ln=10,r=8,p=0$\(salt)$\(digest)", "$scrypt$N=1024,r=8,p=1$\(salt)$\(digest)",
        "$scrypt$ln=10,r=8,p=1$$\(digest)", "$scrypt$ln=10,r=8,p=1$\(salt)$",
        "$scrypt$ln=10,r=8,p=1$\(salt)$\(digest)=x",
        "$pbkdf2-sha256$0$\(salt)$\(digest)", "$pbkdf2-sha256$$\(salt)$\(digest)", "$pbkdf2-sha256$1000$\(salt)",
        "$pbkdf2-sha256$+1000$\(salt)$\(digest)", "$pbkdf2-sha256$1000$\(salt)$AAAA", "$pbkdf2$1000$$\(digest)",
        "pbkdf2_sha256$1000$$\(digest)", "pbkdf2_sha256$1000$salt", "pbkdf2_sha256$1000$salt$\(digest)==",
    ]

    @Test("A nearly valid password hash is refused as malformed", arguments: malformed)
    func nearly(_ encoded: String) {
        do throws(PasswordHashFault) {
            _ = try PasswordHash(imported: encoded)
            Issue.record("taken")
        } catch {
            guard case .malformed = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test(
        "An unknown kind of password hash is refused",
        arguments: [
            "", " ", "$", "$$$$", "password", "5f4dcc3b5aa765d61d8327deb882cf99", "$1$salt$digest", "$6$salt$digest",
            "$2x$05$\(bcrypt)", "$2$05$\(bcrypt)", "$argon2$v=19$m=64,t=1,p=1$\(salt)$\(digest)",
            "{SSHA}c2FsdA==", "md5$salt$digest", "pbkdf2_md5$1$salt$digest", " $2b$05$\(bcrypt)",
            "$2b$05$\(bcrypt.dropLast(2))é", "pbkdf2_sha256$1000$s\0alt$\(digest)=",
            "$pbkdf2-sha256$1000$" + String(repeating: "A", count: 500),
        ])
    func unknown(_ encoded: String) {
        #expect(throws: PasswordHashFault.unknownScheme) {
            try PasswordHash(imported: encoded)
        }
    }
}
