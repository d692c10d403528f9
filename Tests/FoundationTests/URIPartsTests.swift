import Testing
import Values

@Suite struct URIPartsTests {
    @Test("A URI is read into its parts")
    func parts() throws {
        let uri = try #require(URIParts("SMTP://us%40er:pass@Mail.Example:2525/path?ca=%2Fa&b#end"))
        #expect(uri.scheme == "smtp" && uri.user == "us@er" && uri.password == "pass")
        #expect(uri.host == "Mail.Example" && uri.encodedHost == "Mail.Example" && uri.port == 2525)
        #expect(uri.path == "/path" && uri.query == "ca=/a&b" && uri.fragment == "end")
        #expect(uri.queryItems.map(\.name) == ["ca", "b"] && uri.queryItems.map(\.value) == ["/a", nil])
    }

    @Test("A URI may have no host")
    func hostless() throws {
        let uri = try #require(URIParts("com.example.app:/callback"))
        #expect(uri.scheme == "com.example.app" && uri.host == nil && uri.path == "/callback")
    }

    @Test(
        "A URI's host is decoded, and does not include user, port or query",
        arguments: [
            ("https://xn--bcher-kva.example/", "bücher.example"), ("https://[::1]:8/", "[::1]"),
            ("https://%C3%A9.example/x", "é.example"), ("https://user@a.example", "a.example"),
            ("https://a.example:443?q", "a.example"), ("https://%78n--bcher-kva.example/", "xn--bcher-kva.example"),
        ])
    func hosts(_ text: String, _ host: String) { #expect(URIParts(text)?.host == host) }

    @Test(
        "A URI's origin is written as browsers write it in the Origin field",
        arguments: [
            ("https://ID.example:443/a?b", "https://id.example"), ("http://LocalHost:80", "http://localhost"),
            ("https://id.example:80/", "https://id.example:80"), ("HTTP://id.example:443", "http://id.example:443"),
            ("https://id.example:", "https://id.example"), ("http://[0:0:0:0:0:0:0:1]:8080/", "http://[::1]:8080"),
            ("https://XN--bcher-kva.example/", "https://xn--bcher-kva.example"), ("com.example.app:/callback", nil),
            ("ftp://id.example/", nil),
        ])
    func origins(_ text: String, _ origin: String?) { #expect(URIParts(text)?.origin == origin) }

    @Test(
        "A URI with characters that no host may have is refused, and they are not escaped",
        arguments: [
            "https://a|b/", "https://a|b/a%7Cb", "https://a%7Cb@a|b/", "https://exa mple/", "https://a\"b.example/",
            "https://xn--a/", "https://xn--0.example/", "my_app:/x", "https://[::1",
        ])
    func refusals(_ text: String) { #expect(URIParts(text) == nil) }
}
