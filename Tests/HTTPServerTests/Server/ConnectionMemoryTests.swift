import HTTP
import Testing

@testable import HTTPServer

/// `/large` is answered with 4,000,000 bytes.
@Suite("Memory for requests and answers under way") struct ConnectionMemoryTests {
    private static let line = "connection ended: its answers are not read"
    private static let settings = Frame.preface + Frame(.settings, [0, 4] + Frame.number(0)).bytes

    @Test("When unread answers take too much memory, the connection with most is closed, others are served")
    func most() async throws {
        let certificate = try TestCertificate()
        // Its answer waits until all of this is done, on a machine that may be busy.
        var limits = ServerLimits()
        limits.answerTimeout = .seconds(300)
        try await Served.run(loops: 1, limits: limits, heldOfEach: 10_000_000, tls: certificate.settings) { served in
            let modest = try TLSClient(port: served.port, protocols: ["h2"])
            modest.send(Self.settings + HTTP2Client.head(1, "GET", "/large").bytes)
            #expect(await Served.eventually { served.echo.requests.count == 1 })
            let greedy = try TLSClient(port: served.port, protocols: ["h2"])
            // All at once: after the first answer the next request would wait.
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

    @Test("An HTTP/1.1 connection whose unread answer takes too much memory is closed, others are served")
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

    private static let requestLine = "connection ended: its requests do not end"
    private static let openSettings = Frame.preface + Frame(.settings).bytes

    @Test("When incomplete requests take too much memory, the connection with most is closed, others are served")
    func heads() async throws {
        let certificate = try TestCertificate()
        try await Served.run(loops: 1, heldOfEach: 100_000, tls: certificate.settings) { served in
            let modest = try TLSClient(port: served.port, protocols: ["h2"])
            modest.send(
                Self.openSettings + HTTP2Client.head(1, "POST", "/a", [("x", "y")], endsStream: false).bytes)
            let greedy = try TLSClient(port: served.port, protocols: ["h2"])
            let field = ("x-a", String(repeating: "v", count: 15_000))
            let streams = stride(from: Int32(1), through: 15, by: 2)
            greedy.send(
                Self.openSettings
                    + streams.flatMap { HTTP2Client.head($0, "POST", "/a", [field], endsStream: false).bytes })
            var frames: [Frame] = []
            while !frames.contains(where: { $0.kind == Frame.Kind.goAway.rawValue }) {
                let next = greedy.frames()
                guard !next.isEmpty else { break }
                frames += next
            }
            #expect(frames.filter { $0.kind == Frame.Kind.goAway.rawValue }.map(\.goAwayCode) == [11])
            #expect(served.log.messages.count { $0 == Self.requestLine } == 1)
            modest.send(Frame(.data, flags: Frame.endStream, stream: 1, Array("b".utf8)).bytes)
            #expect(modest.answers(to: [1])[1]?.body == Array("POST /a b".utf8))
        }
    }

    @Test("An HTTP/1.1 connection whose body exceeds the memory for all requests is closed, others are served")
    func plainRequests() async throws {
        try await Served.run(loops: 1, heldOfEach: 40_000) { served in
            let wire = try served.dial()
            try wire.send(
                "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n" + String(repeating: "b", count: 50_000))
            #expect(await Served.eventually { served.log.messages.contains(Self.requestLine) })
            let neighbour = try served.dial()
            try neighbour.send("POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nc")
            #expect(try neighbour.answer().body == "POST /b c")
        }
    }

    @Test("When requests at work take too much memory, the connection with most is closed, others are served")
    func atWork() async throws {
        let certificate = try TestCertificate()
        try await Served.run(loops: 1, heldOfEach: 100_000, tls: certificate.settings) { served in
            let greedy = try TLSClient(port: served.port, protocols: ["h2"])
            let field = ("x-a", String(repeating: "v", count: 15_000))
            let streams = stride(from: Int32(1), through: 15, by: 2)
            greedy.send(
                Self.openSettings + streams.flatMap { HTTP2Client.head($0, "GET", "/gate", [field]).bytes })
            let line = "connection ended: its requests at work are too large together"
            #expect(await Served.eventually { served.log.messages.contains(line) })
            let neighbour = try TLSClient(port: served.port, protocols: ["http/1.1"])
            #expect(neighbour.ask(TLSServerTests.request)?.status == 200)
        }
    }

    @Test("An HTTP/1.1 request counts against the memory limit from its first byte until it is answered")
    func plainHeads() {
        let handler = ScriptedHandler(bodyLimit: 1_000)
        let service = Service(handler: handler, limits: ServerLimits(), logger: KeptLog().logger)
        let session = HTTP1Session(service: service, dates: DateClock(), peer: nil, now: 0)
        let head = "POST /a HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "b", count: 20_000))\r\n"
        session.receive(Array(head.utf8).span, now: 0)
        #expect(session.incompleteBytes == head.utf8.count)
        session.receive(Array("Content-Length: 10\r\n\r\n12345".utf8).span, now: 0)
        let count = head.utf8.count + 22
        #expect(session.incompleteBytes == count + 5)
        session.receive(Array("67890GET /next".utf8).span, now: 0)
        #expect(session.nextRequest(now: 0) != nil)
        #expect(session.bytesAtWork == count + 10)
        #expect(session.incompleteBytes == 9)
        session.answer(Response(status: .ok), to: 0, now: 0)
        var output: [UInt8] = []
        session.produce(into: &output, now: 0)
        #expect(session.bytesAtWork == 0)
        #expect(session.incompleteBytes == 9)
    }

    @Test("An HTTP/2 request stops counting as incomplete when its handler begins or its stream is reset")
    func givenBack() {
        let client = HTTP2Client()
        client.request(1, "POST", endsStream: false)
        client.send(Frame(.data, stream: 1, [UInt8](repeating: 0x61, count: 900)))
        #expect(client.session.incompleteBytes > 900)
        client.send(Frame(.data, flags: Frame.endStream, stream: 1, [0x61]))
        #expect(client.next()?.stream == 1)
        #expect(client.session.incompleteBytes == 0)
        client.request(3, "POST", endsStream: false)
        #expect(client.session.incompleteBytes > 0)
        client.send(Frame(.reset, stream: 3, Frame.number(8)))
        #expect(client.session.incompleteBytes == 0)
    }
}
