import HTTP
import Testing

@testable import HTTPServer

@Suite("HTTP/2: deadlines and drain") struct HTTP2TimeTests {
    @Test("An incomplete HTTP/2 header ends the connection at its deadline, however often more of it comes")
    func slowHead() {
        let client = HTTP2Client()
        client.send(Frame(.headers, stream: 1, HPACK.block(HTTP2RequestTests.base)))
        for _ in 0..<3 {
            client.advance(3_000)
            client.send(Frame(.continuation, stream: 1, [0, 1, 0x61, 1, 0x62]))
        }
        #expect(!client.isOver)
        client.advance(3_000)
        #expect(client.isOver)
    }

    @Test("An incomplete HTTP/2 body goes to the handler as cut off at its deadline, however often more comes")
    func slowBody() throws {
        let client = HTTP2Client()
        client.request(1, "POST", "/", endsStream: false)
        for _ in 0..<3 {
            client.advance(3_000)
            client.send(Frame(.data, stream: 1, [1]), Frame(.ping, [UInt8](repeating: 1, count: 8)))
        }
        #expect(client.next() == nil)
        client.advance(3_000)
        #expect(try #require(client.next()).request.body.fault == .cutOff)
        client.answer(Response(status: .requestTimeout), to: 1)
        #expect(client.fields(of: 1)[":status"] == "408")
        client.advance(1_001)
        #expect(client.resets(of: 1) == [0])
    }

    @Test("An HTTP/2 connection without a request ends after its idle time; pings do not prolong it")
    func idle() {
        let client = HTTP2Client()
        for _ in 0..<5 {
            client.advance(11_000)
            client.send(Frame(.ping, [UInt8](repeating: 1, count: 8)))
        }
        #expect(!client.isOver)
        client.advance(11_000)
        #expect(client.isOver)
        #expect(client.goAways.map(\.goAwayCode) == [0])
    }

    @Test("A running HTTP/2 handler has no deadline; its connection's idle time begins with the answer")
    func working() {
        let client = HTTP2Client()
        client.request(1)
        _ = client.next()
        client.advance(3_600_000)
        #expect(!client.isOver)
        client.answer(Response(status: .ok), to: 1)
        client.advance(59_000)
        #expect(!client.isOver)
        client.advance(2_000)
        #expect(client.isOver)
    }

    @Test("A draining HTTP/2 connection still takes requests for a second, names the last stream, and finishes")
    func drain() {
        let client = HTTP2Client()
        client.request(1)
        #expect(client.next()?.stream == 1)
        client.session.drain(now: client.now)
        client.read()
        #expect(client.goAways.map(\.number) == [0x7FFF_FFFF])
        client.request(3)
        #expect(client.next()?.stream == 3)
        client.advance(1_001)
        #expect(client.goAways.map(\.number) == [0x7FFF_FFFF, 3])
        client.request(5)
        #expect(client.next() == nil)
        client.answer(Response(status: .ok, body: .text("one")), to: 1)
        #expect(!client.isOver)
        client.answer(Response(status: .ok, body: .text("three")), to: 3)
        #expect(client.body(of: 3) == Array("three".utf8))
        #expect(client.of(5).isEmpty)
        #expect(client.isOver)
    }

    @Test("An unused HTTP/2 connection ends at the second call to drain")
    func drainIdle() {
        let client = HTTP2Client()
        client.session.drain(now: client.now)
        client.read()
        #expect(!client.isOver)
        client.session.drain(now: client.now)
        client.read()
        #expect(client.isOver)
        #expect(client.goAways.count == 2)
    }

    @Test("An HTTP/2 client that ends its side gets the answer to a whole request, and none to a cut one")
    func halfClose() {
        let client = HTTP2Client()
        client.request(1)
        _ = client.next()
        client.request(3, "POST", "/", endsStream: false)
        client.session.receiveEnd(now: client.now)
        client.read()
        #expect(!client.isOver)
        client.answer(Response(status: .ok, body: .text("hello")), to: 1)
        #expect(client.body(of: 1) == Array("hello".utf8))
        #expect(client.next() == nil)
        #expect(client.isOver)
    }
}
