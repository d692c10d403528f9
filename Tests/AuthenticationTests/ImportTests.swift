import Cryptography
import JSON
import Storage
import TestSupport
import Testing
import Values

@testable import Directory
@testable import Authentication

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

    @Test("an import line becomes a user with the values of that line and no others", arguments: Backend.available)
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

    @Test("a refused import line is reported by number and reason, without its content, and stops no other line")
    func refused() async throws {
        let users = try Self.users(try await Backend.sqlite.open())
        let refused: [(line: String, reason: String)] = [
            ("sEcret", "not valid JSON at byte 0"),
            (#"{"email": "sEcret@example.com", "name": "sEcret""#, "not valid JSON at byte 48"),
            (#"["sEcret@example.com"]"#, "must be a JSON object"),
            (#"{"email": "a@example.com", "sEcret": 1, "sEcret": 2}"#, "a member occurs twice"),
            (#"{"email": "a@example.com", "$2b$sEcret": true}"#, "member 2 is none that an import takes"),
            (#"{"email": "a@example.com", "emailVerified": "sEcret"}"#, "emailVerified: is none that an import takes"),
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

    @Test("a second run, or a second line with the same address, imports no duplicate", arguments: Backend.available)
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

    @Test("an import transaction that ran twice counts its own rows as stored", arguments: Backend.available)
    func twice(_ backend: Backend) async throws {
        let database = try await backend.open()
        let user = try ImportedUser(
            line: Array(#"{"email": "kari@example.com"}"#.utf8), random: SystemRandom())
        let stranger = try ImportedUser(
            line: Array(#"{"email": "Kari@example.com"}"#.utf8), random: SystemRandom())
        @Sendable func stored(_ user: ImportedUser) -> (user: User, passwordHash: String?) {
            (user.user(at: Timestamp(milliseconds: 1)), nil)
        }
        for _ in 1...2 {
            #expect(try await database.write { db in try User.insert([stored(user)], in: db) } == 1)
            #expect(try await database.write { db in try User.insert([stored(stranger)], in: db) } == 0)
        }
        await database.close()
    }
}
