import Audit
import Authentication
import Cryptography
import Directory
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Sign-in attempts are recorded with their client and merchant")
struct LoginsTests {
    /// A database with one user and one client that the user has used.
    private struct Fixture: Sendable {
        let database: any Database
        let clock = ManualClock()
        let user: UserID
        let circle = ClientScope(client: "loom", merchant: nil, isWide: false)

        init(_ backend: Backend) async throws {
            let (database, clock) = (try await backend.open(), clock)
            self.database = database
            let hashing = HashingPool(
                parameters: PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1),
                random: SystemRandom())
            let users = Users(
                database: database, hashing: hashing, clock: clock, random: SystemRandom(),
                events: .unheard)
            let ada = try await users.create(
                try UserChanges(["email": "ada@example.com", "password": "correct horse battery"]), by: commandLine)
            user = ada.id
            try await database.write { db in
                let now = ada.createdAt
                try db.execute(
                    """
                    INSERT INTO clients (id, name, redirect_uris, grant_types, scope, authentication_method,
                        custody, first_party, spid_compatible, requires_pkce, rotates_refresh_tokens,
                        refresh_repeat_window, access_token_lifetime, refresh_token_lifetime, sealed_sign_secret,
                        created_at, updated_at)
                    VALUES ('loom', 'Loom', '', '', '', 'none', 'none', 1, 1, 1, 0, 0, 1, 1, '', \(now), \(now))
                    """)
                try db.execute(
                    "INSERT INTO connections (user_id, client_id, created_at) VALUES (\(ada.id), 'loom', \(now))")
            }
        }

        func attempt(_ id: String) -> Login.Attempt {
            Login.Attempt(
                id: Login.ID(id), client: "loom", kind: .normal, address: "192.0.2.1", userAgent: "a\nb")
        }

        func list() async throws -> [Login] { try await Logins(database: database).list(Logins.Query(), for: circle) }

        func signIn(_ hashing: HashingPool) -> PasswordSignIn {
            PasswordSignIn(
                database: database, hashing: hashing, clock: clock, random: SystemRandom(),
                audit: AuditLog(database: database, clock: clock, random: SystemRandom()))
        }
    }

    @Test("The newest thousand of a user's sign-in attempts are kept", arguments: Backend.available)
    func endless(_ backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        for number in 1...1100 {
            fixture.clock.advance(by: .seconds(1))
            let (id, now) = (number < 1100 ? "\(number)x" : "ff00", fixture.clock.now)
            try await fixture.database.write { [fixture] db in
                try Logins.record(fixture.attempt(id), of: fixture.user, succeeded: true, at: now, in: db)
            }
        }
        let ids = try await fixture.database.read { db in
            try db.rows("SELECT id FROM logins ORDER BY created_at").map { try $0.get("id", as: String.self) }
        }
        #expect(ids.count == 1000)
        #expect(ids.first == "101x" && ids.last == "ff00")
    }

    @Test(
        "Many sign-in attempts at one client do not displace the records of a user's attempts at others",
        arguments: Backend.available)
    func pushedOut(_ backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        func record(_ id: String, of client: String?) async throws {
            fixture.clock.advance(by: .seconds(1))
            let now = fixture.clock.now
            let attempt = Login.Attempt(
                id: Login.ID(id), client: client.map { Client.ID($0) }, kind: .thirdParty, provider: nil,
                address: "192.0.2.1", userAgent: "ab")
            try await fixture.database.write { [user = fixture.user] db in
                try Logins.record(attempt, of: user, succeeded: true, at: now, in: db)
            }
        }
        for number in 1...20 { try await record("other\(number)x", of: number % 2 == 0 ? "other" : nil) }
        for number in 1...1500 { try await record(number % 500 == 0 ? "\(number)ff00" : "\(number)x", of: "loud") }
        let rows = try await fixture.database.rows("SELECT client_id FROM logins")
        #expect(rows.count == 1000)
        #expect(try rows.count { try $0.get("client_id", as: String?.self) != "loud" } == 20)
        await fixture.database.close()
    }

    @Test(
        "A sign-in attempt recorded twice is one row, and a deleted user's is not recorded",
        arguments: Backend.available)
    func twice(_ backend: Backend) async throws {
        let house = try await Fixture(backend)
        for user in [house.user, house.user, UserID(12345)] {
            try await house.database.write { db in
                try Logins.record(
                    house.attempt("one"), of: user, succeeded: true, at: house.clock.now, in: db)
            }
        }
        let found = try await house.list()
        #expect(found.count == 1 && found.first?.userAgent == "ab")
        try await house.database.write { db in
            _ = try db.execute("DELETE FROM users WHERE id = \(house.user)")
        }
        let left: Int = try await house.database.read { db in try db.rows("SELECT id FROM logins").count }
        #expect(left == 0, "they go with the account")
        await house.database.close()
    }

    @Test(
        "A sign-in attempt is recorded as succeeded or failed; a mere confirmation of the password is not",
        arguments: Backend.available)
    func outcome(_ backend: Backend) async throws {
        let house = try await Fixture(backend)
        let hashing = HashingPool(
            parameters: PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1), random: SystemRandom())
        let signIn = house.signIn(hashing)
        await #expect(throws: PasswordSignIn.Refusal.self) {
            _ = try await signIn.check(
                username: "ada@example.com", password: "a guess", address: "192.0.2.1", login: house.attempt("1"))
        }
        await #expect(throws: PasswordSignIn.Refusal.self) {
            _ = try await signIn.check(
                username: "ada@example.com", password: String(repeating: "x", count: 9000), address: "192.0.2.1",
                login: house.attempt("2"))
        }
        _ = try await signIn.check(
            username: "ada@example.com", password: "correct horse battery", address: "192.0.2.1",
            login: house.attempt("3"))
        #expect(try await house.list().map(\.succeeded) == [true, false, false])
        _ = try await signIn.check(
            username: "ada@example.com", password: "correct horse battery", address: "192.0.2.1")
        #expect(try await house.list().count == 3, "what confirms something is no login")
        await house.database.close()
    }
}
