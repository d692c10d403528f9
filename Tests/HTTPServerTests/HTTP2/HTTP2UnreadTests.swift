import HTTP
import Testing

@testable import HTTPServer

@Suite("HTTP/2: unread answers") struct HTTP2UnreadTests {
    private static let closed: [UInt8] = [0, 4] + Frame.number(0)

    private static func answer(_ count: Int) -> Response {
        Response(status: .ok, body: .bytes([UInt8](repeating: 0x61, count: count)))
    }

    /// A client that has two answers of 600,000 bytes, and reads neither.
    private static func burdened() -> HTTP2Client {
        let client = HTTP2Client(settings: closed)
        for stream: Int32 in [1, 3] {
            client.request(stream)
            #expect(client.next()?.stream == stream)
            client.answer(answer(600_000), to: stream)
        }
        return client
    }

    @Test("An HTTP/2 connection begins no request while more than a mebibyte of its answers is unread")
    func held() {
        let client = Self.burdened()
        client.request(5)
        #expect(client.next() == nil)
        client.send(Frame(.windowUpdate, Frame.number(500_000)), Frame(.windowUpdate, stream: 1, Frame.number(500_000)))
        #expect(client.next()?.stream == 5)
        #expect(client.session.unsentBytes == 700_000)
    }

    @Test(
        "Unread answers of an HTTP/2 connection stop counting once their streams are reset", arguments: [true, false])
    func reset(byClient: Bool) {
        let client = Self.burdened()
        client.request(5)
        if byClient {
            client.send(Frame(.reset, stream: 1, Frame.number(8)), Frame(.reset, stream: 3, Frame.number(8)))
        } else {
            client.advance(31_000)
        }
        #expect(client.session.unsentBytes == 0)
        #expect(client.next()?.stream == 5)
    }

    @Test("HTTP/2 requests that wait may hold a limited amount of fields; further ones get REFUSED_STREAM")
    func heads() {
        let client = Self.burdened()
        let field = ("x-long", String(repeating: "a", count: 30_000))
        for index in 0..<30 { client.request(Int32(5 + 2 * index), "GET", "/a", [field]) }
        let refused = (0..<30).filter { client.resets(of: Int32(5 + 2 * $0)) == [7] }
        #expect(refused == Array(17..<30))
        #expect(!client.isOver)
    }

    @Test("HTTP/2 requests whose fields exceed 512 KiB in all wait until earlier ones are answered")
    func headsAtWork() {
        let client = HTTP2Client()
        // One entry of the table, and seven references to it in each request (RFC 7541 §6.1).
        let fields = HPACK.block(HTTP2RequestTests.base)
        let entry: [UInt8] = [0x40] + HPACK.text("x-a") + HPACK.text(String(repeating: "b", count: 4_000))
        let streams = (0..<100).map { Int32(2 * $0 + 1) }
        let blocks = streams.map { fields + ($0 == 1 ? entry : [0xBE]) + [UInt8](repeating: 0xBE, count: 6) }
        client.send(
            zip(streams, blocks).flatMap { Frame(.headers, flags: 5, stream: $0, $1).bytes })
        var begun: [Int32] = []
        while let started = client.next() { begun.append(started.stream) }
        #expect(begun == Array(streams.prefix(18)))
        #expect(client.session.bytesAtWork > 18 * 28_000)
        #expect(client.session.incompleteBytes > 82 * 28_000)

        client.answer(Response(status: .ok), to: 1)
        #expect(client.next()?.stream == 37)
        #expect(client.next() == nil)
        // Requests that are reset are still with their handlers.
        for stream in begun { client.send(Frame(.reset, stream: stream, Frame.number(8))) }
        #expect(client.next() == nil)
        while let stream = begun.popLast() {
            if stream > 1 { client.answer(Response(status: .ok), to: stream) }
            while let started = client.next() { begun.append(started.stream) }
        }
        client.answer(Response(status: .ok), to: 37)
        #expect(client.session.bytesAtWork == 0)
        #expect(client.session.incompleteBytes == 0)
    }

    @Test("The head of an HTTP/2 answer counts among the connection's unsent bytes until it is sent")
    func answerHeads() {
        let client = HTTP2Client()
        client.request(1)
        _ = client.next()
        let location = String(repeating: "a", count: 8_000)
        client.session.answer(Response(status: .found, headers: [.location: location]), to: 1, now: client.now)
        #expect(client.session.unsentBytes > 8_000)
        client.read()
        #expect(client.session.unsentBytes == 0)
    }

    @Test("An HTTP/2 client that reads its answers as they come has each next request begun at once")
    func honest() {
        let client = HTTP2Client()
        for index in 0..<1_000 {
            let stream = Int32(index * 2 + 1)
            client.request(stream)
            #expect(client.next()?.stream == stream)
            client.answer(Self.answer(30_000), to: stream)
            client.send(Frame(.windowUpdate, Frame.number(30_000)))
        }
        #expect(client.session.unsentBytes == 0)
    }

    @Test("While an HTTP/2 answer streams, its connection waits for the client only once there is no room")
    func streamed() {
        let client = HTTP2Client(settings: Self.closed)
        #expect(client.session.isWaitingForPeer)
        client.request(1)
        _ = client.next()
        #expect(!client.session.isWaitingForPeer)
        client.answer(Response(status: .ok, body: .stream(AsyncThrowingStream(unfolding: { nil }))), to: 1)
        #expect(!client.session.isWaitingForPeer)
        while client.session.send([UInt8](repeating: 0x61, count: 10_000), on: 1) {}
        client.read()
        #expect(client.session.isWaitingForPeer)
    }

    @Test("An HTTP/2 connection that the server abandons sends ENHANCE_YOUR_CALM and drops all its answers")
    func abandoned() {
        let client = Self.burdened()
        client.request(5)
        client.session.abandon(now: client.now)
        client.read()
        #expect(client.goAways.map(\.goAwayCode) == [11])
        #expect(client.isOver)
        #expect(client.session.unsentBytes == 0)
        client.answer(Self.answer(100), to: 5)
        #expect(client.session.unsentBytes == 0)
    }
}
