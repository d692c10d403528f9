import Cryptography
import Keys
import Storage
import TestSupport
import Testing
import Values

@testable import Delivery
@testable import Mail

/// A delivery in the outbox is sent, however often nodes die.
@Suite struct DeliveryTests {
    @Test("A delivery stored by a transaction is sent and then removed", arguments: Backend.available)
    func sent(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        let parcel = house.outbox.delivery(DeliveryFixture.letter)
        try await house.database.write { db in
            try parcel.store(in: db)
            // A transaction may run twice.
            try parcel.store(in: db)
        }
        let box = TestMailer()
        let round = try await house.outbox.deliverDue(by: MailTransport(mailer: box))
        #expect(round == Outbox.Round(delivered: 1))
        #expect(try await box.letter(to: "ada@example.com") == DeliveryFixture.letter)
        #expect(try await house.waiting().isEmpty)
        #expect(try await house.outbox.deliverDue(by: MailTransport(mailer: box)) == Outbox.Round())
        await house.database.close()
    }

    @Test(
        "A blank delivery is stored like any other, is never sent, and delays no other", arguments: Backend.available)
    func blank(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        let parcel = house.outbox.delivery(DeliveryFixture.letter)
        try await house.database.write { db in try parcel.blank.store(in: db) }
        #expect(try await house.waiting().count == 1)
        let carrier = TransportDouble()
        for _ in 1...3 {
            #expect(try await house.outbox.deliverDue(by: carrier) == Outbox.Round())
            house.clock.advance(by: Outbox.lease)
        }
        try await house.outbox.post(DeliveryFixture.letter)
        #expect(try await house.outbox.deliverDue(by: carrier) == Outbox.Round(delivered: 1))
        #expect(carrier.messageIDs.count == 1)
        #expect(try await house.waiting().count == 1)
        await house.database.close()
    }

    @Test("A transaction that rolls back leaves no delivery to send", arguments: Backend.available)
    func undone(_ backend: Backend) async throws {
        struct Refused: Error {}
        let house = try await DeliveryFixture(backend)
        let parcel = house.outbox.delivery(DeliveryFixture.letter)
        await #expect(throws: Refused.self) {
            try await house.database.write { db in
                try parcel.store(in: db)
                throw Refused()
            }
        }
        #expect(try await house.waiting().isEmpty)
        await house.database.close()
    }

    @Test("The delivery table reveals neither recipient nor content", arguments: Backend.available)
    func sealed(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        try await house.outbox.post(DeliveryFixture.letter)
        let callback = Callback(url: "https://loom.example/hook", body: "SECRET", contentType: "text/plain")
        let parcel = house.outbox.delivery(callback, share: .common)
        try await house.database.write { db in try parcel.store(in: db) }
        let stored = try await house.database.read { db in
            try db.rows("SELECT id, kind, sealed_content FROM deliveries ORDER BY kind").map { row in
                [try row.get("id", as: String.self), try row.get("kind"), try row.get("sealed_content")]
            }
        }
        #expect(stored.map { $0[1] } == ["callback", "mail"])
        for text in stored.joined() {
            // Long enough not to appear by chance in base64.
            for readable in ["ada@", "example", "123456", "SECRET", "/hook"] {
                #expect(!text.lowercased().contains(readable.lowercased()))
            }
        }
        // Nor does its content open in another row's place.
        try await house.database.write { db in
            try db.execute("UPDATE deliveries SET sealed_content = \(stored[0][2]) WHERE kind = 'mail'")
        }
        let carrier = TransportDouble()
        #expect(try await house.outbox.deliverDue(by: carrier) == Outbox.Round(postponed: 1))
        #expect(carrier.contents.isEmpty && house.log.says("does not open"))
        await house.database.close()
    }

    @Test("Each kind of delivery is sent by its own transport", arguments: Backend.available)
    func kinds(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        try await house.outbox.post(DeliveryFixture.letter)
        #expect(try await house.outbox.deliverDue(by: TransportDouble(.callback)) == Outbox.Round())
        #expect(try await house.outbox.deliverDue(by: TransportDouble(.mail)) == Outbox.Round(delivered: 1))
        await house.database.close()
    }

    @Test(
        "A mail whose node died between sending and recording is sent again with the same message id",
        arguments: Backend.available)
    func crash(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        try await house.outbox.post(DeliveryFixture.letter)
        // The first node takes the mail, sends it, and dies.
        let claim = try #require(try await house.outbox.claim(.mail, DeliveryWorker.room(.mail)).first)
        let carrier = TransportDouble()
        try await carrier.deliver("", claim.messageID, of: claim.share)

        let other = house.node()
        house.clock.advance(by: Outbox.lease - .milliseconds(1))
        #expect(try await other.deliverDue(by: carrier) == Outbox.Round(), "the lease is not over yet")
        house.clock.advance(by: .milliseconds(1))
        #expect(try await other.deliverDue(by: carrier) == Outbox.Round(delivered: 1))
        #expect(carrier.messageIDs.count == 2 && Set(carrier.messageIDs).count == 1)
        #expect(try await house.waiting().isEmpty)
        await house.database.close()
    }

    @Test(
        "An attempt's result that arrives after its lease expired does not affect the delivery's next attempt",
        arguments: Backend.available)
    func late(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        try await house.outbox.post(DeliveryFixture.letter)
        let late = try #require(try await house.outbox.claim(.mail, DeliveryWorker.room(.mail)).first)
        house.clock.advance(by: Outbox.lease)
        _ = try #require(try await house.node().claim(.mail, DeliveryWorker.room(.mail)).first)
        _ = await house.outbox.deliver(late, by: TransportDouble { throw Undeliverable.temporary("slow") })
        #expect(try await house.waiting() == [.init(attempts: 2, dueIn: Outbox.lease)])
        await house.database.close()
    }

    @Test("Each delivery is sent once, however many nodes send at the same time", arguments: Backend.available)
    func nodes(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        for _ in 0..<40 { try await house.outbox.post(DeliveryFixture.letter) }
        let carrier = TransportDouble { await Task.yield() }
        let delivered = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                let node = house.node()
                group.addTask { try await node.deliverDue(by: carrier).delivered }
            }
            return try await group.reduce(0, +)
        }
        #expect(delivered == 40)
        #expect(carrier.messageIDs.count == 40 && Set(carrier.messageIDs).count == 40)
        #expect(try await house.waiting().isEmpty)
        await house.database.close()
    }

    @Test("A node with an outdated master key cannot store deliveries", arguments: Backend.available)
    func resealed(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        try await Resealing(from: house.masterKey, to: .random(from: SystemRandom()), random: SystemRandom())
            .run(on: house.database)
        await #expect(throws: StorageError.self) { try await house.outbox.post(DeliveryFixture.letter) }
        #expect(try await house.waiting().isEmpty)
        await house.database.close()
    }

    @Test(
        "A mail is sent as soon as it is stored, and a delivery that hangs delays no other",
        arguments: Backend.available)
    func apart(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        let (newSessions, newSession) = AsyncStream<Int>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let number = Counter()
        let carrier = TransportDouble {
            let mine = number.next()
            newSession.yield(mine)
            // The first mail hangs until the test is done with the others.
            if mine == 1 { for await _ in ends { break } }
        }
        let route = DeliveryWorker(house.outbox, by: carrier)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await route.run() }
            var iterator = newSessions.makeAsyncIterator()
            for expected in 1...12 {
                try await house.outbox.post(DeliveryFixture.letter)
                #expect(await iterator.next() == expected)
            }
            // A closed outbox finishes what is under way, and takes nothing more.
            house.outbox.close()
            end.yield()
            try await group.waitForAll()
        }
        #expect(try await house.waiting().isEmpty)
        await house.database.close()
    }

    @Test("Deliveries stored before a server starts are sent when it starts", arguments: Backend.available)
    func backlog(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        for _ in 0..<20 { try await house.node().post(DeliveryFixture.letter) }
        let (newSessions, newSession) = AsyncStream<Void>.makeStream()
        let route = DeliveryWorker(house.outbox, by: TransportDouble { newSession.yield() })
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await route.run() }
            var iterator = newSessions.makeAsyncIterator()
            for _ in 0..<20 { await iterator.next() }
            house.outbox.close()
            await group.waitForAll()
        }
        #expect(try await house.waiting().isEmpty)
        await house.database.close()
    }

    @Test(
        "A delivery worker that starts after the outbox was closed ends at once", .timeLimit(.minutes(1)),
        arguments: Backend.available)
    func closed(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        house.outbox.close()
        await DeliveryWorker(house.outbox, by: TransportDouble()).run()
        await house.database.close()
    }
}
