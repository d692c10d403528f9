import HTTP
import Testing

@testable import HTTPServer

@Suite("HTTP/2: requests") struct HTTP2RequestTests {
    @Test("An HTTP/2 request reaches the handler whole, with Host from :authority and its cookies in one field")
    func whole() throws {
        let client = HTTP2Client()
        client.request(1, "GET", "/a?b=c", [("cookie", "x=1"), ("accept", "*/*"), ("cookie", "y=2")])
        let started = try #require(client.next())
        #expect(started.stream == 1)
        #expect(started.request.method == .get)
        #expect(started.request.target == Target("/a?b=c"))
        #expect(started.request.headers[.host] == "id.example")
        #expect(started.request.headers[values: .cookie] == ["x=1; y=2"])
        #expect(started.request.peer == "192.0.2.7")
        #expect(started.request.route == 7)
        #expect(client.next() == nil)
    }

    @Test("An HTTP/2 request that arrives byte by byte is read as the same request")
    func byteByByte() throws {
        let client = HTTP2Client(greets: false)
        let head = HTTP2Client.head(1, "POST", "/a", [("content-length", "5")], endsStream: false)
        let data = Frame(.data, flags: Frame.endStream, stream: 1, Array("hello".utf8))
        for byte in Frame.preface + Frame(.settings).bytes + head.bytes + data.bytes { client.send([byte]) }
        #expect(try #require(client.next()).request.body.text == "hello")
    }

    @Test("An HTTP/2 body in several frames, padded ones too, is joined; trailers are dropped")
    func body() throws {
        let client = HTTP2Client()
        client.request(1, "POST", endsStream: false)
        client.send(Frame(.data, stream: 1, Array("he".utf8)))
        client.send(Frame(.data, flags: 8, stream: 1, [3] + Array("ll".utf8) + [0, 0, 0]))
        #expect(client.next() == nil)
        client.send(Frame(.data, stream: 1, Array("o".utf8)), HTTP2Client.raw(1, [("authorization", "x")]))
        let request = try #require(client.next()).request
        #expect(request.body.text == "hello")
        #expect(!request.headers.contains(.authorization))
    }

    @Test("An HTTP/2 client that expects 100-continue is told to go on")
    func expectation() {
        let client = HTTP2Client()
        client.request(1, "POST", "/a", [("expect", "100-continue")], endsStream: false)
        #expect(client.fields(of: 1)[":status"] == "100")
        client.send(Frame(.data, flags: Frame.endStream, stream: 1, [1]))
        #expect(client.next() != nil)
    }

    static let malformations: [(String, [(String, String)])] = [
        ("Host unlike :authority", base + [("host", "other.example")]),
        ("two Hosts", base + [("host", "id.example"), ("host", "id.example")]),
        ("a Host that is none", [(":method", "GET"), (":path", "/"), (":scheme", "https"), (":authority", "a,b")]),
        ("userinfo", [(":method", "GET"), (":path", "/"), (":scheme", "https"), (":authority", "a@b")]),
        ("no authority and no Host", [(":method", "GET"), (":path", "/"), (":scheme", "https")]),
        ("another scheme", [(":method", "GET"), (":path", "/"), (":scheme", "http"), (":authority", "id.example")]),
        ("a path without a slash", [(":method", "GET"), (":path", "a"), (":scheme", "https"), (":authority", "a")]),
        ("an absolute path", [(":method", "GET"), (":path", "https://a/"), (":scheme", "https"), (":authority", "a")]),
        ("a fragment", [(":method", "GET"), (":path", "/a#b"), (":scheme", "https"), (":authority", "a")]),
        ("an empty path", [(":method", "GET"), (":path", ""), (":scheme", "https"), (":authority", "a")]),
        ("a method that is no token", [(":method", "G T"), (":path", "/"), (":scheme", "https"), (":authority", "a")]),
        ("two methods", base + [(":method", "GET")]),
        ("a pseudo-field after a field", [("accept", "a")] + base),
        ("an unknown pseudo-field", base + [(":protocol", "websocket")]),
        ("Transfer-Encoding", base + [("transfer-encoding", "chunked")]),
        ("Connection", base + [("connection", "close")]),
        ("Upgrade", base + [("upgrade", "h2c")]),
        ("TE other than trailers", base + [("te", "gzip")]),
        ("an upper-case name", base + [("Accept", "a")]),
        ("an empty name", base + [("", "a")]),
        ("a line break in a value", base + [("accept", "a\r\nb")]),
        ("NUL in a value", base + [("accept", "a\0b")]),
        ("a signed length", base + [("content-length", "+0")]),
        ("two lengths", base + [("content-length", "0"), ("content-length", "0")]),
        ("a length without a body", base + [("content-length", "5")]),
    ]
    static let base = [(":method", "GET"), (":path", "/"), (":scheme", "https"), (":authority", "id.example")]

    @Test(
        "A malformed HTTP/2 request is reset, reaches no handler, and the connection goes on", arguments: malformations)
    func malformed(_ name: String, _ fields: [(String, String)]) {
        let client = HTTP2Client()
        client.send(HTTP2Client.raw(1, fields))
        #expect(client.next() == nil)
        #expect(client.resets(of: 1).count == 1)
        client.request(3)
        #expect(client.next()?.stream == 3)
    }

    @Test(
        "An HTTP/2 Host field that differs from :authority only in case or the default port is accepted",
        arguments: ["ID.example", "id.example:443"])
    func equalHost(_ host: String) {
        let client = HTTP2Client()
        client.request(1, "GET", "/", [("host", host)])
        #expect(client.next()?.request.headers[values: .host] == ["id.example"])
    }

    @Test(
        "An HTTP/2 request whose body has another length than announced is reset and reaches no handler",
        arguments: ["4", "6"])
    func length(_ announced: String) {
        let client = HTTP2Client()
        client.request(1, "POST", "/", [("content-length", announced)], endsStream: false)
        client.send(Frame(.data, flags: Frame.endStream, stream: 1, Array("hello".utf8)))
        #expect(client.next() == nil)
        #expect(client.resets(of: 1).count == 1)
    }

    @Test("The server itself answers an HTTP/2 request that is over a limit or has an unknown method or Expect")
    func refused() {
        let client = HTTP2Client()
        client.request(1, "GET", "/", (0..<101).map { ("x-\($0)", "a") })
        client.request(3, "GET", "/", (0..<5).map { ("x-\($0)", String(repeating: "b", count: 8_000)) })
        client.request(5, "GET", "/" + String(repeating: "a", count: 8 * 1024))
        client.request(7, "TRACE")
        client.request(9, "GET", "/", [("expect", "200-ok")])
        #expect(client.next() == nil)
        #expect([1, 3, 5, 7, 9].map { client.fields(of: $0)[":status"] } == ["431", "431", "414", "501", "417"])
    }

    @Test(
        "An HTTP/2 body over its limit reaches the handler as a fault; RST_STREAM NO_ERROR follows the answer",
        arguments: [true, false])
    func tooLarge(announced: Bool) throws {
        let client = HTTP2Client(bodyLimit: 10)
        client.request(1, "POST", "/", announced ? [("content-length", "11")] : [], endsStream: false)
        if !announced { client.send(Frame(.data, stream: 1, [UInt8](repeating: 1, count: 11))) }
        #expect(try #require(client.next()).request.body.fault == .tooLarge(limit: 10))
        client.answer(Response(status: .contentTooLarge, body: .text("no")), to: 1)
        #expect(client.body(of: 1) == Array("no".utf8))
        #expect(client.resets(of: 1).isEmpty)
        client.advance(1_001)
        #expect(client.of(1).last?.kind == Frame.Kind.reset.rawValue)
        #expect(client.resets(of: 1) == [0])
    }

    @Test("Dropped HTTP/2 body bytes are credited to the window: after 100 refused bodies a good one is read")
    func credit() throws {
        let client = HTTP2Client(bodyLimit: 10_000)
        for index in 0..<100 {
            let stream = Int32(index * 2 + 1)
            client.request(stream, "POST", "/", endsStream: false)
            for _ in 0..<6 { client.send(Frame(.data, stream: stream, [UInt8](repeating: 1, count: 10_001))) }
            #expect(try #require(client.next()).request.body.fault != nil)
            client.answer(Response(status: .contentTooLarge), to: stream)
        }
        let credited = client.of(0, .windowUpdate).reduce(0) { $0 + Int($1.number) }
        #expect(credited >= 100 * 6 * 10_001 - 65_535)
        #expect(client.goAways.isEmpty)
        client.request(201, "POST", "/", endsStream: false)
        client.send(Frame(.data, flags: Frame.endStream, stream: 201, Array("good".utf8)))
        #expect(try #require(client.next()).request.body.text == "good")
    }

    @Test("The table of HTTP/2 streams finds a stream by its id, whichever other streams are removed")
    func found() {
        var (table, known) = (StreamTable(), Set<Int32>())
        for turn: Int32 in 0..<400 {
            let id = 2 * turn + 1
            table.append(HTTP2Stream(id: id))
            known.insert(id)
            // The oldest, the newest and some between go.
            if turn % 3 == 0, let gone = [known.min(), known.max(), known.first][Int(turn / 3) % 3] {
                #expect(table.remove(gone)?.id == gone)
                #expect(table.remove(gone) == nil && table[gone] == nil)
                known.remove(gone)
            }
            #expect(table.all.map(\.id) == known.sorted())
            for id in known { #expect(table[id]?.id == id) }
            #expect(table[id + 1] == nil && table[0] == nil && table[id + 2] == nil)
        }
        #expect(!table.isEmpty)
    }
}

extension Request.Body {
    var text: String? {
        guard case .bytes(let bytes) = self else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    var fault: Request.Fault? {
        guard case .fault(let fault) = self else { return nil }
        return fault
    }
}
