@testable import HTTP
import Testing

@testable import HTTPServer

/// How answers are written.
@Suite struct AnswerTests {
    private func written(
        _ response: Response, isHead: Bool = false, closes: Bool = false, minorVersion: Int = 1, common: Fields = [:]
    ) -> String {
        let date = Array("Sun, 06 Nov 1994 08:49:37 GMT".utf8)
        let writer = ResponseWriter(
            date: date, isHead: isHead, closes: closes, minorVersion: minorVersion, common: common)
        var output: [UInt8] = []
        _ = writer.write(response, into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test("An HTTP/1.1 answer has its fields, its length and the date")
    func plain() {
        let response = Response(status: .ok, headers: [.contentType: "text/plain"], body: .text("abc"))
        #expect(
            written(response)
                == "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n"
                + "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\nabc")
    }

    @Test("An HTTP/1.1 answer has the fields common to all answers, except those that it sets itself")
    func common() {
        let response = Response(status: .ok, headers: [.xFrameOptions: "SAMEORIGIN"])
        let text = written(response, common: [.xContentTypeOptions: "nosniff", .xFrameOptions: "DENY"])
        #expect(text.contains("X-Content-Type-Options: nosniff\r\n"))
        #expect(text.contains("X-Frame-Options: SAMEORIGIN\r\n"))
        #expect(!text.contains("DENY"))
        let split = Response(status: .ok, headers: [.location: "/a\n"])
        #expect(written(split, common: [.xFrameOptions: "DENY"]).contains("X-Frame-Options: DENY\r\n"))
    }

    @Test("An answer to HEAD has the fields of GET and no body")
    func head() {
        let response = Response(status: .ok, headers: [.contentType: "text/plain"], body: .text("abc"))
        #expect(written(response, isHead: true) + "abc" == written(response))
    }

    @Test("An answer with 204 or 304 has neither length nor body", arguments: [Status.noContent, .notModified])
    func noContent(_ status: Status) {
        let text = written(Response(status: status, body: .text("abc")))
        #expect(!text.contains("Content-Length") && text.hasSuffix("\r\n\r\n"))
    }

    @Test("An answer tells an HTTP/1.0 client that the connection stays open, and any client that it will close")
    func persistence() {
        let response = Response(status: .ok)
        #expect(written(response, minorVersion: 0).contains("Connection: keep-alive\r\n"))
        #expect(written(response, closes: true).contains("Connection: close\r\n"))
        #expect(!written(response).contains("Connection:"))
    }

    @Test("The server sets an answer's length, date and connection fields, whatever the handler sets")
    func framing() {
        let headers: Fields = [.contentLength: "5555", .transferEncoding: "chunked", .date: "never", .connection: "x"]
        let text = written(Response(status: .ok, headers: headers, body: .text("abc")))
        #expect(text.contains("Content-Length: 3\r\n") && !text.contains("chunked") && !text.contains("never"))
        #expect(!text.contains("5555") && !text.contains("Connection"))
    }

    @Test(
        "An answer with a line break in a field or its reason phrase becomes an empty 500",
        arguments: ["\r", "\n", "\0", "\u{7F}", "\r\n"])
    func splitting(_ bytes: String) {
        for response in [
            Response(status: .found, headers: [.location: "/a\(bytes)Set-Cookie: b=c"], body: .text("x")),
            Response(status: Status(code: 200, reasonPhrase: "OK\(bytes)A: b"), body: .text("x")),
        ] {
            let text = written(response)
            #expect(text.hasPrefix("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nDate: "))
            #expect(!text.contains("b"))
            var numbered = response
            numbered.headers[.xRequestID] = "0a7"
            #expect(written(numbered).contains("\r\nX-Request-Id: 0a7\r\n"))
        }
    }

    @Test(
        "Dates in answers are written as RFC 9110 defines",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_827_696, "Tue, 29 Feb 2000 12:34:56 GMT"), (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        ] as [(Int64, String)])
    func dates(_ second: Int64, _ text: String) {
        #expect(DateClock.text(ofSecond: second) == text)
    }

    @Test("The Date of an answer is the first second of 1970 while the clock is before it")
    func dateBeforeTheEpoch() {
        for second: Int64 in [-1, -86_401, -400_000_000, .min] {
            #expect(DateClock.text(ofSecond: second) == "Thu, 01 Jan 1970 00:00:00 GMT")
        }
    }

    @Test("A field value of an answer may have no control byte but a tab, wherever it stands")
    func everyByte() {
        for byte in UInt8.min...UInt8.max {
            let isAllowed = byte >= 0x20 && byte != 0x7F || byte == 0x09
            for length in [1, 16, 33, 100] {
                for place in [0, length / 2, length - 1] {
                    var value = [UInt8](repeating: 0x61, count: length)
                    value[place] = byte
                    #expect(ResponseRule.isValue(value.span) == isAllowed, "byte \(byte)")
                }
            }
        }
    }

    @Test("A known field name is recognized in any case, and each known name is in the lookup table once")
    func names() {
        #expect(FieldName("CONTENT-type") == .contentType && FieldName("content-type")?.text == "Content-Type")
        #expect(FieldName("x-forwarded-for") == .xForwardedFor && FieldName("x_forwarded_for") != .xForwardedFor)
        #expect(FieldName("X-Other") == FieldName("x-oTHER") && FieldName("X-Other")?.text == "X-Other")
        #expect(FieldName("X-Other") != FieldName("X-Another") && FieldName("a b") == nil && FieldName("") == nil)
        for text in KnownFieldNames.texts { #expect(FieldName(text)?.text == text) }
        #expect(KnownFieldNames.folded.map(\.description) == KnownFieldNames.texts.map { $0.lowercased() })
        #expect(Set(KnownFieldNames.texts.map { $0.lowercased() }).count == KnownFieldNames.texts.count)
        #expect(KnownFieldNames.texts.count <= UInt64.bitWidth, "each has a bit of a KnownFieldNameSet")
    }
}
