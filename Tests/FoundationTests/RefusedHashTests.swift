import Testing

@testable import Cryptography

@Suite("Refused password hashes") struct RefusedHashTests {
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
