import HTTP
import Testing

@testable import HTTPServer

@Suite("HTTP/2: answers") struct HTTP2AnswerTests {
    @Test("An HTTP/2 answer has its status, fields in lower case, length and Date, and no HTTP/1.1 fields")
    func fields() {
        let client = HTTP2Client()
        client.request(1)
        _ = client.next()
        let headers: Fields = [.contentType: "text/plain", .connection: "close", .transferEncoding: "chunked"]
        client.answer(Response(status: .created, headers: headers, body: .text("hello")), to: 1)
        let fields = client.fields(of: 1)
        #expect(fields[":status"] == "201")
        #expect(fields["content-type"] == "text/plain")
        #expect(fields["content-length"] == "5")
        #expect(fields["date"]?.hasSuffix(" GMT") == true)
        #expect(fields.count == 4)
        #expect(client.body(of: 1) == Array("hello".utf8))
        #expect(client.of(1).last?.endsStream == true)
        #expect(client.resets(of: 1).isEmpty)
    }

    @Test("An HTTP/2 answer has the fields common to all answers unless it sets them, and fields of any name")
    func commonFields() throws {
        let client = HTTP2Client(commonFields: [.xContentTypeOptions: "nosniff", .xFrameOptions: "DENY"])
        client.request(1)
        _ = client.next()
        let own = try #require(FieldName("X-Of-Our-Own"))
        client.answer(Response(status: .ok, headers: [.xFrameOptions: "SAMEORIGIN", own: "yes"]), to: 1)
        let fields = client.fields(of: 1)
        #expect(fields["x-content-type-options"] == "nosniff" && fields["x-frame-options"] == "SAMEORIGIN")
        #expect(fields["x-of-our-own"] == "yes" && fields.count == 6)
        client.request(3)
        _ = client.next()
        client.answer(Response(status: .noContent), to: 3)
        #expect(client.fields(of: 3)["x-frame-options"] == "DENY")
    }

    @Test(
        "An HTTP/2 answer to HEAD has the length and no body",
        arguments: [Response.Body.text("hello"), .bytes([1, 2, 3, 4, 5])])
    func head(_ body: Response.Body) {
        let client = HTTP2Client()
        client.request(1, "HEAD")
        _ = client.next()
        client.answer(Response(status: .ok, body: body), to: 1)
        #expect(client.fields(of: 1)["content-length"] == "5")
        #expect(client.of(1, .data).isEmpty)
        #expect(client.of(1, .headers).last?.endsStream == true)
    }

    @Test(
        "HTTP/2 answers with status 204 or 304 have neither body nor length",
        arguments: [Status.noContent, .notModified])
    func bodiless(_ status: Status) {
        let client = HTTP2Client()
        client.request(1)
        _ = client.next()
        client.answer(Response(status: status, body: .text("hello")), to: 1)
        #expect(client.fields(of: 1)["content-length"] == nil)
        #expect(client.of(1, .data).isEmpty)
    }

    @Test("An HTTP/2 answer with a line break in a field becomes a 500")
    func splitting() {
        let client = HTTP2Client()
        client.request(1)
        _ = client.next()
        client.answer(Response(status: .ok, headers: [.location: "/a\r\nset-cookie: b"], body: .text("secret")), to: 1)
        #expect(client.fields(of: 1)[":status"] == "500")
        #expect(client.body(of: 1).isEmpty)
        client.request(3)
        _ = client.next()
        client.answer(Response(status: .ok, body: .text("fine")), to: 3)
        #expect(client.fields(of: 3)[":status"] == "200")
        #expect(client.body(of: 3) == Array("fine".utf8))
    }

    @Test("The HTTP/2 server's refusals, and its 500 for a faulty answer, have the common fields and the request's id")
    func commonFieldsOfRefusals() {
        let client = HTTP2Client(commonFields: [.xContentTypeOptions: "nosniff"])
        client.request(1, "GET", "/" + String(repeating: "a", count: 9_000))
        // Read once: the table by which fields are compressed follows what was read.
        let refusal = client.fields(of: 1)
        #expect(refusal[":status"] == "414" && refusal["x-content-type-options"] == "nosniff")
        #expect(refusal["x-request-id"] == "target_too_long")
        client.request(3)
        _ = client.next()
        client.answer(Response(status: .ok, headers: [.location: "/a\n", .xRequestID: "0a7"]), to: 3)
        let fault = client.fields(of: 3)
        #expect(fault["x-request-id"] == "0a7" && fault[":status"] == "500")
        #expect(fault["x-content-type-options"] == "nosniff")
    }

    @Test("An HTTP/2 answer larger than the client's window continues once the client enlarges the window")
    func window() {
        let client = HTTP2Client()
        client.request(1)
        _ = client.next()
        let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        client.answer(Response(status: .ok, body: .bytes(body)), to: 1)
        #expect(client.body(of: 1).count == 65_535)
        #expect(!client.hasEnded(1))
        client.send(Frame(.windowUpdate, Frame.number(100_000)), Frame(.windowUpdate, stream: 1, Frame.number(100_000)))
        #expect(client.body(of: 1) == body)
        #expect(client.of(1, .data).last?.endsStream == true)
    }

    @Test("An HTTP/2 answer that the client's window holds back is reset at its deadline, despite pings")
    func unread() {
        let client = HTTP2Client(settings: [0, 4] + Frame.number(0))
        client.request(1)
        _ = client.next()
        client.answer(Response(status: .ok, body: .text("hello")), to: 1)
        for _ in 0..<3 {
            client.advance(9_000)
            client.send(Frame(.ping, [UInt8](repeating: 1, count: 8)))
        }
        #expect(client.resets(of: 1).isEmpty)
        client.advance(9_000)
        #expect(client.resets(of: 1) == [8])
        #expect(client.body(of: 1).isEmpty)
        #expect(!client.isOver)
    }

    @Test("An HTTP/2 answer whose window grows a byte at a time is reset at its deadline")
    func trickled() {
        let client = HTTP2Client(settings: [0, 4] + Frame.number(1))
        client.request(1)
        _ = client.next()
        client.answer(Response(status: .ok, body: .text("hello")), to: 1)
        for _ in 0..<3 {
            client.advance(9_000)
            client.send(Frame(.windowUpdate, stream: 1, Frame.number(1)))
        }
        #expect(client.resets(of: 1).isEmpty)
        #expect(client.body(of: 1) == Array("hell".utf8))
        client.advance(9_000)
        #expect(client.resets(of: 1) == [8])
    }

    @Test("An HTTP/2 answer that the client reads slowly, but at 64 KiB per deadline or more, is not reset")
    func slow() {
        let client = HTTP2Client(settings: [0, 4] + Frame.number(1))
        client.request(1)
        _ = client.next()
        client.answer(Response(status: .ok, body: .bytes([UInt8](repeating: 1, count: 200_000))), to: 1)
        let room = Frame.number(33_000)
        client.send(Frame(.windowUpdate, Frame.number(1_000_000)))
        for _ in 0..<6 {
            client.advance(14_000)
            client.send(Frame(.windowUpdate, stream: 1, room))
        }
        #expect(client.resets(of: 1).isEmpty)
        #expect(client.body(of: 1).count > 190_000)
    }

    @Test("A streamed HTTP/2 answer has its parts in order, and ends only when its source finishes it")
    func streamed() {
        let client = HTTP2Client()
        startStream(client)
        #expect(client.session.send(Array("one ".utf8), on: 1))
        client.read()
        client.advance(60_000)
        #expect(client.session.send(Array("two".utf8), on: 1))
        client.read()
        #expect(client.body(of: 1) == Array("one two".utf8))
        #expect(!client.hasEnded(1))
        client.session.finish(1, failed: false)
        client.read()
        #expect(client.of(1).last?.endsStream == true)
        #expect(client.fields(of: 1)["content-length"] == nil)
        #expect(!client.session.isOpen(1))
    }

    @Test("The source of a streamed HTTP/2 answer is told when there is no room, and when there is again")
    func room() {
        let client = HTTP2Client()
        startStream(client)
        let part = [UInt8](repeating: 7, count: 70_000)
        #expect(client.session.send(part, on: 1) == false)
        #expect(client.session.nextRoom() == nil)
        client.read()
        #expect(client.session.nextRoom() == 1)
        #expect(client.session.send(part, on: 1) == false)
        client.read()
        #expect(client.session.nextRoom() == nil)
        client.send(Frame(.windowUpdate, Frame.number(100_000)), Frame(.windowUpdate, stream: 1, Frame.number(100_000)))
        #expect(client.session.nextRoom() == 1)
        #expect(client.body(of: 1).count == 140_000)
    }

    @Test("A streamed HTTP/2 answer that fails midway ends with RST_STREAM, not as if it were complete")
    func broken() {
        let client = HTTP2Client()
        startStream(client)
        _ = client.session.send([1], on: 1)
        client.session.finish(1, failed: true)
        client.read()
        #expect(client.resets(of: 1) == [2])
        #expect(!client.hasEnded(1))
    }

    @Test("A streamed HTTP/2 answer stops when the client resets its stream")
    func gone() {
        let client = HTTP2Client()
        startStream(client)
        _ = client.session.send([UInt8](repeating: 7, count: 200_000), on: 1)
        client.read()
        client.send(Frame(.reset, stream: 1, Frame.number(8)))
        #expect(!client.session.isOpen(1))
        #expect(client.session.nextRoom() == 1)
        #expect(client.session.send([1], on: 1) == false)
        client.session.finish(1, failed: false)
    }

    private func startStream(_ client: HTTP2Client) {
        client.request(1)
        _ = client.next()
        client.answer(Response(status: .ok, body: .stream(AsyncThrowingStream { _ in })), to: 1)
        #expect(client.session.isOpen(1))
    }
}
