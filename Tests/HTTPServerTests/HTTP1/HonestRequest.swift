import Testing

/// A valid request that resembles a refused one.
struct HonestRequest: CustomTestStringConvertible, Sendable {
    let name: String
    let text: String
    /// The request as the handler sees it.
    let asks: String

    init(_ name: String, _ text: String, _ asks: String = "GET / ") {
        (self.name, self.text, self.asks) = (name, text, asks)
    }

    var testDescription: String { name }

    private static func get(_ line: String) -> String { "GET / HTTP/1.1\r\nHost: a\r\n\(line)\r\n\r\n" }
    private static func post(_ lines: String, _ body: String = "") -> String {
        "POST / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n\(body)"
    }
    private static func chunked(_ body: String) -> String { post("Transfer-Encoding: chunked", body) }

    static let all: [HonestRequest] = [
        HonestRequest("one Host", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        HonestRequest("Host with a port", "GET / HTTP/1.1\r\nHost: a.example:8080\r\n\r\n"),
        HonestRequest("Host that is an address", "GET / HTTP/1.1\r\nhOST:127.0.0.1\r\n\r\n"),
        HonestRequest("Host that is an IPv6 address", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"),
        HonestRequest("no Host in HTTP/1.0", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
        HonestRequest("absolute target", "GET http://A:80/b?c HTTP/1.1\r\nHost: a\r\n\r\n", "GET /b?c "),
        HonestRequest("absolute target without path", "GET http://a?c HTTP/1.1\r\nHost: a\r\n\r\n", "GET /?c "),
        HonestRequest("asterisk", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * "),
        HonestRequest("unknown method", "BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n", "BREW /pot "),
        HonestRequest("Content-Length", post("Content-Length: 3", "abc"), "POST / abc"),
        HonestRequest("Content-Length with zeros", post("Content-Length: 0003", "abc"), "POST / abc"),
        HonestRequest("Content-Length of 0", post("Content-Length: 0"), "POST / "),
        HonestRequest("body of GET", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "GET / abc"),
        HonestRequest("chunks", chunked("1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"), "POST / abc"),
        HonestRequest(
            "chunks in capitals", post("transfer-encoding: \tChunked ", "A\r\n0123456789\r\n0\r\n\r\n"),
            "POST / 0123456789"),
        HonestRequest("chunk size with zeros", chunked("0003\r\nabc\r\n0\r\n\r\n"), "POST / abc"),
        HonestRequest("chunk extension", chunked("3;a=b; c=\"d\"\r\nabc\r\n0;e\r\n\r\n"), "POST / abc"),
        HonestRequest(
            "chunk extensions with blanks and quoted pairs",
            chunked("3;a;\tb = \"c;\\\" \u{80}\" ;d=e\r\nabc\r\n0; f =\tg\r\n\r\n"), "POST / abc"),
        HonestRequest("trailers", chunked("3\r\nabc\r\n0\r\nHost: b\r\nA: b\r\n\r\n"), "POST / abc"),
        HonestRequest("blanks around a value", get("A: \t b \t ")),
        HonestRequest("no blank before a value", get("A:b")),
        HonestRequest("empty value", get("A:")),
        HonestRequest("tab in a value", get("A: b\tc")),
        HonestRequest("value beyond ASCII", get("A: ä")),
        HonestRequest("name of every token character", get("!#$%&'*+-.^_`|~09azAZ: b")),
        HonestRequest("one empty line before", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        HonestRequest("HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n"),
        HonestRequest("query as browsers send it", "GET /?a[]={b}|c HTTP/1.1\r\nHost: a\r\n\r\n", "GET /?a[]={b}|c "),
        HonestRequest("escapes are not read", "GET /%2e%zz% HTTP/1.1\r\nHost: a\r\n\r\n", "GET /%2e%zz% "),
        HonestRequest("Upgrade", get("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c")),
        HonestRequest("Connection that names another field", get("Connection: content-length, host")),
        HonestRequest("expectation in HTTP/1.0", "GET / HTTP/1.0\r\nExpect: x\r\nConnection: keep-alive\r\n\r\n"),
        HonestRequest(
            "target of 8 KiB", "GET /\(String(repeating: "a", count: 8191)) HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /\(String(repeating: "a", count: 8191)) "),
        HonestRequest("header of nearly 32 KiB", get("A: \(String(repeating: "a", count: 32_700))")),
        HonestRequest("100 fields", get(Array(repeating: "A: b", count: 99).joined(separator: "\r\n"))),
        HonestRequest(
            "body of the limit", post("Content-Length: 65536", String(repeating: "x", count: 65_536)),
            "POST / \(String(repeating: "x", count: 65_536))"),
    ]
}
