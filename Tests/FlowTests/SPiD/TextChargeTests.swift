import Storage
import TestSupport
import Testing
import Values

@testable import Authentication

@Suite("What text messages use up")
struct TextChargeTests {
    @Test("Text messages that are refused use up none of the client's mails and sign-ups", arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            let app = try await TextApp(world)
            let bucket = Throttle.Bucket("sign-ups by|\(app.client.id)", burst: 600, refill: .seconds(6))
            func fullAt() async throws -> Timestamp? {
                try await world.server.database.rows(
                    "SELECT theoretical_arrival FROM throttles WHERE name = \(bucket.name)"
                ).first?.get("theoretical_arrival")
            }
            // Ten of its IP address, and thirty of its own.
            for number in 10...49 { #expect(try await app.start("+474000\(number)00").status == 200, "\(number)") }
            let before = try #require(try await fullAt())
            for number in 50...55 { #expect(try await app.start("+474000\(number)00").status == 429, "\(number)") }
            #expect(try await fullAt() == before)
        }
    }

    @Test(
        "One client's text messages leave thirty of the merchant's sixty to its other clients",
        arguments: Backend.available)
    func others(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            let (app, other) = (try await TextApp(world), try await TextApp(world))
            for number in 10...99 { _ = try await app.start("+474000\(number)00") }
            #expect(try await app.start().status == 429)
            // What is left of the merchant's sixty.
            for number in 10...39 { #expect(try await other.start("+474001\(number)00").status == 200, "\(number)") }
            #expect(try await other.start().status == 429)
        }
    }
}
