import Audit
import Authentication
import Cryptography
import Directory
import Federation
import JSON
import Server
import Storage
import TestSupport
import Testing
import Values

@testable import OAuth

/// SQLite's query plans: a table that is read as a whole is quick today and an outage in a year.
@Suite("The common statements find their rows by an index")
struct QueryPlanTests {
    @Test("Statements about tokens, codes, sessions and their ends find their rows by an index")
    func everyday() async throws {
        let database = Explained(base: try await Backend.sqlite.open())
        let world = try await TokenFixture(database)
        database.forget()

        let phone = try await world.signIn()
        let token = try await world.accessTokens.present(phone.accessToken)
        let code = try await exchange(world, token, "code", for: world.backend)
        let own = try await world.token(
            ["grant_type": "authorization_code", "code": code, "redirect_uri": "https://loom.example/back"],
            as: world.backend)
        world.clock.advance(by: .days(20))
        let kept = try await world.refresh(own, as: world.backend)
        let rotated = try await world.refresh(phone)
        _ = try await world.refresh(phone)
        let confirmed = try await world.refresh(rotated)
        let introspection = Introspection(clients: world.authenticator, tokens: world.accessTokens)
        let parameters = try Parameters([(name: "token", value: confirmed.accessToken.value)])
        #expect(try await introspection.token(parameters, from: world.backend) != nil)

        let fresh = try await world.accessTokens.present(confirmed.accessToken)
        let sessionCode = try await exchange(world, fresh, "session", for: world.phone)
        try await session(world, sessionCode)
        try await signIn(world, refused: 1)
        let revocation = Revocation(
            database: database, clients: world.authenticator, callbacks: .unheard, seal: world.seal, clock: world.clock)
        try await revocation.revoke(parameters, from: world.phone)
        try await revocation.revoke(
            try Parameters([(name: "token", value: kept.refreshToken?.value ?? "")]), from: world.backend)
        let families = TokenFamilies(database: database, callbacks: .unheard, events: .unheard)
        try await families.logOut(try #require(token.family), at: world.clock.now)
        try await families.disconnect(world.user, from: world.merchant, at: world.clock.now, by: commandLine)
        #expect(try await !families.isConnected(world.user, to: world.merchant))
        database.expectIndexes(atLeast: 40)
        // By the user's families it would read thousands of rows, for each of thousands.
        database.expect("WITH r (low, high)", uses: "token_families_by_path")
        await database.close()
    }

    @Test("The account page's reads and changes, and a user's deletion, use an index")
    func user() async throws {
        let database = Explained(base: try await Backend.sqlite.open())
        let world = try await TokenFixture(database)
        try await world.signIn()
        let secret = Secret<Session>.random(from: SystemRandom())
        let opening = Session.Opening(
            id: .random(from: SystemRandom()), secret: secret, userAgent: "", address: "192.0.2.1", method: .mail)
        let opened = UserEvents.unheard.announcement(at: world.clock.now)
        try await database.write { db in
            try Sessions.open(
                opening, user: world.user, replacing: nil, at: world.clock.now, in: db, opened)
        }
        let sessions = Sessions(database: database, clock: world.clock, events: .unheard)
        let session = try #require(try await sessions.find(secret))
        database.forget()

        let list = SessionList(database: database, clock: world.clock, events: .unheard)
        #expect(try await list.items(of: world.user).count == 1)
        try await list.end(.random(from: SystemRandom()), of: world.user)
        #expect(try await list.endOthers(than: session, renewing: Secret("another")))
        let (user, now) = (world.user, world.clock.now)
        for cause in [UserEvent.sessionsEnd(["another"]), .allSessionsEnd(except: session.id)] {
            try await database.write { db in
                try Ending.carryOut(cause, of: user, telling: nil, at: now, in: db)
            }
        }
        let data = PersonalData(database: database, clock: world.clock, tables: StoredTable.all)
        #expect(try await data.document(of: world.user) != nil)
        let deletion = UserDeletion(
            database: database, grace: .days(14),
            erasure: BulkErasure(database: database), clock: world.clock, events: .unheard)
        let renewed = try #require(try await sessions.find(Secret("another")))
        let outcome = try await deletion.request(by: renewed, proof: nil) { _ in }
        #expect(outcome == .scheduled(world.clock.now + .days(14)))
        #expect(try await deletion.deleteDue(at: world.clock.now + .days(14)).gone == 1)
        database.expectIndexes(atLeast: 20)
        await database.close()
    }

    @Test("The lists of users and logins in SPiD's API find their rows by an index")
    func people() async throws {
        let database = Explained(base: try await Backend.sqlite.open())
        let world = try await TokenFixture(database)
        try await world.signIn()
        let people = ConnectedUsers(database: database)
        let circle = ClientScope(client: world.phone.id, merchant: world.merchant, isWide: false)
        database.forget()
        var query = UserQuery()
        let email = try #require(EmailAddress("ada@example.com"))
        _ = try await database.read { db in try Users.find(email, in: db) }
        database.expect("FROM users WHERE email = ", uses: "(email=?)")
        for key: UserQuery.Key? in [nil, .user(world.user), .email(email), .emailPrefix("a")] {
            query.key = key
            _ = try await people.list(query, for: circle)
        }
        let merchant = ClientScope(client: world.phone.id, merchant: world.merchant, isWide: true)
        query.key = nil
        _ = try await people.list(query, for: merchant)
        // A client with more users than a sort may take.
        query.span = TimeSpan(since: world.clock.now - .days(1))
        for changes in [false, true] {
            query.spansChanges = changes
            _ = try await ConnectedUsers(database: database, few: 0, mostRead: 9).list(query, for: merchant)
        }
        query.span = TimeSpan()
        _ = try await Logins(database: database).list(Logins.Query(), for: merchant)
        #expect(try await people.find(world.user, for: circle) != nil)
        var tries = Logins.Query()
        for user in [nil, world.user] {
            tries.user = user
            #expect(try await Logins(database: database).list(tries, for: circle).isEmpty)
        }
        database.expectIndexes(atLeast: 8)
        await database.close()
    }

    @Test("A client's failed logins are found by an index of failed ones")
    func failedLogins() async throws {
        let database = Explained(base: try await Backend.sqlite.open())
        let world = try await TokenFixture(database)
        database.forget()
        var failed = Logins.Query()
        failed.succeeded = false
        for isWide in [false, true] {
            let scope = ClientScope(client: world.phone.id, merchant: world.merchant, isWide: isWide)
            #expect(try await Logins(database: database).list(failed, for: scope).isEmpty)
        }
        database.expect("l.succeeded = 0", uses: "logins_failed")
        database.expectIndexes(atLeast: 3)
        await database.close()
    }

    @Test("Sweeps, and the deletion of a client or merchant, use an index")
    func sweeping() async throws {
        let database = Explained(base: try await Backend.sqlite.open())
        let world = try await TokenFixture(database)
        database.forget()
        let sweep = await Retention(database: database).sweep(at: world.clock.now)
        #expect(sweep.failures.isEmpty)
        database.expect("w.path > f.path", uses: "token_families_by_path")
        database.expect("w.path > f.path", uses: "token_families_by_expiry")
        let erasure = BulkErasure(database: database)
        var budget = BulkErasure.Budget.unlimited
        #expect(try await erasure.client(world.phone.id, &budget) { _ in true })
        #expect(try await erasure.merchant(world.merchant, &budget) { _ in true })
        database.expectIndexes(atLeast: Retention(database: database).rules.count + 6)
        await database.close()
    }

    @Test("A sweep reads only rows that it deletes: an index covers each of its conditions")
    func sweepsOnly() async throws {
        let database = Explained(base: try await Backend.sqlite.open())
        let retention = Retention(database: database)
        // Its other condition holds for every row, except those of a clock that was ahead.
        let rules = Set(retention.rules.map(\.name)).subtracting([
            "interactionsInAll", "signedInInteractionsInAll", "goneIssuers",
        ])
        #expect(await retention.sweep(only: rules, at: ManualClock().now).failures.isEmpty)
        try database.expectNoFilters(atLeast: rules.count)
        await database.close()
    }

    @Test("A client_credentials token, and a refresh that does not rotate, take one write statement each")
    func hotPath() async throws {
        let database = Explained(base: try await Backend.sqlite.open())
        let world = try await TokenFixture(database)
        let answer = try await world.signIn(on: world.backend)
        world.clock.advance(by: .hours(1))
        database.forget()
        _ = try await world.token(["grant_type": "client_credentials"], as: world.backend)
        #expect(database.writes.count == 1, "\(database.writes)")
        database.forget()
        _ = try await world.refresh(answer, as: world.backend)
        #expect(database.writes.count == 1, "\(database.writes)")
        await database.close()
    }

    private func exchange(
        _ world: TokenFixture, _ token: AccessToken, _ type: String, for receiver: ClientCredentials
    ) async throws -> String {
        let request = try ExchangeRequest(
            try Parameters([
                (name: "clientId", value: receiver.id.text), (name: "type", value: type),
                (name: "redirectUri", value: "https://loom.example/back"),
            ]))
        return try await world.exchangeCodes.issue(request, for: token).code.value
    }

    private func session(_ world: TokenFixture, _ code: String) async throws {
        let exchange = SessionExchange(
            database: world.database, accounts: SessionCodeAddresses(origin: "https://spindle.test"), clock: world.clock
        )
        let secret = Secret<Session>.random(from: SystemRandom())
        let (id, now) = (Session.ID.random(from: SystemRandom()), world.clock.now)
        _ = try await exchange.look(at: Secret(code))
        let announcement = UserEvents.unheard.announcement(at: now)
        _ = try await exchange.spend(Secret(code), attempt: id.text, at: now) { entitlement, db in
            try Sessions.open(
                Session.Opening(
                    id: id, secret: secret, userAgent: "", address: "192.0.2.1", for: entitlement.client,
                    boughtBy: entitlement.purchase),
                user: entitlement.user, replacing: nil, at: now, in: db, announcement)
        }
        let sessions = Sessions(database: world.database, clock: world.clock, events: .unheard)
        world.clock.advance(by: .seconds(90))
        let found = try #require(try await sessions.find(secret))
        try await sessions.end(found.id)
    }

    private func signIn(_ world: TokenFixture, refused: Int) async throws {
        let hashing = HashingPool(
            parameters: PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1), random: SystemRandom())
        let users = Users(
            database: world.database, hashing: hashing, clock: world.clock, random: SystemRandom(),
            events: .unheard)
        let signIn = PasswordSignIn(
            database: world.database, hashing: hashing, clock: world.clock, random: SystemRandom(),
            audit: AuditLog(database: world.database, clock: world.clock, random: SystemRandom()))
        let changes = try UserChanges(["email": "ada@example.com", "password": "correct horse battery"])
        let user = try await users.create(changes, by: commandLine)
        let proof = try await signIn.check(
            username: "ada@example.com", password: "correct horse battery", address: "192.0.2.1")
        #expect(proof.user == user.id)
        #expect(try await world.database.read { db in try proof.holds(in: db) })
        await #expect(throws: PasswordSignIn.Refusal.self) {
            _ = try await signIn.check(username: "ada@example.com", password: "a guess", address: "192.0.2.1")
        }
    }
}
