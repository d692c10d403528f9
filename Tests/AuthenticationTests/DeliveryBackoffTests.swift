import Cryptography
@testable import Delivery
import Mail
import Storage
import TestSupport
import Testing
import Values

/// How long a delivery is tried, and when it is given up.
@Suite struct DeliveryBackoffTests {
    @Test(
        "Each failed attempt doubles the pause before a delivery's next one, from a minute up to an hour",
        arguments: Backend.available)
    func pauses(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        try await house.outbox.post(DeliveryFixture.letter)
        let down = TransportDouble { throw Undeliverable.temporary("down") }
        for (attempt, minutes) in zip(1..., [1, 2, 4, 8, 16, 32, 60, 60, 60] as [Int64]) {
            #expect(try await house.outbox.deliverDue(by: down) == Outbox.Round(postponed: 1))
            let waiting = try #require(try await house.waiting().first)
            #expect(waiting.attempts == attempt)
            // Up to a quarter more, by chance.
            #expect(waiting.dueIn >= .minutes(minutes) && waiting.dueIn <= .minutes(minutes) * 5 / 4)
            house.clock.advance(by: waiting.dueIn - .milliseconds(1))
            #expect(try await house.outbox.deliverDue(by: down) == Outbox.Round(), "it is not due yet")
            house.clock.advance(by: .milliseconds(1))
        }
        // It arrives as soon as the receiver is back.
        #expect(try await house.outbox.deliverDue(by: TransportDouble()) == Outbox.Round(delivered: 1))
        #expect(house.log.says("delivery postponed") && house.log.says("reason=down"))
        await house.database.close()
    }

    @Test(
        "A delivery refused because too many servers fail waits longer the more fail, up to ten minutes",
        arguments: Backend.available)
    func crowded(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        try await house.outbox.post(DeliveryFixture.letter)
        for (failing, pause) in [
            (8, Duration.seconds(14)), (100, .seconds(60)), (999, .seconds(509.5)), (5000, .minutes(10)),
        ] {
            let others = TransportDouble { throw Undeliverable.crowded(failing: failing) }
            _ = try await house.outbox.deliverDue(by: others)
            let waiting = try #require(try await house.waiting().first)
            #expect(waiting.dueIn == pause, "\(failing)")
            house.clock.advance(by: waiting.dueIn)
        }
        await house.database.close()
    }

    @Test(
        "While servers fail, a delivery waits at least ten seconds, and at most a tenth of its remaining life",
        arguments: [
            (1000, .minutes(10), .minutes(1)), (1000, .minutes(3), .seconds(18)), (1000, .minutes(1), .seconds(10)),
            (1000, .zero, .seconds(10)), (1000, .days(1), .seconds(510)), (5000, .days(1), .minutes(10)),
            (5000, .minutes(10), .minutes(1)), (1, .days(1), .milliseconds(10_500)),
        ] as [(Int, Duration, Duration)])
    func pile(failing: Int, left: Duration, pause: Duration) {
        #expect(Backoff.pause(among: failing, left: left) == pause)
    }

    @Test("A mail waits longer for its turn the more mails to its domain are ahead of it, up to a minute")
    func burst() {
        let turns = [0, 100, 1000, 100_000].map { Backoff.turn(behind: $0, left: .days(1)) }
        #expect(turns == [.seconds(1), .seconds(6), .seconds(51), .minutes(1)])
        #expect(Backoff.turn(behind: 1000, left: .minutes(5)) == .seconds(30))
        #expect(Backoff.turn(behind: 1000, left: .zero) == .seconds(1))
    }

    @Test("A delivery whose useful time is over is given up without being sent", arguments: Backend.available)
    func expired(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        try await house.outbox.post(DeliveryFixture.letter, usefulFor: .minutes(10))
        house.clock.advance(by: .minutes(10))
        let carrier = TransportDouble()
        #expect(try await house.outbox.deliverDue(by: carrier) == Outbox.Round(givenUp: 1))
        #expect(carrier.contents.isEmpty)
        #expect(try await house.waiting().isEmpty)
        await house.database.close()
    }

    @Test(
        "A delivery that was given up is kept three days with its error, and is sent when it is retried",
        arguments: Backend.available)
    func retried(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        try await house.outbox.post(DeliveryFixture.letter)
        let refusing = TransportDouble { throw Undeliverable.refused("no such mailbox") }
        #expect(try await house.outbox.deliverDue(by: refusing) == Outbox.Round(givenUp: 1))
        let failed = try await house.outbox.list(.failed, after: nil, count: 9)
        #expect(failed.count == 1 && failed[0].error == "no such mailbox" && failed[0].attempts == 1)
        #expect(try await house.outbox.list(.waiting, after: nil, count: 9).isEmpty)
        let carrier = TransportDouble()
        #expect(try await house.outbox.deliverDue(by: carrier) == Outbox.Round())
        #expect(try await house.outbox.retry(failed[0].id, doing: { _ in }) == .done)
        #expect(try await house.outbox.deliverDue(by: carrier) == Outbox.Round(delivered: 1))
        #expect(carrier.contents.count == 1)

        try await house.outbox.post(DeliveryFixture.letter)
        _ = try await house.outbox.deliverDue(by: refusing)
        house.clock.advance(by: .days(3) - .seconds(1))
        _ = await Retention(database: house.database).sweep(at: house.clock.now)
        let last = try await house.outbox.list(.failed, after: nil, count: 9)
        #expect(last.count == 1)
        house.clock.advance(by: .seconds(2))
        #expect(try await house.outbox.retry(last[0].id, doing: { _ in }) == .useless)
        _ = await Retention(database: house.database).sweep(at: house.clock.now)
        #expect(try await house.outbox.retry(last[0].id, doing: { _ in }) == .unknown)
        await house.database.close()
    }

    @Test(
        "A failing delivery is given up after three days, even if it was to be useful for longer",
        arguments: Backend.available)
    func givenUp(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        // Even if the caller asks for longer.
        try await house.outbox.post(DeliveryFixture.letter, usefulFor: .days(30))
        let down = TransportDouble { throw Undeliverable.temporary("down") }
        var round = Outbox.Round()
        while let waiting = try await house.waiting().first {
            house.clock.advance(by: max(waiting.dueIn, .zero))
            round = try await house.outbox.deliverDue(by: down)
        }
        #expect(round == Outbox.Round(givenUp: 1))
        let first = try #require(down.messageIDs.first).date
        #expect(house.clock.now >= first + .days(3) && house.clock.now < first + .days(3) + .hours(2))
        await house.database.close()
    }

    @Test(
        "A delivery whose retry would come too late is given up and logged before the sweep deletes it",
        arguments: Backend.available)
    func givenUpInTime(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        try await house.outbox.post(DeliveryFixture.letter, usefulFor: .minutes(10))
        let down = TransportDouble { throw Undeliverable.temporary("down") }
        let end = house.clock.now + .minutes(10)
        while house.clock.now < end, let waiting = try await house.waiting().first {
            house.clock.advance(by: max(waiting.dueIn, .zero))
            _ = try await house.outbox.deliverDue(by: down)
            #expect(await Retention(database: house.database).sweep(at: house.clock.now).failures.isEmpty)
        }
        #expect(house.clock.now == end)
        #expect(try await house.waiting().isEmpty && house.log.says("delivery given up"))
        await house.database.close()
    }

    @Test(
        "The sweep deletes expired and blank deliveries, but none that may be under way",
        arguments: Backend.available)
    func swept(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        let blank = house.outbox.delivery(DeliveryFixture.letter).blank
        try await house.database.write { db in try blank.store(in: db) }
        try await house.outbox.post(DeliveryFixture.letter, usefulFor: .minutes(10))
        let retention = Retention(database: house.database)
        for (pause, left) in [(Outbox.lease - .milliseconds(1), 2), (.milliseconds(1), 1), (.minutes(8), 1)] {
            house.clock.advance(by: pause)
            _ = await retention.sweep(at: house.clock.now)
            #expect(try await house.waiting().count == left)
        }
        // An attempt that began a moment ago is over now.
        house.clock.advance(by: Outbox.lease)
        _ = await retention.sweep(at: house.clock.now)
        #expect(try await house.waiting().isEmpty)
        await house.database.close()
    }

    @Test(
        "A mail that is refused for good is given up, and the log names its user by id, not its recipient or content",
        arguments: Backend.available)
    func refused(_ backend: Backend) async throws {
        struct Never: Mailer {
            func send(_ letter: MailMessage, _ messageID: MessageID) async throws { throw MailFailure.refused("no") }
        }
        let house = try await DeliveryFixture(backend)
        let delivery = house.outbox.delivery(
            DeliveryFixture.letter, share: Delivery.Share("loom"), about: ["mail": "resetPassword", "user": "1001"])
        try await house.database.write { db in try delivery.store(in: db) }
        #expect(try await house.outbox.deliverDue(by: MailTransport(mailer: Never())) == Outbox.Round(givenUp: 1))
        #expect(try await house.waiting().isEmpty)
        let log = house.log.lines.joined(separator: "\n")
        #expect(log.contains("delivery given up") && log.contains("reason=no"))
        #expect(log.contains("mail=resetPassword merchant=loom reason=no user=1001"))
        for secret in ["ada@", "example.com", "123456", "Your code"] { #expect(!log.contains(secret)) }
        await house.database.close()
    }

    @Test(
        "A delivery attempt cut off by a stopping server can be repeated by another server at once",
        arguments: Backend.available)
    func stopped(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        try await house.outbox.post(DeliveryFixture.letter)
        let (begun, beginning) = AsyncStream<Void>.makeStream()
        let hanging = TransportDouble {
            beginning.yield()
            try await Task.sleep(for: .seconds(3600))
        }
        let node = house.outbox
        let sending = Task { try await node.deliverDue(by: hanging) }
        for await _ in begun { break }
        sending.cancel()
        _ = try await sending.value
        #expect(try await house.waiting() == [.init(attempts: 1, dueIn: .zero)])
        #expect(try await house.node().deliverDue(by: TransportDouble()) == Outbox.Round(delivered: 1))
        await house.database.close()
    }
}
