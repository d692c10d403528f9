import Cryptography
import Foundation
import JSON
import Mail
import Outbound
import Storage
import Synchronization
import TestSupport
import Testing
import Values

@testable import Delivery

@Suite("Text messages by gateway or folder") struct DeliveryTextTests {
    private static let message = TextMessage(recipient: "+4740000000", text: "123456 is your code — æøå.")

    private func queue(in house: DeliveryFixture) async throws {
        let delivery = house.outbox.delivery(Self.message, usefulFor: .minutes(10))
        try await house.database.write { db in try delivery.store(in: db) }
    }

    /// A gateway that answers `status`, and what it got.
    private final class Gateway: Sendable {
        private final class Notes: Sendable {
            let requests = Mutex<[(head: [String], body: String)]>([])
        }
        private let listener: LocalListener
        private let notes: Notes
        static let secret = "the gateway's secret"

        init(_ status: String) throws {
            let notes = Notes()
            self.notes = notes
            listener = try LocalListener(serving: { connection in
                guard let head = connection.head(), let body = connection.body(after: head) else { return }
                notes.requests.withLock { $0.append((head, body)) }
                connection.say("HTTP/1.1 \(status)\r\nContent-Length: 0\r\nConnection: close\r\n")
            })
        }

        var requests: [(head: [String], body: String)] { notes.requests.withLock { $0 } }
        func stop() { listener.stop() }

        func transport(_ house: DeliveryFixture) -> TextTransport {
            let policy = OutboundPolicy(allowedPrivateRanges: ["127.0.0.1/32"].compactMap { CIDR($0) })
            return TextTransport(
                sender: TextGateway(
                    url: "http://127.0.0.1:\(listener.port)/sms?key=1", secret: Self.secret,
                    outbound: Outbound(policy: policy, logger: house.log.logger), clock: house.clock))
        }
    }

    @Test(
        "The text message gateway gets number and text, signed, with the same id at each attempt",
        arguments: Backend.available)
    func gateway(_ backend: Backend) async throws {
        let house = try await DeliveryFixture(backend)
        let slow = try Gateway("503 Busy")
        try await queue(in: house)
        #expect(try await house.outbox.deliverDue(by: slow.transport(house)) == Outbox.Round(postponed: 1))
        house.clock.advance(by: .minutes(2))
        let gateway = try Gateway("202 Accepted")
        #expect(try await house.outbox.deliverDue(by: gateway.transport(house)) == Outbox.Round(delivered: 1))
        let request = try #require(gateway.requests.first)
        #expect(request.head.first == "POST /sms?key=1 HTTP/1.1")
        let document = try JSON(parsing: Array(request.body.utf8))
        #expect(document["to"]?.string == Self.message.recipient && document["text"]?.string == Self.message.text)
        let earlier = try JSON(parsing: Array(try #require(slow.requests.first).body.utf8))
        #expect(document["id"] == earlier["id"] && document["id"]?.string?.isEmpty == false)
        let time = house.clock.now.seconds
        let digest = Digest.hmacSHA256(Array("\(time).\(request.body)".utf8), key: Array(Gateway.secret.utf8))
        let signature = "spindle-signature: t=\(time),v1=\(Hexadecimal.encode(digest))"
        #expect(request.head.contains { $0.lowercased() == signature })
        #expect(try await house.waiting().isEmpty)
        slow.stop()
        gateway.stop()
        await house.database.close()
    }

    @Test(
        "A text message is given up if the gateway refuses its number, and no log names the number",
        arguments: ["400 No", "422 No"])
    func refused(_ status: String) async throws {
        let house = try await DeliveryFixture(.sqlite)
        let gateway = try Gateway(status)
        try await queue(in: house)
        #expect(try await house.outbox.deliverDue(by: gateway.transport(house)) == Outbox.Round(givenUp: 1))
        #expect(try await house.waiting().isEmpty)
        for line in house.log.lines { #expect(!line.contains("40000000") && !line.contains("123456")) }
        gateway.stop()
        await house.database.close()
    }

    @Test("A text message written to a folder is a file that only its owner can read")
    func folder() async throws {
        let house = try await DeliveryFixture(.sqlite)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try await queue(in: house)
        let transport = TextTransport(sender: TextFolder(path: folder.path))
        #expect(try await house.outbox.deliverDue(by: transport) == Outbox.Round(delivered: 1))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let file = folder.appendingPathComponent(try #require(names.first))
        #expect(names.count == 1 && file.lastPathComponent.hasSuffix(".sms.json"))
        let document = try JSON(parsing: Array(try Data(contentsOf: file)))
        #expect(document["to"]?.string == Self.message.recipient && document["text"]?.string == Self.message.text)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try FileManager.default.removeItem(at: folder)
        await house.database.close()
    }
}
