import Cryptography
import Directory
import JSON
import Keys
import Storage
import Synchronization
import TestSupport
import Testing
import Values

@testable import OAuth

@Suite("Callbacks are stored once, whatever the outcome of the COMMIT")
struct CallbackAnnouncementTests {
    /// Keeps stored deliveries by their id, as the outbox does, and counts how often sending was triggered.
    private final class PostDouble: Sendable {
        private let left = Mutex<[String: String]>([:])
        private let rounds = Mutex(0)

        var post: Callbacks.Post {
            Callbacks.Post(
                leave: { [self] message, _ in
                    left.withLock { left in left[message.id.text] = left[message.id.text] ?? message.uri }
                },
                leaveNotice: { [self] notice, _, _ in
                    left.withLock { $0[notice.id.text] = notice.client.text }
                }, send: { [self] in rounds.withLock { $0 += 1 } })
        }
        var uris: [String] { left.withLock { $0.values.sorted() } }
        var ids: Set<String> { left.withLock { Set($0.keys) } }
        var sent: Int { rounds.withLock { $0 } }
    }

    private struct Fixture {
        let world: TokenFixture
        let post = PostDouble()
        let callbacks: Callbacks

        init(_ backend: Backend) async throws {
            world = try await TokenFixture(try await backend.open())
            callbacks = Callbacks(seal: world.seal, random: SystemRandom(), post: post.post)
            for (client, name) in [(world.phone, "phone"), (world.backend, "backend")] {
                _ = try await world.clients.change(
                    client.id, ["callback_uri": .string("https://loom.example/\(name)")], by: commandLine)
                try await world.signIn(on: client)
            }
        }
    }

    @Test("A transaction that runs twice stores each callback once", arguments: Backend.available)
    func twice(backend: Backend) async throws {
        let house = try await Fixture(backend)
        let (world, user) = (house.world, house.world.user)
        let announcement = house.callbacks.announcement(at: world.clock.now)
        for _ in 1...2 {
            try await world.database.write { db in
                try announcement.changed(user, fields: ["name"], status: nil, in: db)
            }
        }
        #expect(house.post.uris == ["https://loom.example/backend", "https://loom.example/phone"])
        let first = house.post.ids
        #expect(house.post.sent == 0, "sent before the commit")
        announcement.send()
        #expect(house.post.sent == 1)

        // The same announcement again at the same moment is another message.
        let another = house.callbacks.announcement(at: world.clock.now)
        try await world.database.write { db in
            try another.changed(user, fields: ["name"], status: nil, in: db)
        }
        #expect(house.post.ids.count == 4 && house.post.ids.isSuperset(of: first))
        await world.database.close()
    }

    @Test(
        "A client with many token families is told once of the end of a browser session", arguments: Backend.available)
    func browsers(backend: Backend) async throws {
        struct Undone: Error {}
        let house = try await Fixture(backend)
        let (world, user) = (house.world, house.world.user)
        _ = try await world.clients.change(
            world.phone.id, ["backchannel_logout_uri": "https://loom.example/out"], by: commandLine)
        let tokens = [try await world.signIn(), try await world.signIn()]
        let (now, phone) = (world.clock.now, world.phone.id)
        _ = try await world.database.write { db in
            try db.execute(
                """
                INSERT INTO sessions (id, fingerprint, user_id, signed_in_at, created_at, seen_at, expires_at,
                    user_agent, ip_address, is_dated, method)
                VALUES ('one', '', \(user), \(now), \(now), \(now), \(now + .hours(1)), '', '', 1, 'pwd')
                """)
            try db.execute("UPDATE token_families SET session_id = 'one' WHERE user_id = \(user)")
            try SessionClients.note(phone, in: "one", db)
        }
        let announcement = house.callbacks.announcement(at: world.clock.now)
        for isUndone in [true, false, false] {
            let work = { @Sendable (db: any Transaction) throws in
                try Ending.carryOut(.sessionsEnd(["another"]), of: user, telling: announcement, at: now, in: db)
                try Ending.carryOut(.allSessionsEnd(except: "one"), of: user, telling: announcement, at: now, in: db)
                try Ending.carryOut(.sessionsEnd(["one"]), of: user, telling: announcement, at: now, in: db)
                if isUndone { throw Undone() }
            }
            do { try await world.database.write(work) } catch is Undone {}
        }
        #expect(house.post.uris == [world.phone.id.text])
        // A phone's tokens belong to no browser session.
        for token in tokens { #expect(await world.isLive(token)) }
        let another = house.callbacks.announcement(at: world.clock.now)
        try await world.database.write { db in
            try Ending.carryOut(.allSessionsEnd(except: nil), of: user, telling: another, at: now, in: db)
        }
        #expect(house.post.ids.count == 1, "told once")
        await world.database.close()
    }

    @Test(
        "A logout, an app's revocation and a disconnection each call clients back once, even if run twice",
        arguments: Backend.available)
    func ends(backend: Backend) async throws {
        let house = try await Fixture(backend)
        let world = house.world
        let database = RunsTwice(base: world.database)
        let token = try await world.accessTokens.present(try await world.signIn().accessToken)
        let families = TokenFamilies(database: database, callbacks: house.callbacks, events: .unheard)
        for _ in 1...2 { try await families.logOut(try #require(token.family), at: world.clock.now) }
        #expect(house.post.ids.count == 2, "each of the merchant's clients that acts for the person")

        let apps = ConnectedApps(database: database, clock: world.clock, callbacks: house.callbacks, events: .unheard)
        for _ in 1...2 { try await apps.revoke(world.phone.id, of: world.user) }
        #expect(house.post.ids.count == 3, "the app alone")

        for _ in 1...2 {
            try await families.disconnect(world.user, from: world.merchant, at: world.clock.now, by: commandLine)
        }
        #expect(house.post.ids.count == 4, "each client that was still connected")
        #expect(house.post.sent == 3)
        await world.database.close()
    }

    @Test(
        "A disabled merchant's client gets no callbacks about changes, only about a user's deletion",
        arguments: Backend.available)
    func disabled(backend: Backend) async throws {
        let house = try await Fixture(backend)
        let (world, user) = (house.world, house.world.user)
        _ = try await world.merchants.change(world.merchant, ["disabled": true], by: commandLine)
        let change = house.callbacks.announcement(at: world.clock.now)
        try await world.database.write { db in
            try change.changed(user, fields: ["name"], status: nil, in: db)
            try change.signedOut(user, in: db)
        }
        change.send()
        #expect(house.post.ids.isEmpty && house.post.sent == 0)
        let end = house.callbacks.announcement(at: world.clock.now)
        try await world.database.write { db in try end.deleted(user, in: db) }
        #expect(house.post.ids.count == 2)
        await world.database.close()
    }
}
