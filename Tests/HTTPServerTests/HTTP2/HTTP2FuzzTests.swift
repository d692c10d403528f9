import HTTP
import Testing

@testable import HTTPServer

@Suite("HTTP/2: hostile bytes") struct HTTP2FuzzTests {
    /// The same numbers in every run.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 11 ^ state << 21
        }
    }

    private static let conversation: [UInt8] =
        Frame(.settings, [0, 4] + Frame.number(1_000)).bytes
        + HTTP2Client.head(1, "GET", "/a", [("cookie", "a=b"), ("cookie", "c=d")]).bytes
        + HTTP2Client.head(3, "POST", "/b", [("content-length", "5")], endsStream: false).bytes
        + Frame(.windowUpdate, stream: 1, Frame.number(100)).bytes
        + Frame(.data, flags: 9, stream: 3, [2] + Array("hello".utf8) + [0, 0]).bytes
        + Frame(.ping, [1, 2, 3, 4, 5, 6, 7, 8]).bytes
        + Frame(.headers, flags: 1, stream: 5, HPACK.block(HTTP2RequestTests.base)).bytes
        + Frame(.continuation, flags: 4, stream: 5, HPACK.block([("x-a", "b")])).bytes
        + Frame(.reset, stream: 5, Frame.number(8)).bytes
        + Frame(kind: 0x10, stream: 0, [0, 0, 0, 1, 0x75]).bytes
        + Frame(.windowUpdate, Frame.number(100_000)).bytes + Frame(.goAway, Frame.number(0) + Frame.number(0)).bytes

    @Test(
        "An HTTP/2 connection with random wrong bytes in it is served or ended, and never stays open",
        arguments: 0..<20)
    func mutations(_ seed: Int) {
        var numbers = Numbers(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        for _ in 0..<100 {
            var bytes = Self.conversation
            for _ in 0..<Int.random(in: 1...6, using: &numbers) {
                let index = Int.random(in: 0..<bytes.count, using: &numbers)
                switch Int.random(in: 0..<4, using: &numbers) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &numbers)
                case 1: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &numbers)
                case 2: bytes.remove(at: index)
                default: bytes.insert(UInt8.random(in: 0...255, using: &numbers), at: index)
                }
            }
            talk(bytes, inPartsOf: Int.random(in: 1...64, using: &numbers))
        }
    }

    private func talk(_ bytes: [UInt8], inPartsOf size: Int) {
        let client = HTTP2Client()
        var position = 0
        while position < bytes.count {
            client.send(Array(bytes[position..<min(bytes.count, position + size)]))
            position += size
            answerAll(client)
        }
        // A request, its answer, and silence.
        for _ in 0..<4 {
            client.advance(61_000)
            answerAll(client)
        }
        #expect(client.isOver)
    }

    private func answerAll(_ client: HTTP2Client) {
        while let started = client.next() {
            #expect(started.request.headers.contains(.host))
            let body = [UInt8](repeating: 1, count: 2_000)
            client.answer(Response(status: .ok, body: .bytes(body)), to: started.stream)
        }
    }

    @Test("An HTTP/2 connection cut at any byte frees its streams, and answers to them are dropped")
    func cuts() {
        for end in stride(from: 0, to: Self.conversation.count, by: 3) {
            let client = HTTP2Client()
            client.send(Array(Self.conversation[..<end]))
            var started: [Int32] = []
            while let request = client.next() { started.append(request.stream) }
            client.session.close()
            for stream in started { client.answer(Response(status: .ok, body: .text("late")), to: stream) }
            #expect(client.session.streams.isEmpty)
        }
    }
}
