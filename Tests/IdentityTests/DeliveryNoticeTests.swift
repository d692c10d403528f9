import Outbound
import Storage
import TestSupport
import Testing
import Values

@testable import Delivery

/// Notices to the servers of clients, which are written when they go.
@Suite struct DeliveryNoticeTests {
    private struct NoKey: Error {}

    private func round(
        _ house: DeliveryFixture, writing write: @escaping NoticeCarrier.Write
    ) async throws -> Outbox.Round {
        let outbound = Outbound(policy: OutboundPolicy(allowedPrivateRanges: []), logger: house.log.logger)
        return try await house.outbox.deliverDue(by: NoticeCarrier(outbound: outbound, write: write))
    }

    private func leave(in house: DeliveryFixture) async throws {
        let parcel = house.outbox.parcel(notice: "the loom stopped", usefulFor: .days(1), id: Parcel.ID("one"))
        for _ in 1...2 { try await house.database.write { db in try parcel.store(in: db) } }
        #expect(try await house.waiting().count == 1)
    }

    @Test("one that nobody is to be told any more is given up", arguments: Backend.available)
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

    @Test("one that cannot be written now, or may not be sent there, waits", arguments: Backend.available)
    func waits(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        try await leave(in: house)
        #expect(try await round(house) { _ in throw NoKey() } == Outbox.Round(postponed: 1))
        house.clock.advance(by: .minutes(2))
        // A private address, to which nothing goes unless the operator allows it.
        let callback = Callback(url: "http://127.0.0.1:9/out", body: "a=b", contentType: "text/plain")
        #expect(try await round(house) { _ in callback } == Outbox.Round(postponed: 1))
        #expect(try await house.waiting().map(\.attempts) == [2])
        await house.database.close()
    }

    @Test("one that is too late is not written", arguments: Backend.available)
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
}
