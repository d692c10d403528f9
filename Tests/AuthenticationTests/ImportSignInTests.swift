import JSON
import Storage
import TestSupport
import Testing

@testable import Directory
@testable import Authentication

@Suite("Imported users sign in") struct ImportSignInTests {
    /// Published hashes, and what they are of.
    static let people: [(scheme: String, hash: String, password: String)] = [
        ("bcrypt", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK", "U*U*"),
        (
            "scrypt",
            "$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$"
                + "cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofLVQylVYT8Pz2LUlwUkKpr55h6F3A1lHkDfzwF7RVdYhw",
            "pleaseletmein"
        ),
        ("pbkdf2", "$pbkdf2-sha256$8000$XAuBMIYQQogxRg$tRRlz8hYn63B9LYiCd6PRo6FMiunY9ozmMMI3srxeRE", "password"),
        (
            "django",
            "pbkdf2_sha256$80000$NaCl$"
                + "TdzY9guYviGDDO5e8icB+WQaRBjQTAQUrv8Ih2s0q1ah1CWhIlgzVJrbhBtRybMXaicr3ruh0HhHj2Kzl/M8jQ==",
            "Password"
        ),
        ("argon2i", "$argon2i$m=65536,t=2,p=1$c29tZXNhbHQ$9sTbSlTio3Biev89thdrlKKiCaYsjjYVJxGAL3swxpQ", "password"),
        (
            "argon2id", "$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc",
            "password"
        ),
        // Of "cafe" and a combining accent: as a system that took bytes as they came.
        ("decomposed", "$pbkdf2-sha256$1000$c2FsdHNhbHQ$lor2LckEi67DEyVllO8p5sQwUy5EkiCCUaFD0QFrPRY", "cafe\u{301}"),
    ]

    @Test(
        "An imported user signs in with the old password, whose hash is upgraded; a wrong one changes nothing",
        arguments: Backend.available)
    func upgraded(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let database = world.server.database
            let file = Self.people.map { person in
                JSON.members([
                    "email": .string("\(person.scheme)@example.com"), "password_hash": .string(person.hash),
                ]).text
            }
            let (totals, _) = try await ImportTests.run(
                file.joined(separator: "\n"), into: try ImportTests.users(database))
            #expect(totals.imported == Self.people.count)
            for person in Self.people {
                let email = "\(person.scheme)@example.com"
                @Sendable func hash() async throws -> String? {
                    try await database.read { db in
                        try db.rows("SELECT password_hash FROM users WHERE email = \(email)").first?
                            .get("password_hash")
                    }
                }
                let wrong = try await world.signIn(as: email, password: person.password + "!")
                #expect(wrong.error == "invalid_grant", "\(person.scheme)")
                #expect(try await hash() == person.hash, "\(person.scheme)")
                let right = try await world.signIn(as: email, password: person.password)
                #expect(right.status == 200, "\(person.scheme)")
                let upgraded = try #require(try await hash())
                // What is dearer than ours already stays as it is.
                let isStronger = person.hash.hasPrefix("$argon2id$v=19$")
                #expect(isStronger ? upgraded == person.hash : upgraded.hasPrefix("$argon2id$v=19$m=8,t=1,p=1$"))
                // And again, with what is stored now; it is not hashed a second time.
                #expect(try await world.signIn(as: email, password: person.password).status == 200)
                #expect(try await world.signIn(as: email, password: person.password + "!").error == "invalid_grant")
                #expect(try await hash() == upgraded, "\(person.scheme)")
            }
            // What is one of ours now is the same however it is typed.
            #expect(try await world.signIn(as: "decomposed@example.com", password: "caf\u{E9}").status == 200)
        }
    }

    @Test("Concurrent first sign-ins of an imported user all succeed", arguments: Backend.available)
    func atOnce(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let (hash, password) = (Self.people[0].hash, Self.people[0].password)
            _ = try await ImportTests.run(
                #"{"email": "bea@example.com", "password_hash": "\#(hash)"}"#,
                into: try ImportTests.users(world.server.database))
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 1...4 {
                    group.addTask { try await world.signIn(as: "bea@example.com", password: password).status }
                }
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    @Test("A disabled imported user, and one without a password, cannot sign in", arguments: Backend.available)
    func refused(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await ImportTests.run(
                """
                {"email": "off@example.com", "disabled": true, "password_hash": "\(Self.people[0].hash)"}
                {"email": "none@example.com"}
                """, into: try ImportTests.users(world.server.database))
            for email in ["off@example.com", "none@example.com"] {
                let refused = try await world.signIn(as: email, password: Self.people[0].password)
                #expect(refused.error == "invalid_grant", "\(email)")
            }
        }
    }
}
