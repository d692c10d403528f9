import Testing

@testable import Cryptography

@Suite("Password hashes") struct PasswordHashTests {
    private let cheap = PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1)

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

    @Test("The standard cost is OWASP's first choice, and is recorded in the hash")
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

    @Test("The same characters typed in two ways are one password")
    func normalization() async throws {
        let composed = try PasswordHash.Typed("caf\u{E9}")
        let decomposed = try PasswordHash.Typed("cafe\u{301}")
        #expect(composed.normalized == decomposed.normalized)
        #expect(composed.normalized == Array("caf\u{E9}".utf8))
        let pool = HashingPool(parameters: cheap, workers: 1, random: SystemRandom())
        for (chosen, typed) in [("caf\u{E9}", "cafe\u{301}"), ("cafe\u{301}", "caf\u{E9}")] {
            let hash = try await pool.hash(chosen, for: "a", random: SystemRandom())
            #expect(try await pool.verify(typed, against: hash, for: "a"))
            #expect(try await pool.verify(chosen, against: hash, for: "a"))
        }
    }

    @Test("A hashed password has at most 8192 bytes, and may be empty or have a NUL")
    func length() async throws {
        #expect(throws: PasswordTooLong()) { try PasswordHash.Typed(String(repeating: "x", count: 8193)) }
        let pool = HashingPool(parameters: cheap, workers: 1, random: SystemRandom())
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

    @Test("Text that is no hash is an error, not a wrong password")
    func damaged() {
        for encoded in ["", "x", "$argon2id$v=19$m=8,t=1,p=1$$", "$argon2i$v=19$m=8,t=1,p=1$c29tZXNhbHQ$aGFzaA"] {
            #expect(throws: PasswordHashingFailed()) {
                try PasswordHash(encoded: encoded).matches(PasswordHash.Typed("x"))
            }
        }
    }
}
