import Authentication
import Cryptography
import Directory
import OAuth
import Storage
import TestSupport
import Testing
import Values

@Suite("Lists of the users of several clients")
struct ManyUsersTests {
    /// Seven users, a second apart: the odd ones at the phone, the first four at the backend.
    private func fill(_ world: TokenFixture) async throws -> [UserID] {
        var users: [UserID] = []
        for number in 1...7 {
            let user = UserID(Int64(1_000_000 + number))
            let email = EmailAddress("list\(number)@example.com")
            world.clock.advance(by: .seconds(1))
            let now = world.clock.now
            try await world.database.write { db in
                try Users.insertLinked(user, email: email, profile: [], at: now, in: db)
                if number % 2 == 1 { try Connections.connect(user, to: world.phone.id, at: now, in: db) }
                if number <= 4 { try Connections.connect(user, to: world.backend.id, at: now, in: db) }
            }
            users.append(user)
        }
        return users
    }

    private func administered(_ world: TokenFixture) -> Users {
        Users(
            database: world.database,
            hashing: HashingPool(
                parameters: PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1), random: SystemRandom()),
            clock: world.clock, random: SystemRandom(), events: .unheard)
    }

    @Test(
        "The users of a merchant's clients are listed once each, in the order of their ids, page by page",
        arguments: Backend.available)
    func pages(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let users = try await fill(world)
        let connected = [users[0], users[1], users[2], users[3], users[4], users[6]]
        let people = ConnectedUsers(database: world.database)
        let wide = ClientScope(client: world.phone.id, merchant: world.merchant, isWide: true)
        let administered = administered(world)
        var (found, listed): ([UserID], [UserID]) = ([], [])
        for offset in stride(from: 0, to: 8, by: 2) {
            var query = UserQuery()
            (query.part.offset, query.part.limit) = (offset, 2)
            found += try await people.list(query, for: wide).map(\.user.id)
            listed += try await administered.list(
                connectedTo: world.merchant, after: listed.last?.number ?? 0, count: 2
            ).map(\.id)
        }
        #expect(found == connected)
        #expect(listed == connected)
        #expect(try await administered.list(connectedTo: Merchant.ID("nobody"), after: 0, count: 2).isEmpty)
        await world.database.close()
    }

    @Test(
        "The platform's list of a merchant's users includes third parties' users, the merchant's own does not",
        arguments: Backend.available)
    func thirdParty(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let users = try await fill(world)
        let phone = world.phone.id
        try await world.database.write { db in
            try db.execute("UPDATE clients SET first_party = 0 WHERE id = \(phone)")
        }
        let administered = administered(world)
        let all = try await administered.list(connectedTo: world.merchant, after: 0, count: 10)
        #expect(all.map(\.id) == [users[0], users[1], users[2], users[3], users[4], users[6]])
        let own = try await administered.list(connectedTo: world.merchant, ofOwnClients: true, after: 0, count: 10)
        #expect(own.map(\.id) == Array(users[0...3]))
        await world.database.close()
    }

    @Test(
        "A search by id, address, address prefix or time finds only users of the client that asks",
        arguments: Backend.available)
    func searches(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let users = try await fill(world)
        let people = ConnectedUsers(database: world.database)
        let narrow = ClientScope(client: world.phone.id, merchant: world.merchant, isWide: false)
        func search(_ key: UserQuery.Key?, since: Timestamp? = nil) async throws -> [UserID] {
            var query = UserQuery()
            query.key = key
            query.span = TimeSpan(since: since)
            return try await people.list(query, for: narrow).map(\.user.id)
        }
        let third = try #require(EmailAddress("list3@example.com"))
        let second = try #require(EmailAddress("list2@example.com"))
        let odd = [users[0], users[2], users[4], users[6]]
        #expect(try await search(.user(users[2])) == [users[2]])
        #expect(try await search(.user(users[1])) == [])
        #expect(try await search(.email(third)) == [users[2]])
        #expect(try await search(.email(second)) == [])
        for start in ["l", "li", "lis", "list"] { #expect(try await search(.emailPrefix(start)) == odd) }
        #expect(try await search(.emailPrefix("list5")) == [users[4]])
        for start in ["x", "lix", "list9"] { #expect(try await search(.emailPrefix(start)) == []) }
        #expect(try await search(nil, since: world.clock.now - .seconds(2)) == [users[4], users[6]])
        #expect(try await search(.emailPrefix("list7"), since: world.clock.now - .seconds(2)) == [users[6]])
        await world.database.close()
    }

    @Test(
        "A list of users over a time span is read in slices, and refused if it has to read too many users",
        arguments: Backend.available)
    func spans(backend: Backend) async throws {
        let world = try await TokenFixture(try await backend.open())
        let users = try await fill(world)
        let narrow = ClientScope(client: world.phone.id, merchant: world.merchant, isWide: false)
        func list(_ mostRead: Int, offset: Int = 0, limit: Int = 9, changes: Bool = false) async throws -> [UserID] {
            var query = UserQuery()
            query.span = TimeSpan(since: world.clock.now - .seconds(6), until: world.clock.now)
            query.spansChanges = changes
            (query.part.offset, query.part.limit) = (offset, limit)
            return try await ConnectedUsers(database: world.database, few: 2, mostRead: mostRead)
                .list(query, for: narrow).map(\.user.id)
        }
        for changes in [false, true] {
            #expect(try await list(100, changes: changes) == [users[0], users[2], users[4], users[6]])
            #expect(try await list(100, offset: 1, limit: 2, changes: changes) == [users[2], users[4]])
            await #expect(throws: ConnectedUsers.TooMany.self) { try await list(6, changes: changes) }
            #expect(try await list(6, limit: 2, changes: changes) == [users[0], users[2]])
        }
        await world.database.close()
    }
}
