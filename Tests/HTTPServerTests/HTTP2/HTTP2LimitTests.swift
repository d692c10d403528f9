import HTTP
import Synchronization
import Testing

@testable import HTTPServer

@Suite("HTTP/2: limits") struct HTTP2LimitTests {
    @Test("An HTTP/2 connection runs at most 100 handlers at once, those of reset streams included")
    func handlers() {
        let client = HTTP2Client()
        var started = 0
        for index in 0..<300 {
            let stream = Int32(index * 2 + 1)
            client.request(stream)
            if client.next() != nil { started += 1 }
            client.send(Frame(.reset, stream: stream, Frame.number(8)))
        }
        #expect(started == 100)
        client.request(601)
        #expect(client.next() == nil)
        client.answer(Response(status: .ok), to: 1)
        #expect(client.next()?.stream == 601)
    }

    @Test("While 512 requests are at work in the server, an HTTP/2 connection begins one only if it has none")
    func crowd() {
        let client = HTTP2Client()
        client.session.service.working.add(511, ordering: .relaxed)
        for index in 0..<3 { client.request(Int32(index * 2 + 1)) }
        #expect(client.next()?.stream == 1)
        client.session.service.working.add(1, ordering: .relaxed)
        #expect(client.next() == nil, "it has one at work")
        client.answer(Response(status: .ok), to: 1)
        #expect(client.next()?.stream == 3, "a connection with none at work has its turn")
        client.session.service.working.subtract(1, ordering: .relaxed)
        #expect(client.next()?.stream == 5)
        client.session.service.working.subtract(511, ordering: .relaxed)
    }

    @Test("The 101st open stream of an HTTP/2 connection is refused, even before SETTINGS are acknowledged")
    func streams() {
        let client = HTTP2Client()
        for index in 0..<101 { client.request(Int32(index * 2 + 1)) }
        var started = 0
        while client.next() != nil { started += 1 }
        #expect(started == 100)
        #expect(client.resets(of: 201) == [7] || client.isOver)
    }

    static let floods: [(String, Frame)] = [
        ("PING", Frame(.ping, [UInt8](repeating: 0, count: 8))),
        ("SETTINGS", Frame(.settings)),
        ("PRIORITY", Frame(.priority, stream: 5, [0, 0, 0, 0, 1])),
        ("WINDOW_UPDATE", Frame(.windowUpdate, Frame.number(1))),
        ("WINDOW_UPDATE of a stream", Frame(.windowUpdate, stream: 1, Frame.number(1))),
        ("empty DATA", Frame(.data, stream: 1)),
        ("DATA that is padding", Frame(.data, flags: 8, stream: 1, [5, 0, 0, 0, 0, 0])),
        ("RST_STREAM of a closed stream", Frame(.reset, stream: 3, Frame.number(8))),
        ("an unknown frame", Frame(kind: 0x42, stream: 1, [1, 2, 3])),
        ("PRIORITY_UPDATE", Frame(kind: 0x10, stream: 0, [0, 0, 0, 1])),
    ]

    @Test("A flood of HTTP/2 frames without content, like PING or empty DATA, ends the connection", arguments: floods)
    func flood(_ name: String, _ frame: Frame) {
        let client = HTTP2Client()
        client.request(1, "POST", "/", endsStream: false)
        client.request(3, "POST", "/", endsStream: false)
        client.send(Frame(.reset, stream: 3, Frame.number(8)))
        for _ in 0..<100 where !client.isOver {
            client.send(Array([[UInt8]](repeating: frame.bytes, count: 100).joined()))
        }
        #expect(client.isOver)
        #expect(client.frames.count < 3_000)
        #expect(client.next() == nil)
    }

    @Test("Rapidly opened and reset HTTP/2 streams end the connection, and start at most 100 handlers")
    func rapidReset() {
        let client = HTTP2Client()
        var (started, sent) = (0, 0)
        while sent < 20_000, !client.isOver {
            let stream = Int32(sent * 2 + 1)
            client.send(HTTP2Client.head(stream), Frame(.reset, stream: stream, Frame.number(8)))
            while client.next() != nil { started += 1 }
            sent += 1
        }
        #expect(client.isOver)
        #expect(sent < 3_000)
        #expect(started <= 100)
    }

    static let provocations: [(String, @Sendable (Int32) -> [Frame])] = [
        ("a window overflow", { [Frame(.windowUpdate, stream: $0, Frame.number(0x7FFF_FFFF))] }),
        ("more DATA than announced", { [Frame(.data, flags: 1, stream: $0, [UInt8](repeating: 1, count: 40))] }),
        ("less DATA than announced", { [Frame(.data, flags: 1, stream: $0)] }),
        ("trailers with a pseudo-field", { [HTTP2Client.raw($0, [(":path", "/")])] }),
    ]

    @Test(
        "Many stream resets that an HTTP/2 client provokes from the server end the connection",
        arguments: provocations)
    func madeYouReset(_ name: String, _ frames: @Sendable (Int32) -> [Frame]) {
        let client = HTTP2Client()
        var sent = 0
        while sent < 20_000, !client.isOver {
            let stream = Int32(sent * 2 + 1)
            client.send(HTTP2Client.head(stream, "POST", "/", [("content-length", "5")], endsStream: false))
            client.send(frames(stream).flatMap(\.bytes))
            while client.next() != nil {}
            sent += 1
        }
        #expect(client.isOver)
        #expect(sent < 3_000)
    }

    @Test(
        "A flood of HTTP/2 streams over the limit ends the connection, even if the client reads the refusals",
        arguments: [true, false])
    func unreadRefusals(isRead: Bool) {
        let client = HTTP2Client()
        for index in 0..<100 { client.request(Int32(index * 2 + 1)) }
        var sent = 100
        while sent < 20_000, !client.isOver {
            let heads = (0..<100).map { HTTP2Client.head(Int32((sent + $0) * 2 + 1)).bytes }
            if isRead { client.send(Array(heads.joined())) } else { client.push(Array(heads.joined())) }
            sent += 100
        }
        #expect(client.isOver)
        #expect(sent < (isRead ? 3_000 : 800))
    }

    @Test("A client that resets each HTTP/2 stream after its whole answer, twenty a second, is still served")
    func honestResets() {
        let client = HTTP2Client()
        for index in 0..<3_500 {
            let stream = Int32(index * 2 + 1)
            client.request(stream)
            guard client.next() != nil else { break }
            client.answer(Response(status: .ok, body: .text("hello")), to: stream)
            client.send(Frame(.reset, stream: stream, Frame.number(8)), Frame(.ping, [UInt8](repeating: 1, count: 8)))
            client.advance(50)
        }
        #expect(!client.isOver)
    }

    @Test("Endless CONTINUATION frames end an HTTP/2 connection", arguments: [[], [0, 1, 0x61, 1, 0x62]])
    func continuation(_ payload: [UInt8]) {
        let client = HTTP2Client()
        client.send(Frame(.headers, flags: Frame.endStream, stream: 1, HPACK.block(HTTP2RequestTests.base)))
        for _ in 0..<2_000 where !client.isOver { client.send(Frame(.continuation, stream: 1, payload)) }
        #expect(client.isOver)
    }

    @Test("A small HTTP/2 header block that unpacks to thousands of fields is reset and reaches no handler")
    func bomb() {
        let client = HTTP2Client()
        // One entry in the table, then references to it (RFC 7541 §6.1, §6.2.1).
        let entry: [UInt8] = [0x40] + HPACK.text("x-a") + HPACK.text(String(repeating: "b", count: 100))
        let block = HPACK.block(HTTP2RequestTests.base) + entry + [UInt8](repeating: 0xBE, count: 15_000)
        client.send(Frame(.headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, block))
        #expect(client.next() == nil)
        #expect(client.resets(of: 1).count == 1)
        client.request(3)
        #expect(client.next()?.stream == 3)
    }

    @Test("An HTTP/2 client that opens the window byte by byte is disconnected before it has the whole answer")
    func dribble() {
        let client = HTTP2Client(settings: [0, 4] + Frame.number(1))
        client.request(1)
        _ = client.next()
        client.answer(Response(status: .ok, body: .bytes([UInt8](repeating: 1, count: 64 * 1024))), to: 1)
        for _ in 0..<64 * 1024 where !client.isOver { client.send(Frame(.windowUpdate, stream: 1, Frame.number(1))) }
        #expect(client.isOver)
        #expect(client.body(of: 1).count < 3_000)
    }

    @Test(
        "Bytes that are not HTTP/2 end an HTTP/2 connection",
        arguments: ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"])
    func junk(_ text: String) {
        let client = HTTP2Client(greets: false)
        client.send(Array(text.utf8))
        #expect(client.isOver)
    }

    @Test("After an HTTP/2 connection has ended, no request of it is read and late answers are dropped")
    func afterTheEnd() {
        let client = HTTP2Client()
        client.request(1)
        _ = client.next()
        client.send(Frame(.windowUpdate, Frame.number(0x7FFF_FFFF)))
        #expect(client.goAways.map(\.goAwayCode) == [3])
        #expect(client.isOver)
        client.request(3)
        #expect(client.next() == nil)
        client.answer(Response(status: .ok, body: .text("late")), to: 1)
        #expect(client.of(1).isEmpty)
        client.session.close()
        client.answer(Response(status: .ok, body: .text("late")), to: 1)
    }
}
