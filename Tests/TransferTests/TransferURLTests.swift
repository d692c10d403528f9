import Testing
import Transfer

@Suite("URLs of outbound requests") struct TransferURLTests {
    @Test(
        "The host and port of a URL are those that are written",
        arguments: [
            ("https://example.com", "example.com", 443), ("http://example.com/a?b=c", "example.com", 80),
            ("HTTPS://Example.COM:8443/", "Example.COM", 8443), ("https://a_b.example./", "a_b.example.", 443),
            ("https://[2001:db8::1]:444/", "2001:db8::1", 444), ("https://127.0.0.1/", "127.0.0.1", 443),
            ("https://127.1/", "127.1", 443), ("https://2130706433/", "2130706433", 443),
            ("https://0x7f.1?x", "0x7f.1", 443),
        ])
    func good(_ text: String, _ host: String, _ port: Int) throws {
        let url = try #require(TransferURL(text))
        #expect((url.host, url.port) == (host, port))
    }

    @Test(
        "An outbound URL that two parsers could read differently is refused",
        arguments: [
            "", "/", "example.com", "example.com:80/", "//example.com/", "ftp://example.com/", "file:///etc/passwd",
            "https:///keys", "https:/example.com", "https:example.com", "https://user@example.com/",
            "https://user:secret@example.com/", "https://@example.com/", "https://example.com/#part",
            "https://example.com:/", "https://example.com:0443/", "https://example.com:65536/",
            "https://example.com:x/", "https://ex\\@127.0.0.1/", "https://exam%70le.com/", "https://%31/",
            "https://bücher.example/", "https://127。0。0。1/", "https://a b/", "https://a/\r\n", "https://a/\u{0}",
            "https://[::1", "https://[::1]x/", "https://[::1%25lo]/", "https://[v1.a]/", "https://a,b/", "https://*/",
            "https://" + String(repeating: "a", count: 254) + "/",
        ])
    func bad(_ text: String) { #expect(TransferURL(text) == nil) }
}
