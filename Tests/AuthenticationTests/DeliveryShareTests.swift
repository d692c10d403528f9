import Cryptography
import Keys
import Logging
import Mail
import Outbound
import Storage
import Synchronization
import TestSupport
import Testing
import Values

@testable import Delivery

@Suite("Deliveries are shared out fairly")
struct DeliveryShareTests {
    private func leave(_ count: Int, for share: String, in fixture: DeliveryFixture) async throws {
        let callback = Callback(url: "https://\(share).example/hook", body: share, contentType: "text/plain")
        let deliveries = (0..<count).map { _ in fixture.outbox.delivery(callback, share: .init(share)) }
        try await fixture.database.write { db in for delivery in deliveries { try delivery.store(in: db) } }
    }

    @Test(
        "A merchant's thousands of waiting callbacks do not delay another merchant's callbacks",
        arguments: Backend.available
    )
    func fair(_ backend: Backend) async throws {
        let fixture = try await DeliveryFixture(backend)
        try await leave(2000, for: "busy", in: fixture)
        fixture.clock.advance(by: .seconds(1))
        try await leave(3, for: "quiet", in: fixture)
        let leases = try await fixture.outbox.claim(.callback, DeliveryWorker.room(.callback))
        #expect(leases.filter { $0.share == .init("busy") }.count == DeliveryLimits.mostForOneShare(.callback))
        #expect(leases.filter { $0.share == .init("quiet") }.count == 3)
        await fixture.database.close()
    }

    @Test("A node with an outdated master key leases no deliveries", arguments: Backend.available)
    func resealed(_ backend: Backend) async throws {
        let fixture = try await DeliveryFixture(backend)
        try await leave(3, for: "one", in: fixture)
        fixture.clock.advance(by: .seconds(1))
        let other = MasterKey.random(from: SystemRandom())
        try await fixture.database.write { db in
            try db.execute("DELETE FROM facts")
            try MasterKeyCheck(other).store(in: db)
        }
        #expect(try await fixture.outbox.claim(.callback, DeliveryWorker.room(.callback)).isEmpty)
        try await fixture.database.write { db in _ = try db.execute("DELETE FROM facts") }
        #expect(try await fixture.outbox.claim(.callback, DeliveryWorker.room(.callback)).count == 3)
        await fixture.database.close()
    }

    @Test(
        "One merchant's hanging mails or text messages may take over half of the sending places, but not all",
        arguments: [Delivery.Kind.mail, .text])
    func hanging(_ kind: Delivery.Kind) {
        var room = DeliveryWorker.room(kind)
        for _ in 0..<DeliveryLimits.mostForOneShare(kind) { room.take(for: .init("hangs")) }
        #expect(room.free > 0)
        #expect(DeliveryLimits.mostForOneShare(kind) > DeliveryLimits.mostAtOnce(kind) / 2)
    }

    @Test(
        "A sending place that becomes free goes to the merchant with the fewest deliveries under way",
        arguments: Backend.available)
    func next(_ backend: Backend) async throws {
        let fixture = try await DeliveryFixture(backend)
        for share in ["a", "b", "c", "d"] { try await leave(20, for: share, in: fixture) }
        fixture.clock.advance(by: .seconds(1))
        try await leave(1, for: "late", in: fixture)
        var room = DeliveryWorker.room(.callback)
        for lease in try await fixture.outbox.claim(.callback, room) { room.take(for: lease.share) }
        #expect(room.free == 0)
        room.giveBack(for: .init("a"))
        let leases = try await fixture.outbox.claim(.callback, room)
        #expect(leases.map(\.share) == [.init("late")])
        await fixture.database.close()
    }

    @Test(
        "A merchant's urgent callbacks are sent before its overdue profile changes, within the same limit",
        arguments: Backend.available)
    func urgent(_ backend: Backend) async throws {
        let fixture = try await DeliveryFixture(backend)
        let callback = Callback(url: "https://loom.example/hook", body: "x", contentType: "text/plain")
        func leave(_ count: Int, isUrgent: Bool) async throws {
            let deliveries = (0..<count).map { number in
                fixture.outbox.delivery(
                    callback, share: .init("loom"),
                    topic: .init(subject: "\(isUrgent) \(number)", content: "changed", isUrgent: isUrgent))
            }
            try await fixture.database.write { db in for delivery in deliveries { try delivery.store(in: db) } }
        }
        try await leave(1000, isUrgent: false)
        fixture.clock.advance(by: .seconds(1))
        try await leave(5, isUrgent: true)
        var room = DeliveryWorker.room(.callback)
        let leases = try await fixture.outbox.claim(.callback, room)
        #expect(leases.count == DeliveryLimits.mostForOneShare(.callback))
        #expect(leases.count(where: \.share.isUrgent) == 5)
        for lease in leases { room.take(for: lease.share) }
        try await leave(1, isUrgent: true)
        #expect(try await fixture.outbox.claim(.callback, room).isEmpty)
        room.giveBack(for: .init("loom"))
        #expect(try await fixture.outbox.claim(.callback, room).map(\.share.isUrgent) == [true])
        await fixture.database.close()
    }

    @Test(
        "A merchant's thousand waiting mails neither delay another merchant's mail nor take all places",
        arguments: Backend.available)
    func mails(_ backend: Backend) async throws {
        let fixture = try await DeliveryFixture(backend)
        let waiting = (0..<1000).map { _ in fixture.outbox.delivery(DeliveryFixture.letter, share: .init("busy")) }
        try await fixture.database.write { db in for delivery in waiting { try delivery.store(in: db) } }
        fixture.clock.advance(by: .seconds(1))
        let quiet = fixture.outbox.delivery(DeliveryFixture.letter, share: .init("quiet"))
        try await fixture.database.write { db in try quiet.store(in: db) }
        var room = DeliveryWorker.room(.mail)
        let leases = try await fixture.outbox.claim(.mail, room)
        for lease in leases { room.take(for: lease.share) }
        #expect(leases.filter { $0.share == .init("quiet") }.count == 1)
        #expect(room.free == 1, "for the next share")
        #expect(try await fixture.outbox.claim(.mail, room).isEmpty)
        await fixture.database.close()
    }

    @Test(
        "Leasing deliveries of one kind takes none of another kind, no blank one, and none already leased",
        arguments: Backend.available)
    func others(_ backend: Backend) async throws {
        let fixture = try await DeliveryFixture(backend)
        let notice = fixture.outbox.delivery(notice: "n", usefulFor: .days(1), share: .init("a"))
        let blank = fixture.outbox.delivery(DeliveryFixture.letter).blank
        try await fixture.database.write { db in
            try notice.store(in: db)
            try blank.store(in: db)
        }
        #expect(try await fixture.outbox.claim(.callback, DeliveryWorker.room(.callback)).isEmpty)
        #expect(try await fixture.outbox.claim(.mail, DeliveryWorker.room(.mail)).isEmpty)
        #expect(try await fixture.outbox.claim(.notice, DeliveryWorker.room(.notice)).count == 1)
        // It is leased now.
        #expect(try await fixture.outbox.claim(.notice, DeliveryWorker.room(.notice)).isEmpty)
        await fixture.database.close()
    }

    @Test("A merchant's callbacks to a server that two merchants use do not take the other merchant's places")
    func sameServer() async throws {
        let limiter = PerHostLimiter()
        let url = "https://shared.example/hook"
        try await limiter.visit(url, of: .init("a")) {
            try await limiter.visit(url, of: .init("a")) {
                await #expect(throws: Undeliverable.busy) { try await limiter.visit(url, of: .init("a")) {} }
                try await limiter.visit(url, of: .init("b")) {}
            }
        }
    }

    @Test("A merchant's fifth callback at once to a hanging server is turned away; another merchant's is tried")
    func hanging() async throws {
        let silent = try LocalListener { _ in nil }
        defer { silent.stop() }
        let policy = OutboundPolicy(
            allowedPrivateRanges: ["127.0.0.1"].compactMap { CIDR($0) }, longestWait: .milliseconds(500))
        let outbound = Outbound(policy: policy, logger: .silent)
        let callback = Callback(url: "http://127.0.0.1:\(silent.port)/", body: "b", contentType: "text/plain")
        let outcomes = await withTaskGroup(of: String.self) { group in
            for share in ["a", "a", "a", "a", "a", "b"] {
                group.addTask {
                    do throws(any Error) {
                        try await outbound.deliver(callback, of: .init(share), isRefusal: { _ in false })
                        return "delivered"
                    } catch {
                        return "\(share) \(error)"
                    }
                }
            }
            return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(
            outcomes == [
                "a temporary(\"no whole answer in time\")": 4, "a busy": 1,
                "b temporary(\"no whole answer in time\")": 1,
            ])
    }

    @Test("A thousand failing servers of one merchant do not displace the record of another's failing server")
    func failures() async throws {
        let limiter = PerHostLimiter()
        func fail(_ host: String, _ share: String) async throws {
            try await limiter.visit("https://\(host).example/hook", of: .init(share)) {
                throw Undeliverable.temporary("down")
            }
        }
        await #expect(throws: Undeliverable.self) { try await fail("dead", "b") }
        for number in 0...1000 {
            await #expect(throws: Undeliverable.self) { try await fail("dead\(number)", "a") }
        }
        // While one attempt is under way there, a server that failed gets no other.
        try await limiter.visit("https://dead.example/hook", of: .init("b")) {
            let refused = await #expect(throws: Undeliverable.self) { try await fail("dead", "b") }
            guard case .resting = refused else { return #expect(Bool(false), "\(String(describing: refused))") }
        }
    }

    @Test("A merchant's callbacks to failing servers use at most half of the deliveries it may have under way")
    func failing() async throws {
        let limiter = PerHostLimiter()
        func url(_ host: Int) -> String { "https://dead\(host).example/hook" }
        for host in 0..<8 {
            await #expect(throws: Undeliverable.self) {
                try await limiter.visit(url(host), of: .init("a")) { throw Undeliverable.temporary("down") }
            }
        }
        func visit(_ host: Int) async throws {
            guard host < DeliveryLimits.mostToFailing else {
                await #expect(throws: Undeliverable.crowded(failing: 8)) {
                    try await limiter.visit(url(host), of: .init("a")) {}
                }
                return try await limiter.visit("https://new.example/hook", of: .init("a")) {}
            }
            try await limiter.visit(url(host), of: .init("a")) { try await visit(host + 1) }
        }
        try await visit(0)
    }

    @Test(
        "Of one user's logout notices to one client the newest thousand are kept, due within 250 seconds",
        arguments: Backend.available)
    func kept(_ backend: Backend) async throws {
        let fixture = try await DeliveryFixture(backend)
        func leave(_ count: Int) async throws -> [Delivery.ID] {
            fixture.clock.advance(by: .milliseconds(1))
            let deliveries = (0..<count).map { number in
                fixture.outbox.delivery(
                    notice: "\(number)", usefulFor: .days(1), share: .init("a"), topic: .init(noticesAbout: "one"))
            }
            try await fixture.database.write { db in for delivery in deliveries { try delivery.store(in: db) } }
            return deliveries.map(\.id)
        }
        func left() async throws -> (ids: Set<Delivery.ID>, last: Timestamp) {
            let rows = try await fixture.database.rows("SELECT id, due_at FROM deliveries ORDER BY due_at")
            return (Set(try rows.map { try $0.get("id") }), try #require(rows.last).get("due_at"))
        }
        let limit = fixture.clock.now + .seconds(250)
        _ = try await leave(1000)
        let newer = try await leave(600)
        var kept = try await left()
        #expect(kept.ids.count == 1000 && kept.ids.isSuperset(of: newer))
        #expect(kept.last <= limit, "a flood moves the last turn ever further away")
        // All were tried once, and are due later than the new ones.
        let later = fixture.clock.now + .hours(1)
        try await fixture.database.write { db in
            try db.execute("UPDATE deliveries SET attempts = 1, due_at = \(later)")
        }
        let newest = try await leave(30)
        kept = try await left()
        #expect(kept.ids.count == 1000 && kept.ids.isSuperset(of: newest))
        await fixture.database.close()
    }

    @Test("Receivers that never answer do not delay another merchant's callbacks")
    func stuck() async throws {
        let fixture = try await DeliveryFixture(.sqlite)
        try await leave(100, for: "stuck", in: fixture)
        fixture.clock.advance(by: .seconds(1))
        try await leave(50, for: "quick", in: fixture)
        let transport = OneStuck(quick: 50)
        let worker = DeliveryWorker(fixture.outbox, by: transport)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await worker.run() }
            // Every quick delivery arrives while the stuck ones hold all places of their merchant.
            for await _ in transport.done { break }
            #expect(transport.stuck == DeliveryLimits.mostForOneShare(.callback))
            fixture.outbox.close()
            group.cancelAll()
        }
        await fixture.database.close()
    }

    @Test(
        "One merchant's mails to slow unknown domains leave places for mails to domains known to be quick",
        .timeLimit(.minutes(1)))
    func stalled() async throws {
        let domains = RecipientDomains()
        let share = Delivery.Share("loom")
        for _ in 1...DeliveryLimits.quickInARow { try await domains.send(to: "example.com", of: share) {} }
        // One quick mail does not make it a quick domain.
        try await domains.send(to: "0.slow.example", of: share) {}
        let (begun, beginning) = AsyncStream.makeStream(of: Int.self)
        let (refused, refusing) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<DeliveryLimits.mostForOneShare(.mail) {
                group.addTask {
                    do {
                        try await domains.send(to: "\(number).slow.example", of: share) {
                            beginning.yield(number)
                            try await Task.sleep(for: .seconds(3600))
                        }
                    } catch is Undeliverable {
                        refusing.yield(number)
                    }
                }
            }
            var places = begun.makeAsyncIterator()
            for _ in 0..<DeliveryLimits.mostToUnknownDomains { _ = await places.next() }
            var others = refused.makeAsyncIterator()
            for _ in DeliveryLimits.mostToUnknownDomains..<DeliveryLimits.mostForOneShare(.mail) {
                _ = await others.next()
            }
            var taken = 0
            try await domains.send(to: "Example.com", of: share) { taken += 1 }
            try await domains.send(to: "unknown.example", of: .init("another")) { taken += 1 }
            #expect(taken == 2)
            // Further mails are postponed, each for longer.
            var counts: [Int] = []
            for _ in 1...40 {
                do {
                    try await domains.send(to: "third.example", of: share) { Issue.record("it took a place") }
                } catch Undeliverable.crowded(let failing) {
                    counts.append(failing)
                }
            }
            #expect(counts == Array((counts.first ?? 0)..<(counts.first ?? 0) + 40))
            group.cancelAll()
            while let result = await group.nextResult() { if case .success = result { continue } }
        }
        try await domains.send(to: "third.example", of: share) {}
    }

    @Test(
        "Two merchants' mails to slow unknown domains leave places for mails to domains known to be quick",
        .timeLimit(.minutes(1)))
    func stalledByTwo() async throws {
        let domains = RecipientDomains()
        let shares = ["loom", "rival"].map { Delivery.Share($0) }
        for _ in 1...DeliveryLimits.quickInARow { try await domains.send(to: "example.com", of: shares[0]) {} }
        let (begun, beginning) = AsyncStream.makeStream(of: Int.self)
        let (refused, refusing) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<DeliveryLimits.mostAtOnce(.mail) {
                group.addTask {
                    do {
                        try await domains.send(to: "\(number).slow.example", of: shares[number % 2]) {
                            beginning.yield(number)
                            try await Task.sleep(for: .seconds(3600))
                        }
                    } catch is Undeliverable {
                        refusing.yield(number)
                    }
                }
            }
            var places = begun.makeAsyncIterator()
            for _ in 0..<DeliveryLimits.mostToUnknownDomainsInAll { _ = await places.next() }
            var others = refused.makeAsyncIterator()
            for _ in DeliveryLimits.mostToUnknownDomainsInAll..<DeliveryLimits.mostAtOnce(.mail) {
                _ = await others.next()
            }
            var taken = 0
            try await domains.send(to: "example.com", of: .init("third")) { taken += 1 }
            // A merchant without a mail under way has a place even for an unknown domain.
            try await domains.send(to: "fresh.example", of: .init("third")) { taken += 1 }
            #expect(taken == 2)
            group.cancelAll()
            while let result = await group.nextResult() { if case .success = result { continue } }
        }
    }

    @Test(
        "A merchant's mails that wait for one slow domain leave a place for its mail to a quick domain",
        .timeLimit(.minutes(1)), arguments: zip([5, 6], [1, 100]))
    func pile(places: Int, refusals: Int) async throws {
        let domains = RecipientDomains()
        let share = Delivery.Share("loom")
        for _ in 1...DeliveryLimits.quickInARow { try await domains.send(to: "example.com", of: share) {} }
        let (refused, refusing) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<places {
                group.addTask {
                    while !Task.isCancelled {
                        do {
                            try await domains.send(to: "slow.example", of: share) {
                                try await Task.sleep(for: .seconds(1))
                            }
                        } catch is Undeliverable {
                            refusing.yield(number)
                            try await Task.sleep(for: .milliseconds(1))
                        }
                    }
                }
            }
            // The fifth waits for a while; the sixth does not.
            var others = refused.makeAsyncIterator()
            for _ in 0..<refusals {
                let other = await others.next()
                try #require(other != nil)
            }
            var taken = 0
            try await domains.send(to: "example.com", of: share) { taken += 1 }
            #expect(taken == 1)
            group.cancelAll()
            while let result = await group.nextResult() { if case .success = result { continue } }
        }
    }
}

/// Delivers what is quick, and never what is stuck.
private final class OneStuck: Transport {
    private struct Counts {
        var stuck = 0
        var quick = 0
    }
    private let expected: Int
    private let counts = Mutex(Counts())
    let done: AsyncStream<Void>
    private let isDone: AsyncStream<Void>.Continuation
    var kind: Delivery.Kind { .callback }
    var stuck: Int { counts.withLock { $0.stuck } }

    init(quick expected: Int) {
        self.expected = expected
        (done, isDone) = AsyncStream<Void>.makeStream()
    }

    func deliver(_ content: String, _ messageID: MessageID, of share: Delivery.Share) async throws {
        guard !content.contains("stuck") else {
            counts.withLock { $0.stuck += 1 }
            try await Task.sleep(for: .seconds(600))
            return
        }
        let quick = counts.withLock { counts in
            counts.quick += 1
            return counts.quick
        }
        if quick == expected { isDone.yield() }
    }
}
