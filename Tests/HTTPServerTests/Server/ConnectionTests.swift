import HTTP
import Testing

@testable import HTTPServer

/// One connection, over a socket.
@Suite struct ConnectionTests {
    static func get(_ path: String, _ more: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: a\r\n\(more)\r\n"
    }

    @Test("An HTTP/1.1 connection serves one request after another")
    func persistence() async throws {
        try await Served.run { served in
            let wire = try served.dial()
            for number in 1...20 {
                try wire.send("POST /\(number) HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab")
                let answer = try wire.answer()
                #expect(answer.status == 200 && answer.body == "POST /\(number) ab")
                #expect(answer["date"]?.hasSuffix(" GMT") == true && answer["connection"] == nil)
            }
        }
    }

    @Test("A bad HTTP/1.1 request is answered with an error, and its connection is closed", arguments: BadRequest.all)
    func refused(_ request: BadRequest) async throws {
        try await Served.run(loops: 1) { served in
            let wire = try served.dial()
            try wire.send(request.bytes + Array(Self.get("/next").utf8))
            let all = wire.readToEnd()
            let first = try #require(WireAnswer.first(in: all))
            #expect(first.0.status == request.status && first.1 == all.count)
            #expect(first.0["connection"] == "close")
            #expect(!served.echo.requests.contains("GET /next "))
        }
    }

    @Test("Pipelined requests are answered in their order")
    func pipelining() async throws {
        try await Served.run { served in
            let wire = try served.dial()
            try wire.send((1...50).map { Self.get("/\($0)") }.joined())
            for number in 1...50 { #expect(try wire.answer().body == "GET /\(number) ") }
        }
    }

    @Test("Pipelined requests run one at a time")
    func oneAtWork() async throws {
        try await Served.run { served in
            let wire = try served.dial()
            try wire.send(Self.get("/gate") + Self.get("/2"))
            #expect(await Served.eventually { served.echo.gate.waiting == 1 })
            #expect(served.echo.requests == ["GET /gate "])
            served.echo.gate.open()
            #expect(try wire.answer().body == "GET /gate ")
            #expect(try wire.answer().body == "GET /2 ")
        }
    }

    @Test("An HTTP/1.1 client that has ended its side gets its answers, then the connection ends")
    func halfClose() async throws {
        try await Served.run { served in
            let wire = try served.dial()
            try wire.send(Self.get("/gate") + Self.get("/2"))
            wire.endSending()
            #expect(await Served.eventually { served.echo.gate.waiting == 1 })
            served.echo.gate.open()
            #expect(try wire.answer().body == "GET /gate ")
            #expect(try wire.answer().body == "GET /2 ")
            #expect(wire.readToEnd().isEmpty)
        }
    }

    @Test("A HEAD request is answered without a body, and the next request is read")
    func head() async throws {
        try await Served.run { served in
            let wire = try served.dial()
            for path in ["/a", "/stream", "/nothing", "/split"] {
                try wire.send("HEAD \(path) HTTP/1.1\r\nHost: a\r\n\r\n" + Self.get("/b"))
                _ = try wire.answer(toHead: true)
                #expect(try wire.answer().body == "GET /b ")
            }
        }
    }

    @Test("A client that expects 100-continue gets 100 once, and not if its body is refused or already there")
    func expectation() async throws {
        try await Served.run { served in
            let wire = try served.dial()
            let head = "Host: a\r\nExpect: 100-Continue\r\n"
            try wire.send("POST / HTTP/1.1\r\n\(head)Content-Length: 2\r\n\r\n")
            #expect(try wire.answer().status == 100)
            try wire.send("ab")
            #expect(try wire.answer().body == "POST / ab")
            try wire.send("POST / HTTP/1.1\r\n\(head)Content-Length: 2\r\n\r\nab")
            #expect(try wire.answer().body == "POST / ab")
            try wire.send("POST /small HTTP/1.1\r\n\(head)Content-Length: 17\r\n\r\n")
            let refused = try wire.answer()
            #expect(refused.status == 413 && refused["connection"] == "close")
            #expect(wire.readToEnd().isEmpty)
        }
    }

    @Test("A request body over its route's limit reaches the handler as a fault, and nothing after it is read")
    func tooLarge() async throws {
        try await Served.run { served in
            for body in [
                "Content-Length: 17\r\n\r\n12345678901234567",
                "Transfer-Encoding: chunked\r\n\r\n9\r\n123456789\r\n8\r\n12345678\r\n0\r\n\r\n",
            ] {
                let wire = try served.dial()
                try wire.send("POST /small HTTP/1.1\r\nHost: a\r\n\(body)" + Self.get("/next"))
                let answer = try wire.answer()
                #expect(answer.status == 413 && answer.body == "POST /small tooLarge(limit: 16)")
                #expect(answer["connection"] == "close" && wire.readToEnd().isEmpty)
            }
            #expect(!served.echo.requests.contains("GET /next "))
        }
    }

    @Test("A client that goes on sending a refused request body can still read the refusal")
    func lingering() async throws {
        try await Served.run { served in
            for _ in 0..<20 {
                let wire = try served.dial()
                try wire.send("POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n")
                try? wire.send([UInt8](repeating: 0x61, count: 10_000_000))
                #expect(try wire.answer().status == 413)
            }
        }
    }

    @Test("An answer with a line break in a field becomes a 500, and the connection goes on")
    func splitting() async throws {
        try await Served.run { served in
            let wire = try served.dial()
            try wire.send(Self.get("/split") + Self.get("/b"))
            let answer = try wire.answer()
            #expect(answer.status == 500 && answer["set-cookie"] == nil && answer["location"] == nil)
            #expect(try wire.answer().body == "GET /b ")
        }
    }

    @Test("Connection: close and HTTP/1.0 end a connection, HTTP/1.0 with keep-alive does not")
    func closing() async throws {
        try await Served.run { served in
            for text in [Self.get("/a", "Connection: x, Close\r\n"), "GET /a HTTP/1.0\r\n\r\n"] {
                let wire = try served.dial()
                try wire.send(text + Self.get("/b"))
                #expect(try wire.answer()["connection"] == "close")
                #expect(wire.readToEnd().isEmpty)
            }
            let wire = try served.dial()
            for _ in 1...3 {
                try wire.send("GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
                #expect(try wire.answer()["connection"] == "keep-alive")
            }
            #expect(!served.echo.requests.contains("GET /b "))
        }
    }

    @Test("A new connection gets no answer meant for one that was reset during its request")
    func strangers() async throws {
        // On a busy machine the last of two hundred is used long after it was opened.
        var limits = ServerLimits()
        limits.requestTimeout = .seconds(120)
        try await Served.run(limits: limits) { served in
            for round in 1...4 {
                let askers = try (0..<100).map { _ in try served.dial() }
                for asker in askers { try asker.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n") }
                #expect(await Served.eventually { served.echo.gate.waiting == 100 * round })
                for asker in askers { asker.reset() }
            }
            // These reuse the descriptors and the places of those that were reset.
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

    @Test("A new connection in an earlier connection's slot has another identifier")
    func identifiers() {
        let first = ConnectionID(slot: 5, generation: 1)
        #expect(first != ConnectionID(slot: 5, generation: 2))
        #expect(ConnectionID(raw: first.raw).slot == 5 && ConnectionID(raw: first.raw).generation == 1)
    }

    @Test("A hundred requests at once are answered, and the tasks that ran them end with their event loop")
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
