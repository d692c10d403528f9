import Testing

@testable import HTTPServer

/// Tasks that serve one request after the other.
@Suite struct RequestQueueTests {
    @Test("More requests than tasks may wait are answered, and the tasks end with their loop")
    func many() async throws {
        weak var loop: EventLoop?
        try await Served.run(loops: 1) { served in
            loop = served.loops.loops.first
            #expect(loop != nil)
            let askers = try (0..<100).map { _ in try served.dial() }
            for asker in askers { try asker.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n") }
            #expect(await Served.eventually { served.echo.gate.waiting == 100 })
            served.echo.gate.open()
            for asker in askers { #expect(try asker.answer().body == "GET /gate ") }
            for (number, asker) in askers.enumerated() {
                try asker.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try asker.answer().body == "GET /\(number) ")
            }
        }
        #expect(await Served.eventually { loop == nil }, "a task that waits keeps its loop")
    }
}
