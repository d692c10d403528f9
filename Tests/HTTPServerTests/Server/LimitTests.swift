import HTTPServer
import Testing

/// More connections than may be. That a process without descriptors goes on is shown from outside:
/// `Tests/Interop/test_sockets.py`.
@Suite struct LimitTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("connections over the limit wait, are served when others end, and the log says so once")
    func connections() async throws {
        var limits = ServerLimits()
        limits.maxConnections = 4
        try await Served.run(limits: limits) { served in
            let wires = try (0..<12).map { _ in try served.dial() }
            for wire in wires { try wire.send(Self.get) }
            #expect(await Served.eventually { served.echo.requests.count == 4 })
            for wire in wires {
                #expect(try wire.answer().status == 200)
                wire.close()
            }
            #expect(served.log.messages.filter { $0.contains("as many connections as may be") }.count == 1)
        }
    }

    @Test("connections that nobody uses are closed for new ones, and those in use are not", arguments: [true, false])
    func unused(hasAsked: Bool) async throws {
        var limits = ServerLimits()
        limits.maxConnections = 4
        try await Served.run(limits: limits) { served in
            let working = try served.dial()
            try working.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
            let unused = try (0..<3).map { _ in try served.dial() }
            for wire in unused where hasAsked {
                try wire.send(Self.get)
                #expect(try wire.answer().status == 200)
            }
            #expect(await Served.eventually { served.echo.requests.count == (hasAsked ? 4 : 1) })
            for _ in 0..<3 {
                let newcomer = try served.dial()
                try newcomer.send(Self.get)
                #expect(try newcomer.answer().status == 200)
            }
            served.echo.gate.open()
            #expect(try working.answer().status == 200)
        }
    }
}
