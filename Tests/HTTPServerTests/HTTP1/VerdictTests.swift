import HTTP
import Testing

/// What is refused and what is served, without a socket.
@Suite struct VerdictTests {
    static let next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test(
        "A request that breaks HTTP's grammar is refused, and the connection ends before the next request",
        arguments: BadRequest.all)
    func refused(_ request: BadRequest) async {
        let conversation = await Conversation([request.bytes + Array(Self.next.utf8)])
        #expect(conversation.status == request.status, "\(conversation)")
        #expect(conversation.isOver)
        #expect(conversation.sent.contains("Connection: close\r\n"))
        #expect(!conversation.requests.contains("GET /next "))
    }

    @Test(
        "A valid request that resembles a refused one is served, and so is the request after it",
        arguments: HonestRequest.all)
    func served(_ request: HonestRequest) async {
        let conversation = await Conversation([Array((request.text + Self.next).utf8)])
        #expect(conversation.requests == [request.asks, "GET /next "], "\(conversation)")
        #expect(!conversation.isOver)
    }

    @Test("A bad request is refused alike, in whatever pieces its bytes arrive", arguments: BadRequest.all)
    func refusedInPieces(_ request: BadRequest) async {
        await checkPieces(of: request.bytes + Array(Self.next.utf8))
    }

    @Test("A valid request is served alike, in whatever pieces its bytes arrive", arguments: HonestRequest.all)
    func servedInPieces(_ request: HonestRequest) async {
        await checkPieces(of: Array((request.text + Self.next).utf8))
    }

    /// In two at every byte (of a long one: near its ends, and now and then), and byte by byte.
    private func checkPieces(of bytes: [UInt8]) async {
        let whole = await Conversation([bytes])
        let apart = await Conversation(bytes.map { [$0] })
        #expect(apart == whole)
        let edge = bytes.count > 4000 ? 120 : 4000
        let cuts = (0...bytes.count).filter { $0 < edge || $0 > bytes.count - edge || $0 % 997 == 0 }
        for cut in cuts {
            let halves = await Conversation([Array(bytes[..<cut]), Array(bytes[cut...])])
            guard halves != whole else { continue }
            Issue.record("cut at \(cut): \(halves) instead of \(whole)")
            return
        }
    }

    @Test("An answer that the server gives by itself has the id that the handler gave it, with its reason")
    func numbered() async {
        for (text, refusal) in [
            ("GET / HTTP/1.1\r\n\r\n", "400 malformed_http: no Host"),
            ("GET /\(String(repeating: "a", count: 9_000)) HTTP/1.1\r\n", "414 target_too_long: target too long"),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nA: \(String(repeating: "a", count: 40_000))\r\n\r\n",
                "431 header_too_large: header too large"
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
                "501 unknown_transfer_coding: unknown transfer coding"
            ),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", "505 unknown_http_version: version not supported"),
        ] {
            let conversation = await Conversation([Array(text.utf8)])
            #expect(conversation.refusals == [refusal])
            #expect(conversation.sent.contains("\r\nX-Request-Id: refused-1\r\n"), "\(conversation)")
        }
    }

    @Test("TLS on a port that speaks http gets no answer, and the handler takes note of it")
    func encrypted() async {
        let hello: [UInt8] = [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03]
        for pieces in [[hello], hello.map { [$0] }] {
            let conversation = await Conversation(pieces)
            #expect(conversation.sent.isEmpty && conversation.isOver)
            #expect(conversation.refusals == ["0 tls_on_plain_port: this port speaks http"])
        }
    }

    @Test("A request whose connection ends within its header or its body gets a 400")
    func cutOff() async {
        for text in ["G", "GET / HTTP/1.1\r\nHost: a\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r"] {
            let conversation = await Conversation([Array(text.utf8)], ends: true)
            #expect(conversation.requests == [] && conversation.status == 400 && conversation.isOver)
        }
        for text in ["Content-Length: 3\r\n\r\nab", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"] {
            let conversation = await Conversation([Array("POST / HTTP/1.1\r\nHost: a\r\n\(text)".utf8)], ends: true)
            #expect(conversation.requests == ["POST / cutOff"] && conversation.status == 400 && conversation.isOver)
        }
    }

    @Test("A request's field name may have token bytes only, and its value no control byte but a tab")
    func everyByte() async {
        for byte in UInt8.min...UInt8.max {
            let before = Array("GET / HTTP/1.1\r\nHost: a\r\n".utf8)
            let name = await Conversation([before + [0x41, byte, 0x41] + Array(": b\r\n\r\n".utf8)])
            #expect((name.status == 200) == (byte.isTokenCharacter || byte == 0x3A), "byte \(byte) in a name")
            let value = await Conversation([before + Array("A: b".utf8) + [byte, 0x62] + Array("\r\n\r\n".utf8)])
            // RFC 9110 §5.5.
            let isAllowed = byte >= 0x20 && byte != 0x7F || byte == 0x09
            #expect((value.status == 200) == isAllowed, "byte \(byte) in a value")
        }
    }
}
