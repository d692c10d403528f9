import Storage
import TestSupport
import Testing
import Values

@testable import Delivery

@Suite("Deliveries of one topic")
struct DeliveryTopicTests {
    /// Stores a callback with `body`, in its own transaction.
    private func leave(
        _ body: String, _ topic: String?, content: String = "changed", isUrgent: Bool = false,
        in fixture: DeliveryFixture
    ) async throws {
        let callback = Callback(url: "https://loom.example/hook", body: body, contentType: "text/plain")
        let delivery = fixture.outbox.delivery(
            callback, share: .init("loom"),
            topic: topic.map { Delivery.Topic(subject: $0, content: content, isUrgent: isUrgent) })
        try await fixture.database.write { db in try delivery.store(in: db) }
    }

    private func claim(_ fixture: DeliveryFixture) async throws -> [Lease] {
        try await fixture.outbox.claim(.callback, DeliveryWorker.room(.callback))
    }

    @Test(
        "A thousand waiting callbacks of one topic become one delivery with the newest content",
        arguments: Backend.available)
    func thousand(_ backend: Backend) async throws {
        let fixture = try await DeliveryFixture(backend)
        for number in 1...1000 { try await leave("\(number)", "ada", in: fixture) }
        try await leave("of somebody else", "bob", in: fixture)
        try await leave("without a topic", nil, in: fixture)
        try await leave("without a topic", nil, in: fixture)
        let transport = TransportDouble(.callback)
        #expect(try await fixture.outbox.deliverDue(by: transport).delivered == 4)
        #expect(transport.contents.count { $0.contains("1000") } == 1)
        #expect(transport.contents.count { $0.contains("999") } == 0)
        await fixture.database.close()
    }

    @Test("A newer delivery does not replace one of the same topic that is being sent", arguments: Backend.available)
    func underWay(_ backend: Backend) async throws {
        let fixture = try await DeliveryFixture(backend)
        try await leave("first", "ada", in: fixture)
        let first = try #require(try await claim(fixture).first)
        try await leave("second", "ada", in: fixture)
        #expect(try await fixture.waiting().count == 2)
        #expect(await fixture.outbox.deliver(first, by: TransportDouble(.callback)).isDelivered)
        let rest = TransportDouble(.callback)
        #expect(try await fixture.outbox.deliverDue(by: rest).delivered == 1)
        #expect(rest.contents.allSatisfy { $0.contains("second") })
        await fixture.database.close()
    }

    @Test(
        "A newer delivery replaces one of the same topic that failed because the server was busy or down",
        arguments: Backend.available)
    func givesWay(_ backend: Backend) async throws {
        for trouble in [Undeliverable.busy, .resting(failures: 3), .crowded(failing: 9), .temporary("down")] {
            let fixture = try await DeliveryFixture(backend)
            try await leave("first", "ada", in: fixture)
            let first = try #require(try await claim(fixture).first)
            try await leave("second", "ada", in: fixture)
            _ = await fixture.outbox.deliver(first, by: TransportDouble(.callback) { throw trouble })
            let left = try await claim(fixture)
            #expect(left.count == 1)
            #expect(left.first?.id != first.id)
            await fixture.database.close()
        }
    }

    @Test("A delivery that failed is not replaced by an older one of the same topic", arguments: Backend.available)
    func older(_ backend: Backend) async throws {
        let fixture = try await DeliveryFixture(backend)
        try await leave("first", "ada", in: fixture)
        let first = try #require(try await claim(fixture).first)
        fixture.clock.advance(by: .seconds(1))
        try await leave("second", "ada", in: fixture)
        let second = try #require(try await claim(fixture).first)
        // Postponed while the second was under way, the first waits as if it had not been tried.
        _ = await fixture.outbox.deliver(first, by: TransportDouble(.callback) { throw Undeliverable.busy })
        _ = await fixture.outbox.deliver(
            second, by: TransportDouble(.callback) { throw Undeliverable.temporary("down") })
        #expect(try await fixture.waiting().count == 2)
        await fixture.database.close()
    }

    @Test(
        "A delivery that replaces an older one of the same topic takes that one's place in the queue",
        arguments: Backend.available)
    func turn(_ backend: Backend) async throws {
        let fixture = try await DeliveryFixture(backend)
        try await leave("first", "ada", in: fixture)
        let due = try await fixture.waiting()
        fixture.clock.advance(by: .seconds(5))
        try await leave("second", "ada", in: fixture)
        #expect(try await fixture.waiting().map { $0.dueIn + .seconds(5) } == due.map(\.dueIn))
        await fixture.database.close()
    }

    @Test(
        "Twenty callbacks about one user's changes are due at once and the rest later; urgent ones at once",
        arguments: Backend.available)
    func subject(_ backend: Backend) async throws {
        let fixture = try await DeliveryFixture(backend)
        for number in 1...100 { try await leave("\(number)", "ada", content: "\(number)", in: fixture) }
        let due = try await fixture.waiting().map(\.dueIn).sorted()
        #expect(due.count { $0 == .zero } == DeliveryLimits.mostOfOneSubject)
        #expect(due.last == DeliveryLimits.pauseOfSubject * 80)
        try await leave("deleted", "ada", content: "deleted", isUrgent: true, in: fixture)
        try await leave("of somebody else", "bob", in: fixture)
        #expect(try await fixture.waiting().count { $0.dueIn == .zero } == DeliveryLimits.mostOfOneSubject + 2)
        // Nothing is lost.
        fixture.clock.advance(by: .hours(1))
        #expect(try await fixture.outbox.deliverDue(by: TransportDouble(.callback)).delivered == 102)
        await fixture.database.close()
    }

    @Test(
        "Twenty of one user's logout notices to one client are due at once, the others later",
        arguments: Backend.available)
    func notices(_ backend: Backend) async throws {
        let fixture = try await DeliveryFixture(backend)
        let notices = (1...100).map { number in
            fixture.outbox.delivery(
                notice: "\(number)", usefulFor: .days(1), share: .init("loom"),
                topic: Delivery.Topic(noticesAbout: "loom ada"))
        }
        try await fixture.database.write { db in for notice in notices { try notice.store(in: db) } }
        let due = try await fixture.waiting().map(\.dueIn).sorted()
        #expect(due.count { $0 == .zero } == DeliveryLimits.mostOfOneSubject)
        #expect(due.last == .seconds(20))
        await fixture.database.close()
    }

    @Test(
        "Of callbacks that a user is blocked, unblocked and blocked again, the last state is sent last",
        arguments: Backend.available)
    func lastState(_ backend: Backend) async throws {
        let fixture = try await DeliveryFixture(backend)
        for state in ["blocked", "verified", "blocked"] {
            try await leave(state, "ada", content: state, isUrgent: true, in: fixture)
            fixture.clock.advance(by: .seconds(1))
        }
        let transport = TransportDouble(.callback)
        for lease in try await claim(fixture) { _ = await fixture.outbox.deliver(lease, by: transport) }
        #expect(transport.contents.count == 2)
        #expect(transport.contents.last?.contains("blocked") == true)
        await fixture.database.close()
    }

    @Test(
        "A transaction that stores a delivery twice does not delete a newer delivery of the same topic",
        arguments: Backend.available)
    func again(_ backend: Backend) async throws {
        let fixture = try await DeliveryFixture(backend)
        let callback = Callback(url: "https://loom.example/hook", body: "first", contentType: "text/plain")
        let first = fixture.outbox.delivery(
            callback, share: .init("loom"), topic: Delivery.Topic(subject: "ada", content: "changed", isUrgent: true))
        try await fixture.database.write { db in try first.store(in: db) }
        _ = try await claim(fixture)
        try await leave("second", "ada", in: fixture)
        try await fixture.database.write { db in try first.store(in: db) }
        #expect(try await fixture.waiting().count == 2)
        await fixture.database.close()
    }
}

extension Outbox.Outcome {
    fileprivate var isDelivered: Bool { if case .delivered = self { true } else { false } }
}
