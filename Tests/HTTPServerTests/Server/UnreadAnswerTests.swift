import HTTPServer
import Testing

/// `/large` is answered with 4,000,000 bytes.
@Suite("Memory for unread answers") struct UnreadAnswerTests {
    private static let line = "connection ended: its answers are not read"
    private static let settings = Frame.preface + Frame(.settings, [0, 4] + Frame.number(0)).bytes

    @Test("When unread answers take too much, the connection with most is closed and others are answered")
    func most() async throws {
        let certificate = try TestCertificate()
        // Its answer waits for all of this, on a machine that has much else to do.
        var limits = ServerLimits()
        limits.answerTimeout = .seconds(300)
        try await Served.run(loops: 1, limits: limits, heldOfEach: 10_000_000, tls: certificate.settings) { served in
            let modest = try TLSClient(port: served.port, protocols: ["h2"])
            modest.send(Self.settings + HTTP2Client.head(1, "GET", "/large").bytes)
            #expect(await Served.eventually { served.echo.requests.count == 1 })
            let greedy = try TLSClient(port: served.port, protocols: ["h2"])
            // At once: after the first answer the next request would wait.
            let streams: [Int32] = [1, 3, 5]
            greedy.send(Self.settings + streams.flatMap { HTTP2Client.head($0, "GET", "/large").bytes })
            var frames: [Frame] = []
            while !frames.contains(where: { $0.kind == Frame.Kind.goAway.rawValue }) {
                let next = greedy.frames()
                guard !next.isEmpty else { break }
                frames += next
            }
            #expect(frames.filter { $0.kind == Frame.Kind.goAway.rawValue }.map(\.goAwayCode) == [11])
            #expect(served.log.messages.count { $0 == Self.line } == 1)

            let other = try TLSClient(port: served.port, protocols: ["http/1.1"])
            #expect(other.ask(TLSServerTests.request)?.status == 200)
            modest.send(Frame(.settings, [0, 4] + Frame.number(65_535)).bytes)
            #expect(modest.answers(to: [1])[1]?.body.count == 4_000_000)
        }
    }

    @Test("A plain connection whose unread answer takes too much is closed, and others are answered")
    func plain() async throws {
        try await Served.run(loops: 1, heldOfEach: 100_000) { served in
            let wire = try Wire(port: served.port, receiveBuffer: 4096)
            try wire.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await Served.eventually { served.log.messages.contains(Self.line) })
            #expect(wire.readToEnd().count < 4_000_000)
            let neighbour = try served.dial()
            try neighbour.send("GET /b HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try neighbour.answer().body == "GET /b ")
        }
    }
}
