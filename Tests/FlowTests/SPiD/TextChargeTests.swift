import Storage
import TestSupport
import Testing
import Values

@testable import Authentication

@Suite("Codes by text message are counted for whoever asks for them")
struct TextChargeTests {
    @Test("texts that are refused use up the mails and sign-ups of the client", arguments: Backend.available)
    func refused(backend: Backend) async throws {
        try await PhoneStory.with(backend) { world in
            let app = try await TextApp(world)
            let bucket = Throttle.Bucket("sign-ups by|\(app.client.id)", burst: 600, refill: .seconds(6))
            func fullAt() async throws -> Timestamp? {
                try await world.server.database.rows(
                    "SELECT theoretical_arrival FROM throttles WHERE name = \(bucket.name)"
                ).first?.get("theoretical_arrival")
            }
            // Ten of its IP address, and the merchant's sixty.
            for number in 10...79 { #expect(try await app.start("+474000\(number)00").status == 200, "\(number)") }
            let before = try #require(try await fullAt())
            for number in 80...85 { #expect(try await app.start("+474000\(number)00").status == 429, "\(number)") }
            #expect(try await fullAt() == before)
        }
    }
}
