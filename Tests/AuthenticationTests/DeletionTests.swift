import Authentication
import Cryptography
import Directory
import JSON
import Storage
import TestSupport
import Testing
import Values

@Suite("Deletion of users that are due")
struct DeletionTests {
    /// A database with users, whose deletion announcements leave a row in their transaction.
    private struct Fixture: Sendable {
        let database: any Database
        let clock = ManualClock()
        let users: Users

        init(_ backend: Backend) async throws {
            let database = try await backend.open()
            self.database = database
            users = Users(
                database: database,
                hashing: HashingPool(
                    parameters: PasswordHashCost(memoryKiB: 8, iterations: 1, parallelism: 1),
                    random: SystemRandom()),
                clock: clock, random: SystemRandom(), events: .unheard)
        }

        func deletion(
            on other: (any Database)? = nil,
            farewell: @escaping @Sendable (User, Timestamp, any Transaction) throws -> Void = Self.mark
        ) -> UserDeletion {
            // Stands for a table whose rows are deleted in batches.
            let erased = StoredTable(
                "facts",
                ofUser: .steps { user, _, db in
                    try db.execute(
                        """
                        INSERT INTO facts (name, value) SELECT 'erased ' || email, '' FROM users WHERE id = \(user)
                        ON CONFLICT (name) DO UPDATE SET value = facts.value || '+'
                        """)
                })
            return UserDeletion(
                database: other ?? database, grace: .days(14),
                erasure: BulkErasure(database: other ?? database, tables: [erased]), clock: clock,
                events: UserEvents([Self.subscriber(farewell)], random: SystemRandom()))
        }

        static func subscriber(
            _ farewell: @escaping @Sendable (User, Timestamp, any Transaction) throws -> Void
        ) -> UserEvents.Subscriber {
            UserEvents.Subscriber(
                "Farewell",
                [
                    .on(.deleted, "says farewell") { _, user, announcement, db in
                        try farewell(try #require(try User.find(user, in: db)), announcement.now, db)
                    }
                ])
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
                    try db.rows("SELECT name FROM facts WHERE name >= 'f' ORDER BY name").map { try $0.get("name") }
                }
            }
        }

        func person(_ email: String) async throws -> UserID {
            try await users.create(try UserChanges(["email": .string(email)]), by: commandLine).id
        }

        /// Marks users as a deletion request does.
        func due(_ ids: [UserID], at moment: Timestamp) async throws {
            try await database.write { db in
                for id in ids { try db.execute("UPDATE users SET deletion_due_at = \(moment) WHERE id = \(id)") }
            }
        }
    }

    @Test(
        "Only users whose deletion is due are deleted, each once, however many nodes try", arguments: Backend.available)
    func once(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        var ids: [UserID] = []
        for number in 1...6 { ids.append(try await fixture.person("p\(number)@example.com")) }
        try await fixture.due(Array(ids.prefix(4)), at: fixture.clock.now)
        try await fixture.due([ids[4]], at: fixture.clock.now + .milliseconds(1))
        let now = fixture.clock.now
        let gone = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...6 { group.addTask { try await fixture.deletion().deleteDue(at: now).gone } }
            return try await group.reduce(0, +)
        }
        #expect(gone == 4)
        #expect(try await fixture.farewells == (1...4).map { "farewell to p\($0)@example.com" })
        #expect(try await fixture.users.find(ids[4]) != nil)
        #expect(try await fixture.users.find(ids[5]) != nil)
        await fixture.database.close()
    }

    @Test("Users are deleted in batches, and each batch reports whether more remain", arguments: Backend.available)
    func batches(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        var ids: [UserID] = []
        for number in 1...5 { ids.append(try await fixture.person("p\(number)@example.com")) }
        try await fixture.due(ids, at: fixture.clock.now)
        var rounds: [Int] = []
        while true {
            let round = try await fixture.deletion().deleteDue(at: fixture.clock.now, batch: 2)
            rounds.append(round.gone)
            guard round.isBehind else { break }
        }
        #expect(rounds == [2, 2, 1])
        await fixture.database.close()
    }

    @Test(
        "A user whose deletion cannot be announced is not deleted, and delays no other deletion",
        arguments: Backend.available)
    func failing(backend: Backend) async throws {
        struct Unwilling: Error {}
        let fixture = try await Fixture(backend)
        let stuck = try await fixture.person("stuck@example.com")
        let free = try await fixture.person("free@example.com")
        try await fixture.due([stuck], at: fixture.clock.now - .hours(1))
        try await fixture.due([free], at: fixture.clock.now)
        let deletion = fixture.deletion { user, now, db in
            try Fixture.mark(user, now, db)
            if user.id == stuck { throw Unwilling() }
        }
        let round = try await deletion.deleteDue(at: fixture.clock.now)
        #expect(round.gone == 1)
        #expect(round.failures.map(\.user) == [stuck])
        #expect(try await fixture.users.find(stuck) != nil)
        #expect(try await fixture.farewells == ["farewell to free@example.com"], "what failed left nothing behind")
        #expect(try await fixture.deletion().deleteDue(at: fixture.clock.now).gone == 1)
        #expect(try await fixture.users.find(stuck) == nil)
        await fixture.database.close()
    }

    @Test("A deletion is announced once even if the outcome of its COMMIT is unknown", arguments: Backend.available)
    func twice(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        let id = try await fixture.person("ada@example.com")
        let deletion = fixture.deletion(on: RunsTwice(base: fixture.database))
        #expect(try await deletion.delete(id, by: commandLine))
        #expect(try await fixture.farewells == ["farewell to ada@example.com"])
        #expect(try await deletion.delete(id, by: commandLine) == false)
        await fixture.database.close()
    }

    @Test("A restored user is not deleted by a node that had already selected them", arguments: Backend.available)
    func restored(backend: Backend) async throws {
        let fixture = try await Fixture(backend)
        let id = try await fixture.person("ada@example.com")
        try await fixture.due([id], at: fixture.clock.now)
        let database = fixture.database
        // Runs between the selection of due users and their deletion.
        let restoring = StoredTable(
            "users",
            ofUser: .steps { id, _, db in
                try db.execute(
                    "UPDATE users SET deletion_due_at = NULL WHERE id = \(id) AND deletion_due_at IS NOT NULL")
            })
        let deletion = UserDeletion(
            database: database, grace: .days(14),
            erasure: BulkErasure(database: database, tables: [restoring]), clock: fixture.clock,
            events: UserEvents([Fixture.subscriber(Fixture.mark)], random: SystemRandom()))
        #expect(try await deletion.deleteDue(at: fixture.clock.now).gone == 0)
        #expect(try await fixture.users.find(id) != nil)
        #expect(try await fixture.farewells == [])
        await fixture.database.close()
    }

    @Test(
        "The next round of due deletions finishes a user's deletion that was interrupted",
        arguments: Backend.available)
    func crashed(backend: Backend) async throws {
        struct Crash: Error {}
        let fixture = try await Fixture(backend)
        let id = try await fixture.person("ada@example.com")
        let crashing = fixture.deletion { _, _, _ in throw Crash() }
        await #expect(throws: Crash.self) { _ = try await crashing.delete(id, by: commandLine) }
        #expect(try await fixture.users.find(id)?.deletionDueAt == fixture.clock.now)
        #expect(try await fixture.deletion().deleteDue(at: fixture.clock.now).gone == 1)
        let erased = try await fixture.database.read { db in
            try db.rows("SELECT value FROM facts WHERE name = 'erased ada@example.com'")
                .map { try $0.get("value", as: String.self) }
        }
        #expect(erased == ["+"], "the bulk goes before, in each attempt")
        await fixture.database.close()
    }
}

/// A database whose COMMITs succeed but are never acknowledged, so that each closure runs again.
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
