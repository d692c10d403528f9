import Cryptography
import JSON
import Storage
import TestSupport
import Testing
import Values

@testable import Authentication
@testable import Directory

@Suite("Importing users") struct ImportTests {
    /// The users of a database of its own.
    static func users(_ database: any Database) throws -> Users {
        let hashing = HashingPool(
            parameters: PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1), workers: 1,
            random: SystemRandom())
        return Users(
            database: database, hashing: hashing, clock: ManualClock(), random: SystemRandom(),
            events: .unheard)
    }

    static func run(
        _ text: String, into users: Users, isRehearsal: Bool = false
    ) async throws -> (totals: UserImport.Totals, rejections: [String]) {
        var pieces = [Array(text.utf8)]
        var lines = LineReader { pieces.popLast() ?? [] }
        var rejections: [String] = []
        let totals = try await UserImport(into: users, isRehearsal: isRehearsal).run(&lines) {
            rejections.append("\($0)")
        }
        return (totals, rejections)
    }

    static let bcrypt = "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"

    @Test("An import line becomes a user with the values of that line and no others", arguments: Backend.available)
    func whole(_ backend: Backend) async throws {
        let users = try Self.users(try await backend.open())
        let (totals, rejections) = try await Self.run(
            """
            {"email": " Kari@Example.com", "email_verified": true, "password_hash": "\(Self.bcrypt)", "name": "Kari \
            Nordmann", "given_name": "Kari", "phone_number": "+47 22 00 00 00", "locale": "nb-NO", "nickname": null}

            {"email": "ola@example.com", "disabled": true}\r
            {"email": "liv@example.com", "password": null, "password_hash": null}
            """, into: users)
        #expect(rejections.isEmpty)
        #expect(totals == .init(imported: 3, rejected: 0, skippedExisting: 0))
        let stored = try await users.list(connectedTo: nil, after: 0, count: 10)
        let kari = try #require(stored.first { $0.email == "kari@example.com" })
        #expect(kari.emailVerified && kari.disabledAt == nil)
        #expect(kari.profile["name"] == "Kari Nordmann" && kari.profile["phone_number"] == "+47 22 00 00 00")
        #expect(kari.profile["locale"] == "nb-NO" && kari.profile["nickname"] == nil)
        #expect(kari.profile.members?.count == 4)
        let ola = try #require(stored.first { $0.email == "ola@example.com" })
        #expect(!ola.emailVerified && ola.disabledAt != nil && ola.profile == .object([]))
        #expect(try await Self.hash(of: "kari@example.com", users) == Self.bcrypt)
        #expect(try await Self.hash(of: "liv@example.com", users) == nil)
        await users.database.close()
    }

    private static func hash(of email: String, _ users: Users) async throws -> String? {
        try await users.database.read { db in
            try db.rows("SELECT password_hash FROM users WHERE email = \(email)").first?.get("password_hash")
        }
    }

    @Test("A refused import line is reported by number and reason without its content, and stops no other line")
    func refused() async throws {
        let users = try Self.users(try await Backend.sqlite.open())
        let refused: [(line: String, reason: String)] = [
            ("sEcret", "not valid JSON at byte 0"),
            (#"{"email": "sEcret@example.com", "name": "sEcret""#, "not valid JSON at byte 48"),
            (#"["sEcret@example.com"]"#, "must be a JSON object"),
            (#"{"email": "a@example.com", "sEcret": 1, "sEcret": 2}"#, "a member occurs twice"),
            (#"{"email": "a@example.com", "$2b$sEcret": true}"#, "member 2 is no member of an import"),
            (#"{"email": "a@example.com", "emailVerified": "sEcret"}"#, "emailVerified: is no member of an import"),
            (#"{"name": "sEcret"}"#, "email: must be given"),
            (#"{"email": "sEcret at example.com"}"#, "email: must be an e-mail address"),
            (
                #"{"email": "sEc..ret@example.com"}"#,
                "email: must be an e-mail address of ASCII letters, digits and signs, without quotes and without "
                    + "misplaced periods"
            ),
            (#"{"email": 5}"#, "email: must be a string of 1 to 300 bytes without control characters"),
            (#"{"email": "a@example.com", "email_verified": "sEcret"}"#, "email_verified: must be true or false"),
            (#"{"email": "a@example.com", "disabled": 1}"#, "disabled: must be true or false"),
            (
                #"{"email": "a@example.com", "name": ["sEcret"]}"#,
                "name: must be a string of 1 to 500 bytes without control characters"
            ),
            (
                #"{"email": "a@example.com", "password": "sEcret horse battery"}"#,
                "password: must be absent; only a password_hash is imported, never a password"
            ),
            (#"{"email": "a@example.com", "password_hash": 7}"#, "password_hash: must be a string"),
            (
                #"{"email": "a@example.com", "password_hash": "sEcret"}"#,
                "password_hash: no hash of Argon2, bcrypt, scrypt or PBKDF2 in a form that is known"
            ),
            (
                #"{"email": "a@example.com", "password_hash": "$2b$05$sEcret"}"#,
                "password_hash: not a well-formed bcrypt hash"
            ),
            (
                #"{"email": "a@example.com", "password_hash": "\#(Self.bcrypt.replacing("$05$", with: "$31$"))"}"#,
                "password_hash: too costly for bcrypt: at most 16 for the cost"
            ),
            (
                #"{"email": "a@example.com", "name": "\#(String(repeating: "sEcret", count: 12_000))"}"#,
                "longer than 65536 bytes"
            ),
            (String(repeating: "[", count: 70), "nested too deeply"),
        ]
        let file = refused.flatMap { [$0.line, #"{"email": "good\#($0.line.utf8.count)@example.com"}"#] }
        let (totals, rejections) = try await Self.run(file.joined(separator: "\n"), into: users)
        #expect(rejections == zip(0..., refused).map { "line \($0.0 * 2 + 1): \($0.1.reason)" })
        #expect(!rejections.joined().contains("sEcret"))
        #expect(totals.rejected == refused.count)
        #expect(totals.imported + totals.skippedExisting == refused.count && totals.imported > 10)
        await users.database.close()
    }

    @Test(
        "A second import run, or a second line with the same address, imports no duplicate",
        arguments: Backend.available)
    func again(_ backend: Backend) async throws {
        let users = try Self.users(try await backend.open())
        // More than two transactions' worth, with one address in the first and the last.
        let people = (1...450).map { #"{"email": "p\#($0)@example.com", "name": "First"}"# }
        let file = (people + [#"{"email": "P1@example.com", "name": "Second"}"#]).joined(separator: "\n")

        let rehearsal = try await Self.run(file, into: users, isRehearsal: true).totals
        #expect(rehearsal == .init(imported: 450, rejected: 0, skippedExisting: 1))
        #expect(try await users.list(connectedTo: nil, after: 0, count: 1).isEmpty)

        let first = try await Self.run(file, into: users).totals
        #expect(first == rehearsal)
        let second = try await Self.run(file, into: users).totals
        #expect(second == .init(imported: 0, rejected: 0, skippedExisting: 451))
        #expect(try await Self.run(file, into: users, isRehearsal: true).totals == second)
        let stored = try await users.list(connectedTo: nil, after: 0, count: 1000)
        #expect(stored.count == 450)
        #expect(stored.allSatisfy { $0.profile["name"] == "First" })
        await users.database.close()
    }

    @Test(
        "An import transaction that ran twice reports its users as imported, not as existing",
        arguments: Backend.available)
    func twice(_ backend: Backend) async throws {
        let users = try Self.users(try await backend.open())
        func user(_ line: String) throws -> ImportedUser {
            try ImportedUser(line: Array(line.utf8), number: 1, at: users.clock.now, random: SystemRandom())
        }
        let kari = try user(#"{"email": "kari@example.com", "user_id": 7, "sub": "k-1"}"#)
        let stranger = try user(#"{"email": "Kari@example.com"}"#)
        for _ in 1...2 {
            guard case .imported = try await users.take([kari], .none, isRehearsal: false)[0],
                case .existing(UserID(7), "k-1") = try await users.take([stranger], .none, isRehearsal: false)[0]
            else {
                Issue.record("another outcome")
                break
            }
        }
        await users.database.close()
    }

    @Test(
        "An imported user keeps the number, sub and creation time that the import line gives",
        arguments: Backend.available)
    func kept(_ backend: Backend) async throws {
        let users = try Self.users(try await backend.open())
        let (totals, rejections) = try await Self.run(
            """
            {"email": "a@example.com", "user_id": 9007199254740991, "sub": "urn:a", "created": 1273017600}
            {"email": "b@example.com", "user_id": "4711", "sub": "4711", "created": 0}
            {"email": "c@example.com", "sub": "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"}
            """, into: users)
        #expect(rejections.isEmpty && totals.imported == 3)
        let stored = try await users.list(connectedTo: nil, after: 0, count: 10)
        let a = try #require(stored.first { $0.email == "a@example.com" })
        #expect(a.id == UserID(9_007_199_254_740_991) && a.sub == "urn:a" && a.uuid == UserUUID(a.id).description)
        #expect(a.createdAt.seconds == 1_273_017_600)
        let b = try #require(stored.first { $0.email == "b@example.com" })
        #expect(b.id == UserID(4711) && b.sub == "4711" && b.subject == nil && b.createdAt.seconds == 0)
        let c = try #require(stored.first { $0.email == "c@example.com" })
        #expect(c.uuid == "6f9619ff-8b86-4d01-b42d-00cf4fc964ff" && c.sub == c.uuid)
        await users.database.close()
    }

    @Test(
        "An import line is refused if its user_id or sub is another user's or could become so, or is invalid",
        arguments: Backend.available)
    func notKept(_ backend: Backend) async throws {
        let users = try Self.users(try await backend.open())
        let taken = [
            #"{"email": "a@example.com", "user_id": 7, "sub": "s"}"#,
            #"{"email": "b@example.com", "user_id": 7}"#,
            #"{"email": "c@example.com", "sub": "s"}"#,
            #"{"email": "a@example.com", "user_id": 8}"#,
        ]
        for isRehearsal in [true, false, true] {
            let (totals, rejections) = try await Self.run(
                taken.joined(separator: "\n"), into: users, isRehearsal: isRehearsal)
            #expect(totals.imported + totals.skippedExisting == 2 && totals.rejected == 2)
            #expect(rejections == ["line 2: user_id: another user has it", "line 3: sub: another user has it"])
        }
        let number = "user_id: must be a whole number above 0 and below 2^53"
        let refused: [(members: String, reason: String)] = [
            (#""user_id": 0"#, number), (#""user_id": -1"#, number), (#""user_id": "007""#, number),
            (#""user_id": 9007199254740992"#, number), (#""user_id": 1.5"#, number), (#""user_id": true"#, number),
            (#""sub": "4711""#, "sub: must be no number, unless it is the user_id"),
            (#""sub": "4711", "user_id": 4712"#, "sub: must be no number, unless it is the user_id"),
            (
                #""sub": "\#(UserUUID(UserID(7)))""#, "sub: must be no number, unless it is the user_id"
            ),
            (#""sub": "a b""#, "sub: must be at most 255 printable ASCII characters without spaces"),
            (#""sub": "é""#, "sub: must be at most 255 printable ASCII characters without spaces"),
            (#""created": "2010-05-05""#, "created: must be unix seconds in the past"),
            (#""created": 99999999999"#, "created: must be unix seconds in the past"),
            (#""identities": {}"#, "identities: must be at most 20 objects of issuer_id and subject"),
            (#""identities": [{"issuer_id": "x"}]"#, "identities: must be at most 20 objects of issuer_id and subject"),
            (
                #""consents": [{"client_id": "x", "more": 1}]"#,
                "consents: must be at most 100 objects of client_id, and perhaps scope and created"
            ),
            (#""identities": [{"issuer_id": "x", "subject": "y"}]"#, "identities: must name an existing one"),
            (#""consents": [{"client_id": "x"}]"#, "consents: must name an existing one"),
        ]
        for (members, reason) in refused {
            let line = #"{"email": "x@example.com", \#(members)}"#
            #expect(try await Self.run(line, into: users).rejections == ["line 1: \(reason)"], "\(members)")
        }
        await users.database.close()
    }

    /// Published hashes and their passwords.
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
        // The hash of "cafe" with a combining accent: of a system that hashed bytes as they were typed.
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
            let (totals, _) = try await Self.run(
                file.joined(separator: "\n"), into: try Self.users(database))
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
                // A hash that is already more expensive than ours stays unchanged.
                let isStronger = person.hash.hasPrefix("$argon2id$v=19$")
                #expect(isStronger ? upgraded == person.hash : upgraded.hasPrefix("$argon2id$v=19$m=8,t=1,p=1$"))
                // Again, with the hash that is stored now; it is not upgraded a second time.
                #expect(try await world.signIn(as: email, password: person.password).status == 200)
                #expect(try await world.signIn(as: email, password: person.password + "!").error == "invalid_grant")
                #expect(try await hash() == upgraded, "\(person.scheme)")
            }
            // A hash of our kind matches however the password is typed.
            #expect(try await world.signIn(as: "decomposed@example.com", password: "caf\u{E9}").status == 200)
        }
    }

    @Test("Concurrent first sign-ins of an imported user all succeed", arguments: Backend.available)
    func atOnce(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            let (hash, password) = (Self.people[0].hash, Self.people[0].password)
            _ = try await Self.run(
                #"{"email": "bea@example.com", "password_hash": "\#(hash)"}"#,
                into: try Self.users(world.server.database))
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 1...4 {
                    group.addTask { try await world.signIn(as: "bea@example.com", password: password).status }
                }
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    @Test("A disabled imported user, and one without a password, cannot sign in", arguments: Backend.available)
    func cannotSignIn(_ backend: Backend) async throws {
        try await World.with(backend) { world in
            _ = try await Self.run(
                """
                {"email": "off@example.com", "disabled": true, "password_hash": "\(Self.people[0].hash)"}
                {"email": "none@example.com"}
                """, into: try Self.users(world.server.database))
            for email in ["off@example.com", "none@example.com"] {
                let refused = try await world.signIn(as: email, password: Self.people[0].password)
                #expect(refused.error == "invalid_grant", "\(email)")
            }
        }
    }
}
