@testable import HTTPServer
import Testing

/// Connections that take the place of others.
@Suite struct GenerationTests {
    @Test("A connection that sent nothing gets nothing while others are reset during their requests")
    func strangers() async throws {
        // The last of two hundred is asked long after it was dialled, on a machine that has much else to do.
        var limits = ServerLimits()
        limits.requestTimeout = .seconds(120)
        try await Served.run(limits: limits) { served in
            for round in 1...4 {
                let askers = try (0..<100).map { _ in try served.dial() }
                for asker in askers { try asker.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n") }
                #expect(await Served.eventually { served.echo.gate.waiting == 100 * round })
                for asker in askers { asker.reset() }
            }
            // These have the numbers of descriptors, and the places, of those.
            let silent = try (0..<200).map { _ in try served.dial() }
            try await Task.sleep(for: .milliseconds(100))
            served.echo.gate.open()
            try await Task.sleep(for: .milliseconds(300))
            for wire in silent { #expect(wire.readWhatIsThere().isEmpty) }
            for (number, wire) in silent.enumerated() {
                try wire.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try wire.answer().body == "GET /\(number) ")
            }
        }
    }

    @Test("A connection's identifier finds nothing once the connection is gone")
    func identifiers() {
        let first = ConnectionID(slot: 5, generation: 1)
        #expect(first != ConnectionID(slot: 5, generation: 2))
        #expect(ConnectionID(raw: first.raw).slot == 5 && ConnectionID(raw: first.raw).generation == 1)
    }
}
