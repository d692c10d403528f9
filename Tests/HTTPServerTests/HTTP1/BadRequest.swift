import Testing

/// A request that is refused, with its status.
struct BadRequest: CustomTestStringConvertible, Sendable {
    let name: String
    let bytes: [UInt8]
    let status: Int

    init(_ name: String, _ text: String, _ status: Int = 400) {
        self.name = name
        bytes = Array(text.utf8)
        self.status = status
    }

    init(_ name: String, bytes: [UInt8], _ status: Int = 400) {
        (self.name, self.bytes, self.status) = (name, bytes, status)
    }

    var testDescription: String { name }

    private static func get(_ line: String) -> String { "GET / HTTP/1.1\r\nHost: a\r\n\(line)\r\n\r\n" }
    private static func post(_ lines: String, _ body: String = "") -> String {
        "POST / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n\(body)"
    }
    private static func chunked(_ body: String) -> String { post("Transfer-Encoding: chunked", body) }

    static let all: [BadRequest] = hosts + lengths + codings + chunks + extensions + lines + requestLines + sizes

    static let hosts = [
        BadRequest("no Host", "GET / HTTP/1.1\r\n\r\n"),
        BadRequest("two Hosts", get("Host: a")),
        BadRequest("two different Hosts", get("Host: b")),
        BadRequest("empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
        BadRequest("Host with user", "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n"),
        BadRequest("Host with comma", "GET / HTTP/1.1\r\nHost: a,b\r\n\r\n"),
        BadRequest("Host with blank", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"),
        BadRequest("Host with slash", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
        BadRequest("Host with a port too large", "GET / HTTP/1.1\r\nHost: a:99999\r\n\r\n"),
        BadRequest("Host with a port of letters", "GET / HTTP/1.1\r\nHost: a:b\r\n\r\n"),
        BadRequest("Host with half a literal", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n"),
        BadRequest("Host with a bad literal", "GET / HTTP/1.1\r\nHost: [::x]\r\n\r\n"),
        BadRequest("target and Host differ", "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadRequest("target with user", "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadRequest("target of another scheme", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
    ]

    static let lengths = [
        BadRequest("two equal Content-Lengths", post("Content-Length: 1\r\nContent-Length: 1", "x")),
        BadRequest("two Content-Lengths", post("Content-Length: 1\r\nContent-Length: 2", "xy")),
        BadRequest("list of Content-Lengths", post("Content-Length: 1, 1", "x")),
        BadRequest("Content-Length with a plus", post("Content-Length: +1", "x")),
        BadRequest("Content-Length with a minus", post("Content-Length: -1", "x")),
        BadRequest("Content-Length in hexadecimal", post("Content-Length: 0x1", "x")),
        BadRequest("Content-Length with a blank", post("Content-Length: 1 1", "x")),
        BadRequest("Content-Length with a fraction", post("Content-Length: 1.0", "x")),
        BadRequest("Content-Length of foreign digits", post("Content-Length: ١", "x")),
        BadRequest("empty Content-Length", post("Content-Length:", "x")),
        BadRequest("Content-Length of 2^63", post("Content-Length: 9223372036854775808", "x")),
        BadRequest("Content-Length of 2^64 + 1", post("Content-Length: 18446744073709551617", "x")),
        BadRequest("Content-Length of 400 digits", post("Content-Length: \(String(repeating: "9", count: 400))", "x")),
        BadRequest("Content-Length over the limit", post("Content-Length: 65537", "x"), 413),
        BadRequest("large Content-Length", post("Content-Length: 9223372036854775807", "x"), 413),
        BadRequest(
            "Content-Length with Transfer-Encoding",
            post("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n")),
        BadRequest(
            "Transfer-Encoding with Content-Length",
            post("Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n")),
    ]

    static let codings =
        [
            "xchunked", "gzip", "gzip, chunked", "chunked, chunked", "chunked, gzip", "chunked;a=b", "\"chunked\"", "",
            "identity", "chunked,", "chunked\u{A0}", "chunked\r\nTransfer-Encoding: chunked",
        ].map { BadRequest("Transfer-Encoding '\($0)'", post("Transfer-Encoding: \($0)", "0\r\n\r\n"), 501) } + [
            BadRequest("Transfer-Encoding with VT", post("Transfer-Encoding: \u{B}chunked", "0\r\n\r\n")),
            BadRequest(
                "Transfer-Encoding in HTTP/1.0",
                "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ]

    /// Outside RFC 9112 §7.1.1: a proxy may see the line's end elsewhere.
    static let extensions =
        [
            "", ";", " ", "=b", "a=", "a@b", "{}", "a=\"", "a=\"b", "a=\"b\"c", "a=b c", "a b", "a=b ", "a ",
            "a=\"\\\"", "a==b",
            "a=b=c", "a=\u{80}", "\u{80}",
        ].map { BadRequest("chunk extension ;\($0)", chunked("1;\($0)\r\nx\r\n0\r\n\r\n")) }
    static let chunks = [
        BadRequest("chunk size with a prefix", chunked("0x1\r\nx\r\n0\r\n\r\n")),
        BadRequest("chunk size with a plus", chunked("+1\r\nx\r\n0\r\n\r\n")),
        BadRequest("chunk size with a minus", chunked("-1\r\nx\r\n0\r\n\r\n")),
        BadRequest("chunk size with a blank", chunked("1 \r\nx\r\n0\r\n\r\n")),
        BadRequest("chunk size after a blank", chunked(" 1\r\nx\r\n0\r\n\r\n")),
        BadRequest("empty chunk size", chunked("\r\nx\r\n0\r\n\r\n")),
        BadRequest("chunk size of 17 digits", chunked("00000000000000001\r\nx\r\n0\r\n\r\n")),
        BadRequest("chunk size that overflows", chunked("FFFFFFFFFFFFFFFF\r\nx\r\n0\r\n\r\n")),
        BadRequest("chunk over the limit", chunked("10001\r\nx\r\n0\r\n\r\n"), 413),
        BadRequest("chunk size ended by LF", chunked("1\nx\r\n0\r\n\r\n")),
        BadRequest("chunk size ended by CR", chunked("1\rx\r\n0\r\n\r\n")),
        BadRequest("chunk data ended by LF", chunked("1\r\nx\n0\r\n\r\n")),
        BadRequest("chunk data too long", chunked("1\r\nxy\r\n0\r\n\r\n")),
        BadRequest("LF in a chunk extension", chunked("1;\na\r\nx\r\n0\r\n\r\n")),
        BadRequest("CR in a chunk extension", chunked("1;a\rb\r\nx\r\n0\r\n\r\n")),
        BadRequest("NUL in a chunk extension", chunked("1;a\0b\r\nx\r\n0\r\n\r\n")),
        BadRequest(
            "long chunk extension", chunked("1;\(String(repeating: "a", count: 2000))\r\nx\r\n0\r\n\r\n")),
        BadRequest(
            "many chunk extensions",
            chunked(String(repeating: "1;\(String(repeating: "a", count: 100))\r\nx\r\n", count: 20) + "0\r\n\r\n")),
        BadRequest("trailer without colon", chunked("0\r\nabc\r\n\r\n")),
        BadRequest("trailer with LF", chunked("0\r\na: b\n\r\n")),
        BadRequest("trailer that is folded", chunked("0\r\na: b\r\n c\r\n\r\n")),
        BadRequest("long trailers", chunked("0\r\n\(String(repeating: "a: b\r\n", count: 2000))\r\n")),
    ]

    static let lines = [
        BadRequest("request line ended by LF", "GET / HTTP/1.1\nHost: a\r\n\r\n"),
        BadRequest("field line ended by LF", "GET / HTTP/1.1\r\nHost: a\n\r\n"),
        BadRequest("header ended by LF", "GET / HTTP/1.1\r\nHost: a\r\n\n"),
        BadRequest("nothing but LF", "GET / HTTP/1.1\nHost: a\n\n"),
        BadRequest("bare CR in a value", get("A: b\rTransfer-Encoding: chunked")),
        BadRequest("CR CR LF", "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n"),
        BadRequest("header ended by CR", "GET / HTTP/1.1\r\nHost: a\r\n\rX"),
        BadRequest("blank before the colon", get("A : b")),
        BadRequest("tab before the colon", get("A\t: b")),
        BadRequest("folded line", get("A: b\r\n c")),
        BadRequest("line that begins with a tab", get("\tA: b")),
        BadRequest("first line that begins with a blank", "GET / HTTP/1.1\r\n Host: a\r\n\r\n"),
        BadRequest("line without colon", get("abc")),
        BadRequest("empty name", get(": b")),
        BadRequest("name with a blank", get("A b: c")),
        BadRequest("name beyond ASCII", get("Ä: b")),
        BadRequest("name with parentheses", get("A(b): c")),
        BadRequest("NUL in a value", get("A: b\0c")),
        BadRequest("NUL in a name", get("A\0: b")),
        BadRequest("NUL in a target", "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadRequest("DEL in a value", get("A: b\u{7F}")),
        BadRequest("escape in a value", get("A: \u{1B}[0m")),
        BadRequest("unknown expectation", get("Expect: 200-ok"), 417),
        BadRequest("two expectations", post("Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 1"), 417),
        BadRequest("expectation with more", post("Expect: y 100-continue\r\nContent-Length: 1"), 417),
    ]

    static let requestLines = [
        BadRequest("two blanks before the target", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadRequest("two blanks behind the target", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadRequest("blank at the end of the request line", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"),
        BadRequest("blank before the method", " GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadRequest("tab in the request line", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadRequest("HTTP/0.9", "GET /\r\n"),
        BadRequest("HTTP/0.9 in words", "GET / HTTP/0.9\r\nHost: a\r\n\r\n"),
        BadRequest("garbage", "garbage\r\n"),
        BadRequest("binary garbage", bytes: [0x80, 0xFF, 0x00, 0x01]),
        BadRequest("version in lower case", "GET / http/1.1\r\nHost: a\r\n\r\n"),
        BadRequest("version 1.10", "GET / HTTP/1.10\r\nHost: a\r\n\r\n"),
        BadRequest("version 01.1", "GET / HTTP/01.1\r\nHost: a\r\n\r\n"),
        BadRequest("HTTP/2.0 in text", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        BadRequest("preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        BadRequest("CONNECT", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", 501),
        BadRequest("TRACE", "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        BadRequest("method that is no token", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadRequest("target without slash", "GET a HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadRequest("asterisk for GET", "GET * HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadRequest("fragment", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadRequest("target beyond ASCII", "GET /ä HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadRequest("quote in a target", "GET /\"a\" HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadRequest("three empty lines", "\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    ]

    static let sizes = [
        BadRequest("target over 8 KiB", "GET /\(String(repeating: "a", count: 8192)) HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        BadRequest("endless target", "GET /\(String(repeating: "a", count: 20_000))", 414),
        BadRequest("header over 32 KiB", get("A: \(String(repeating: "a", count: 32_768))"), 431),
        BadRequest(
            "header over 32 KiB in lines",
            get(String(repeating: "A: \(String(repeating: "a", count: 995))\r\n", count: 40)),
            431),
        BadRequest("101 fields", get(Array(repeating: "A: b", count: 100).joined(separator: "\r\n")), 431),
    ]
}
