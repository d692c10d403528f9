import Logging
import Outbound
import Storage
import Synchronization
import TestSupport
import Testing
import Values

@testable import Delivery

/// Callbacks to the servers of clients.
@Suite struct DeliveryCallbackTests {
    /// A client's server that answers every request with one status.
    private final class Receiver: Sendable {
        private final class Notes: Sendable {
            let requests = Mutex<[(head: [String], body: String)]>([])
        }
        private let listener: LocalListener
        private let notes: Notes

        init(_ status: String) throws {
            let notes = Notes()
            self.notes = notes
            listener = try LocalListener(serving: { connection in
                guard let head = connection.head(), let body = connection.body(after: head) else { return }
                notes.requests.withLock { $0.append((head, body)) }
                connection.say(
                    "HTTP/1.1 \(status)\r\nContent-Length: 0\r\nConnection: close\r\nLocation: /else\r\n")
            })
        }

        var url: String { "http://127.0.0.1:\(listener.port)/hook?a=b" }
        var requests: [(head: [String], body: String)] { notes.requests.withLock { $0 } }
        func stop() { listener.stop() }
    }

    private func carrier(
        _ log: RecordedLog, allowing ranges: [String] = ["127.0.0.1/32"], addresses: [String: String] = [:]
    ) -> CallbackTransport {
        let policy = OutboundPolicy(allowedPrivateRanges: ranges.compactMap { CIDR($0) })
        return CallbackTransport(outbound: Outbound(policy: policy, logger: log.logger)) { client, _ in
            addresses[client]
        }
    }

    @Test(
        "A waiting callback goes to its client's present address, and is dropped if the client has none",
        arguments: Backend.available
    )
    func addressOfNow(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        let (old, new) = (try Receiver("204 No Content"), try Receiver("204 No Content"))
        for client in ["moved", "gone"] {
            let waiting = house.outbox.delivery(
                Callback(url: old.url, body: client, contentType: "text/plain", client: client), share: .common)
            try await house.database.write { db in try waiting.store(in: db) }
        }
        let carrier = carrier(house.log, addresses: ["moved": new.url])
        #expect(try await house.outbox.deliverDue(by: carrier) == Outbox.Round(delivered: 2))
        #expect(new.requests.map(\.body) == ["moved"] && old.requests.isEmpty)
        #expect(try await house.waiting().isEmpty)
        await house.database.close()
    }

    private func post(_ url: String, in house: DeliveryFixture) async throws {
        let parcel = house.outbox.delivery(
            Callback(url: url, body: #"{"user_id":"42"}"#, contentType: "application/json"), share: .common)
        try await house.database.write { db in try parcel.store(in: db) }
    }

    @Test("A callback is delivered unchanged and then removed", arguments: Backend.available)
    func arrives(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        let receiver = try Receiver("204 No Content")
        try await post(receiver.url, in: house)
        #expect(try await house.outbox.deliverDue(by: carrier(house.log)) == Outbox.Round(delivered: 1))
        let request = try #require(receiver.requests.first)
        #expect(request.head.first == "POST /hook?a=b HTTP/1.1")
        #expect(request.head.contains { $0.lowercased() == "content-type: application/json" })
        #expect(request.body == #"{"user_id":"42"}"#)
        #expect(try await house.waiting().isEmpty)
        await house.database.close()
    }

    @Test(
        "A callback is retried after a redirect, 404, 429 or 500, and given up after 410",
        arguments: [
            ("500 Internal Server Error", Outbox.Round(postponed: 1)), ("404 Not Found", Outbox.Round(postponed: 1)),
            ("302 Found", Outbox.Round(postponed: 1)), ("429 Too Many Requests", Outbox.Round(postponed: 1)),
            ("410 Gone", Outbox.Round(givenUp: 1)), ("200 OK", Outbox.Round(delivered: 1)),
        ])
    func answers(_ status: String, _ expected: Outbox.Round) async throws {
        let house = try await DeliveryFixture(.sqlite)
        let receiver = try Receiver(status)
        try await post(receiver.url, in: house)
        #expect(try await house.outbox.deliverDue(by: carrier(house.log)) == expected)
        #expect(receiver.requests.count == 1, "no redirect is followed")
        #expect(!house.log.lines.contains { $0.contains("a=b") || $0.contains("42") && $0.contains("user_id") })
        await house.database.close()
    }

    @Test("A callback to an unreachable receiver or a forbidden address is retried later", arguments: [true, false])
    func unreachable(isAllowed: Bool) async throws {
        let house = try await DeliveryFixture(.sqlite)
        let receiver = try Receiver("200 OK")
        if isAllowed { receiver.stop() }
        try await post(receiver.url, in: house)
        let carrier = carrier(house.log, allowing: isAllowed ? ["127.0.0.1/32"] : [])
        #expect(try await house.outbox.deliverDue(by: carrier) == Outbox.Round(postponed: 1))
        #expect(receiver.requests.isEmpty)
        await house.database.close()
    }
}
