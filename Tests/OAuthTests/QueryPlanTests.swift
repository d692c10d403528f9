import Cryptography
import Identity
import JOSE
import OAuth
import Storage
import Synchronization
import TestSupport
import Testing
import Values

/// What SQLite says it will do: a table that is read as a whole is quick today and an outage in a year.
@Suite("The statements of every day find their rows by an index")
struct QueryPlanTests {
    @Test("tokens, codes, sessions and what ends them")
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
        let revocation = Revocation(database: database, clients: world.authenticator, clock: world.clock)
        try await revocation.revoke(parameters, from: world.phone)
        try await revocation.revoke(
            try Parameters([(name: "token", value: kept.refreshToken?.value ?? "")]), from: world.backend)
        let permissions = Permissions(database: database)
        try await permissions.logOut(try #require(token.permission), at: world.clock.now)
        try await permissions.disconnect(world.account, from: world.merchant, at: world.clock.now)
        #expect(try await !permissions.isConnected(world.account, to: world.merchant))
        database.expectIndexes(atLeast: 40)
        await database.close()
    }

    @Test("what sweeps, and what empties a client or merchant")
    func sweeping() async throws {
        let database = Explained(base: try await Backend.sqlite.open())
        let world = try await TokenFixture(database)
        database.forget()
        let sweep = await Retention(database: database).sweep(at: world.clock.now)
        #expect(sweep.failures.isEmpty)
        let clearance = Clearance(database: database)
        try await clearance.clear(world.phone.id, at: world.clock.now)
        try await clearance.clear(world.merchant, at: world.clock.now)
        database.expectIndexes(atLeast: Retention.Rule.allCases.count + 10)
        await database.close()
    }

    @Test("a client's own token, and a refresh that changes nothing, cost one written row each")
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
        let exchange = SessionExchange(database: world.database, clock: world.clock)
        let secret = Secret<Session>.random(from: SystemRandom())
        let opening = Session.Opening(
            id: .random(from: SystemRandom()), secret: secret, userAgent: "", address: "192.0.2.1")
        let now = world.clock.now
        _ = try await exchange.look(at: Secret(code))
        _ = try await exchange.spend(Secret(code), attempt: opening.id.text, at: now) { entitlement, db in
            try Sessions.open(
                opening, account: entitlement.subject.account, signedInAt: now, permission: entitlement.permission.text,
                replacing: nil, at: now, in: db)
        }
        let sessions = Sessions(database: world.database, clock: world.clock)
        world.clock.advance(by: .seconds(90))
        let found = try #require(try await sessions.find(secret))
        try await sessions.end(found.id)
    }

    private func signIn(_ world: TokenFixture, refused: Int) async throws {
        let hashing = try HashingPool(
            parameters: PasswordHashParameters(memoryKiB: 8, iterations: 1, parallelism: 1), random: SystemRandom())
        let accounts = Accounts(
            database: world.database, hashing: hashing, clock: world.clock, random: SystemRandom(),
            endAccess: Permissions.endAll)
        let signIn = SignIn(database: world.database, hashing: hashing, clock: world.clock, random: SystemRandom())
        let changes = try AccountChanges(["email": "ada@example.com", "password": "correct horse battery"])
        let account = try await accounts.create(changes) { _, _, _ in }
        let proof = try await signIn.check(
            username: "ada@example.com", password: "correct horse battery", address: "192.0.2.1")
        #expect(proof.account == account.id)
        #expect(try await world.database.read { db in try proof.holds(in: db) })
        await #expect(throws: SignIn.Refusal.self) {
            _ = try await signIn.check(username: "ada@example.com", password: "a guess", address: "192.0.2.1")
        }
    }
}

/// A SQLite database that asks for the plan of every statement before it runs it.
private final class Explained: Database {
    struct Statement: Sendable {
        let text: String
        let plan: [String]
        let isWrite: Bool
    }

    private let base: any Database
    private let statements = Mutex<[Statement]>([])

    init(base: any Database) { self.base = base }

    /// The INSERTs, UPDATEs and DELETEs.
    var writes: [String] { statements.withLock { $0.filter(\.isWrite).map(\.text) } }

    func forget() { statements.withLock { $0 = [] } }

    func expectIndexes(atLeast count: Int) {
        let statements = statements.withLock(\.self)
        #expect(statements.count >= count)
        for statement in statements {
            for step in statement.plan {
                // A family of permissions is gathered row by row, then read: that is no table.
                guard step != "SCAN family", step != "SCAN f" else { continue }
                #expect(!step.hasPrefix("SCAN"), "\(step): \(statement.text)")
                #expect(!step.contains("TEMP B-TREE"), "\(step): \(statement.text)")
            }
        }
    }

    func read<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value {
        try await base.read { [self] db in try work(Explaining(base: db, owner: self)) }
    }

    func write<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value {
        try await base.write { [self] db in try work(Explaining(base: db, owner: self)) }
    }

    func close() async { await base.close() }

    private struct Explaining: Transaction {
        let base: any Transaction
        let owner: Explained

        func rows(_ sql: SQL) throws -> [Row] {
            try note(sql, isWrite: false)
            return try base.rows(sql)
        }

        func execute(_ sql: SQL) throws -> Int {
            try note(sql, isWrite: true)
            return try base.execute(sql)
        }

        private func note(_ sql: SQL, isWrite: Bool) throws {
            let plan = try base.rows(explanation(of: sql)).map { try $0.get("detail", as: String.self) }
            owner.statements.withLock { $0.append(Statement(text: sql.text, plan: plan, isWrite: isWrite)) }
        }

        private func explanation(of sql: SQL) -> SQL {
            var text = SQL.StringInterpolation(literalCapacity: 0, interpolationCount: sql.bindings.count)
            text.appendLiteral("EXPLAIN QUERY PLAN ")
            var rest = sql.text[...]
            for (number, binding) in zip(1..., sql.bindings) {
                guard let place = rest.firstRange(of: "$\(number)") else { break }
                text.appendLiteral(String(rest[..<place.lowerBound]))
                switch binding {
                case .null: text.appendInterpolation(String?.none)
                case .integer(let number): text.appendInterpolation(number)
                case .text(let value): text.appendInterpolation(value)
                }
                rest = rest[place.upperBound...]
            }
            text.appendLiteral(String(rest))
            return SQL(stringInterpolation: text)
        }
    }
}
