import Authentication
import Cryptography
import Directory
import JSON
import Storage
import Synchronization
import TestSupport
import Testing
import Values

@Suite("A user is deleted once, when due, and every client that must know is told")
struct DeletionTests {
    /// A database with users, whose deletion announcements leave a row in their transaction.
    private struct Fixture: Sendable {
        let database: any Database
        let clock = ManualClock()
        let users: Users
        let cleared = Cleared()

        init(_ backend: Backend) async throws {
            let database = try await backend.open()
            self.database = database
            users = Users(
                database: database,
                hashing: HashingPool(
                    parameters: PasswordHashParameters(memoryKiB: 8, iterations: 1, parallelism: 1),
                    random: SystemRandom()),
                clock: clock, random: SystemRandom(), endAccess: { _, _, _ in }, news: .unheard)
        }

        func deletion(
            on other: (any Database)? = nil,
            farewell: @escaping @Sendable (User, Timestamp, any Transaction) throws -> Void = Self.mark
        ) -> Deletion {
            Deletion(
                database: other ?? database, grace: .days(14),
                strangers: Deletion.Strangers(
                    endAccess: { _, _, _ in }, clear: { [cleared] id in cleared.add(id) }, farewell: farewell),
                clock: clock, news: .unheard)
        }

        @Sendable static func mark(_ user: User, _ now: Timestamp, _ db: any Transaction) throws {
            try db.execute(
                """
                INSERT INTO facts (name, value) VALUES (\("farewell to \(user.email ?? "")"), \("said"))
                """)
        }

        var farewells: [String] {
            get async throws {
                try await database.read { db in
                    try db.rows("SELECT name FROM facts ORDER BY name").map { try $0.get("name") }
                }
            }
        }

        func person(_ email: String) async throws -> UserID {
            try await users.create(try UserChanges(["email": .string(email)])) { _, _, _ in }.id
        }

        /// Marks users as a deletion request does.
        func due(_ ids: [UserID], at moment: Timestamp) async throws {
            try await database.write { db in
                for id in ids { try db.execute("UPDATE users SET deletion_due_at = \(moment) WHERE id = \(id)") }
            }
        }
    }

    @Test(
        "only users whose deletion is due are deleted, each once, however many nodes ask", arguments: Backend.available)
    func once(backend: Backend) async throws {
        let house = try await Fixture(backend)
        var ids: [UserID] = []
        for number in 1...6 { ids.append(try await house.person("p\(number)@example.com")) }
        try await house.due(Array(ids.prefix(4)), at: house.clock.now)
        try await house.due([ids[4]], at: house.clock.now + .milliseconds(1))
        let now = house.clock.now
        let gone = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...6 { group.addTask { try await house.deletion().deleteDue(at: now).gone } }
            return try await group.reduce(0, +)
        }
        #expect(gone == 4)
        #expect(try await house.farewells == (1...4).map { "farewell to p\($0)@example.com" })
        #expect(try await house.users.find(ids[4]) != nil)
        #expect(try await house.users.find(ids[5]) != nil)
        await house.database.close()
    }

    @Test("deletions run in batches, and each batch reports whether more remain", arguments: Backend.available)
    func batches(backend: Backend) async throws {
        let house = try await Fixture(backend)
        var ids: [UserID] = []
        for number in 1...5 { ids.append(try await house.person("p\(number)@example.com")) }
        try await house.due(ids, at: house.clock.now)
        var rounds: [Int] = []
        while true {
            let round = try await house.deletion().deleteDue(at: house.clock.now, batch: 2)
            rounds.append(round.gone)
            guard round.isBehind else { break }
        }
        #expect(rounds == [2, 2, 1])
        await house.database.close()
    }

    @Test("a user whose deletion cannot be announced stays, and delays no other deletion", arguments: Backend.available)
    func failing(backend: Backend) async throws {
        struct Unwilling: Error {}
        let house = try await Fixture(backend)
        let stuck = try await house.person("stuck@example.com")
        let free = try await house.person("free@example.com")
        try await house.due([stuck], at: house.clock.now - .hours(1))
        try await house.due([free], at: house.clock.now)
        let deletion = house.deletion { user, now, db in
            try Fixture.mark(user, now, db)
            if user.id == stuck { throw Unwilling() }
        }
        let round = try await deletion.deleteDue(at: house.clock.now)
        #expect(round.gone == 1)
        #expect(round.failures.map(\.user) == [stuck])
        #expect(try await house.users.find(stuck) != nil)
        #expect(try await house.farewells == ["farewell to free@example.com"], "what failed left nothing behind")
        #expect(try await house.deletion().deleteDue(at: house.clock.now).gone == 1)
        #expect(try await house.users.find(stuck) == nil)
        await house.database.close()
    }

    @Test("a commit of unknown outcome announces a deletion once", arguments: Backend.available)
    func twice(backend: Backend) async throws {
        let house = try await Fixture(backend)
        let id = try await house.person("ada@example.com")
        let deletion = house.deletion(on: RunsTwice(base: house.database))
        #expect(try await deletion.delete(id))
        #expect(try await house.farewells == ["farewell to ada@example.com"])
        #expect(try await deletion.delete(id) == false)
        await house.database.close()
    }

    @Test("a restored user is not deleted by a node that had already selected them", arguments: Backend.available)
    func restored(backend: Backend) async throws {
        let house = try await Fixture(backend)
        let id = try await house.person("ada@example.com")
        try await house.due([id], at: house.clock.now)
        let database = house.database
        let deletion = Deletion(
            database: database, grace: .days(14),
            strangers: Deletion.Strangers(
                endAccess: { _, _, _ in },
                // Between the look at what is due and the delete.
                clear: { id in
                    try await database.write { db in
                        _ = try db.execute("UPDATE users SET deletion_due_at = NULL WHERE id = \(id)")
                    }
                }, farewell: Fixture.mark), clock: house.clock, news: .unheard)
        #expect(try await deletion.deleteDue(at: house.clock.now).gone == 0)
        #expect(try await house.users.find(id) != nil)
        #expect(try await house.farewells == [])
        await house.database.close()
    }

    @Test("the next round finishes a deletion that was interrupted", arguments: Backend.available)
    func crashed(backend: Backend) async throws {
        struct Crash: Error {}
        let house = try await Fixture(backend)
        let id = try await house.person("ada@example.com")
        let crashing = house.deletion { _, _, _ in throw Crash() }
        await #expect(throws: Crash.self) { _ = try await crashing.delete(id) }
        #expect(try await house.users.find(id)?.deletionDueAt == house.clock.now)
        #expect(try await house.deletion().deleteDue(at: house.clock.now).gone == 1)
        #expect(house.cleared.all == [id, id], "the bulk goes before")
        await house.database.close()
    }
}

/// The users that were deleted.
private final class Cleared: Sendable {
    private let users = Mutex<[UserID]>([])

    var all: [UserID] { users.withLock { $0 } }
    func add(_ user: UserID) { users.withLock { $0.append(user) } }
}

/// A database whose every COMMIT is of unknown outcome: it happened, and the closure runs again.
private struct RunsTwice: Database {
    let base: any Database

    func read<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value {
        try await base.read(work)
    }

    func write<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value {
        _ = try await base.write(work)
        return try await base.write(work)
    }

    func close() async { await base.close() }
}
