import HTTPServer
import Testing

/// Clients that are slow.
@Suite struct DeadlineTests {
    private static let head = "POST / HTTP/1.1\r\nHost: a\r\n"

    private var short: ServerLimits {
        var limits = ServerLimits()
        limits.requestTimeout = .milliseconds(300)
        limits.idleTimeout = .milliseconds(300)
        limits.answerTimeout = .milliseconds(300)
        return limits
    }

    @Test(
        "A connection that sends nothing, or nothing more, is closed after its idle time without an answer",
        arguments: ["", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"])
    func silence(_ first: String) async throws {
        try await Served.run(limits: short) { served in
            let wire = try served.dial()
            if !first.isEmpty {
                try wire.send(first)
                #expect(try wire.answer().status == 200)
            }
            #expect(wire.readToEnd().isEmpty)
        }
    }

    @Test(
        "A request header that is incomplete at its deadline is refused, even if bytes of it keep coming",
        arguments: [0, 1])
    func slowHead(_ before: Int) async throws {
        try await Served.run(limits: short) { served in
            let wire = try served.dial()
            for _ in 0..<before {
                try wire.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try wire.answer().status == 200)
            }
            try await drip(Self.head + String(repeating: "A: b\r\n", count: 100), to: wire)
            #expect(try wire.answer().status == 408)
            #expect(wire.readToEnd().isEmpty && served.echo.requests.count == before)
        }
    }

    @Test(
        "A body that is incomplete at its deadline reaches the handler as cut off, even if bytes keep coming",
        arguments: ["Content-Length: 1000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"])
    func slowBody(_ framing: String) async throws {
        try await Served.run(limits: short) { served in
            let wire = try served.dial()
            try wire.send(Self.head + framing)
            try await drip(String(repeating: "1\r\na\r\n", count: 100), to: wire)
            #expect(try wire.answer().status == 400)
            #expect(wire.readToEnd().isEmpty && served.echo.requests == ["POST / cutOff"])
        }
    }

    @Test("After a request body has missed its deadline, no further request of the connection is read")
    func late() async throws {
        try await Served.run(limits: short) { served in
            let wire = try served.dial()
            try wire.send(Self.head + "Content-Length: 10\r\n\r\nabc")
            #expect(try wire.answer().status == 400)
            try? wire.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(wire.readToEnd().isEmpty && !served.echo.requests.contains("GET /next "))
        }
    }

    @Test("A running HTTP/1.1 handler has no deadline")
    func slowHandler() async throws {
        try await Served.run(limits: short) { served in
            let wire = try served.dial()
            try wire.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
            try await Task.sleep(for: .milliseconds(900))
            served.echo.gate.open()
            #expect(try wire.answer().status == 200)
        }
    }

    @Test("An answer that the client does not read is given up at its deadline")
    func unread() async throws {
        try await Served.run(limits: short) { served in
            let wire = try Wire(port: served.port, receiveBuffer: 4096)
            try wire.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
            try await Task.sleep(for: .seconds(1))
            #expect(wire.readToEnd().count < 4_000_000)
        }
    }

    /// A byte every 20 milliseconds, until the server closes the connection.
    private func drip(_ text: String, to wire: Wire) async throws {
        for byte in text.utf8.prefix(25) {
            try? wire.send([byte])
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
