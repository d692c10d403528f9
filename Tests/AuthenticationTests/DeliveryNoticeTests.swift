import Mail
import Outbound
import Storage
import Synchronization
import TestSupport
import Testing
import Values

@testable import Delivery

/// Logout notices to clients' servers, which are written when they are sent.
@Suite struct DeliveryNoticeTests {
    private struct NoKey: Error {}

    private func round(
        _ house: DeliveryFixture, writing write: @escaping NoticeTransport.Write
    ) async throws -> Outbox.Round {
        let outbound = Outbound(policy: OutboundPolicy(allowedPrivateRanges: []), logger: house.log.logger)
        return try await house.outbox.deliverDue(by: NoticeTransport(outbound: outbound, write: write))
    }

    private func leave(in house: DeliveryFixture) async throws {
        let parcel = house.outbox.delivery(
            notice: "the loom stopped", usefulFor: .days(1), share: .common, id: Delivery.ID("one"))
        for _ in 1...2 { try await house.database.write { db in try parcel.store(in: db) } }
        #expect(try await house.waiting().count == 1)
    }

    @Test("A logout notice is given up unsent if its client no longer wants it", arguments: Backend.available)
    func nobody(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        try await leave(in: house)
        let result = try await round(house) { notice in
            #expect(notice == "the loom stopped")
            return nil
        }
        #expect(result == Outbox.Round(givenUp: 1))
        #expect(try await house.waiting().isEmpty)
        await house.database.close()
    }

    @Test(
        "A logout notice is retried later if it cannot be signed or its address is a forbidden private one",
        arguments: Backend.available)
    func waits(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        try await leave(in: house)
        #expect(try await round(house) { _ in throw NoKey() } == Outbox.Round(postponed: 1))
        house.clock.advance(by: .minutes(2))
        // A private address, to which nothing is sent unless the operator allows it.
        let callback = Callback(url: "http://127.0.0.1:9/out", body: "a=b", contentType: "text/plain")
        #expect(try await round(house) { _ in callback } == Outbox.Round(postponed: 1))
        #expect(try await house.waiting().map(\.attempts) == [2])
        await house.database.close()
    }

    @Test("A logout notice past its deadline is not signed", arguments: Backend.available)
    func tooLate(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        try await leave(in: house)
        house.clock.advance(by: .days(1))
        let result = try await round(house) { _ in
            Issue.record("it was written")
            return nil
        }
        #expect(result == Outbox.Round(givenUp: 1))
        await house.database.close()
    }

    @Test(
        "A logout notice is given up after 400, 401, 403, 404, 410 or 501, and retried after 408, 429 or 503",
        arguments: [
            ("400 Bad Request", true), ("401 Unauthorized", true), ("403 Forbidden", true), ("404 Not Found", true),
            ("410 Gone", true), ("501 Not Implemented", true), ("408 Request Timeout", false),
            ("429 Too Many Requests", false), ("500 Internal Server Error", false), ("503 Later", false),
        ])
    func refused(_ status: String, isFinal: Bool) async throws {
        let house = try await DeliveryFixture(.sqlite)
        let receiver = try LocalListener(serving: { connection in
            guard let head = connection.head(), connection.body(after: head) != nil else { return }
            connection.say("HTTP/1.1 \(status)\r\nContent-Length: 0\r\nConnection: close\r\n")
        })
        try await leave(in: house)
        let carrier = NoticeTransport(outbound: outbound(house)) { _ in
            Callback(url: "http://127.0.0.1:\(receiver.port)/out", body: "a=b", contentType: "text/plain")
        }
        let expected = isFinal ? Outbox.Round(givenUp: 1) : Outbox.Round(postponed: 1)
        #expect(try await house.outbox.deliverDue(by: carrier) == expected)
        await house.database.close()
    }

    @Test(
        "A server slow to answer gets two logout notices at once; the others wait and use up no attempt",
        arguments: Backend.available)
    func slow(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        for number in 1...8 {
            let parcel = house.outbox.delivery(
                notice: number == 8 ? "quick" : "slow", usefulFor: .days(1), share: .common,
                id: Delivery.ID("n\(number)"))
            try await house.database.write { db in try parcel.store(in: db) }
        }
        let round = try await house.outbox.deliverDue(by: SlowReceivers())
        #expect(round == Outbox.Round(delivered: 3, held: 5))
        let waiting = DeliveryFixture.Waiting(attempts: 0, dueIn: .seconds(10))
        #expect(try await house.waiting() == Array(repeating: waiting, count: 5))
        await house.database.close()
    }

    @Test(
        "While a receiver is down, one delivery checks it and the others wait at least a minute",
        arguments: Backend.available)
    func down(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        for _ in 0..<8 {
            let parcel = house.outbox.delivery(notice: "down", usefulFor: .days(1), share: .common)
            try await house.database.write { db in try parcel.store(in: db) }
        }
        let carrier = DeadReceiver()
        // All arrive at once: two are let in, and fail.
        #expect(try await house.outbox.deliverDue(by: carrier) == Outbox.Round(postponed: 2, held: 6))
        house.clock.advance(by: .minutes(2))
        // One attempt checks whether the receiver is back; the others do not try for minutes.
        let round = try await house.outbox.deliverDue(by: carrier)
        #expect(round == Outbox.Round(postponed: 1, held: 7))
        let times = try await house.waiting().map(\.dueIn)
        #expect(times.count == 8 && times.allSatisfy { $0 >= .minutes(1) })
        await house.database.close()
    }

    private func outbound(_ house: DeliveryFixture) -> Outbound {
        let ranges = ["127.0.0.1/32"].compactMap { CIDR($0) }
        return Outbound(policy: OutboundPolicy(allowedPrivateRanges: ranges), logger: house.log.logger)
    }
}

/// Sends notices to the receivers that they name. A slow receiver answers only after five notices were turned away.
private final class SlowReceivers: Transport {
    private let receivers = PerHostLimiter()
    private let held = Atomic(0)
    var kind: Delivery.Kind { .notice }

    func deliver(_ content: String, _ messageID: MessageID, of share: Delivery.Share) async throws {
        do {
            try await receivers.visit("https://\(content).example/out", of: share) {
                while held.load(ordering: .relaxed) < 5 { await Task.yield() }
            }
        } catch Undeliverable.busy {
            held.add(1, ordering: .relaxed)
            throw Undeliverable.busy
        }
    }
}

/// Sends notices to a receiver that is down. None of a round ends before all others were turned away.
private final class DeadReceiver: Transport {
    private let receivers = PerHostLimiter()
    private let come = Atomic(0)
    private let turnedAway = Atomic(0)
    /// How many have been turned away at the end of each round of eight.
    private let goals = [6, 13]
    var kind: Delivery.Kind { .notice }

    func deliver(_ content: String, _ messageID: MessageID, of share: Delivery.Share) async throws {
        let round = come.wrappingAdd(1, ordering: .relaxed).oldValue / 8
        do {
            try await receivers.visit("https://\(content).example/out", of: share) {
                while turnedAway.load(ordering: .relaxed) < goals[round] { await Task.yield() }
                throw Undeliverable.temporary("down")
            }
        } catch let error as Undeliverable {
            if case .temporary = error { throw error }
            turnedAway.wrappingAdd(1, ordering: .relaxed)
            throw error
        }
    }
}
