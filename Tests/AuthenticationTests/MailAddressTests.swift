import Mail
import Testing
import Values

/// Which addresses mail goes to, and how they are written.
@Suite struct MailAddressTests {
    @Test(
        "An e-mail address is written in a form that parses as one address",
        arguments: [
            ("ada@example.com", "ada@example.com"), ("ada+x@a.b-c.example", "ada+x@a.b-c.example"),
            ("o'brien@example.com", "o'brien@example.com"), ("ada@localhost", "ada@localhost"),
            ("ada@[127.0.0.1]", "ada@[127.0.0.1]"), ("ada@[IPv6:::1]", "ada@[IPv6:::1]"),
            ("ada@bücher.example", "ada@xn--bcher-kva.example"), ("ada@例え.jp", "ada@xn--r8jz45g.jp"),
            // What is no dot-string stands between quotes.
            ("a..b@example.com", "\"a..b\"@example.com"), ("a.@example.com", "\"a.\"@example.com"),
            ("a(b)@example.com", "\"a(b)\"@example.com"), ("a@b@example.com", "\"a@b\"@example.com"),
        ])
    func good(text: String, written: String) { #expect(MailAddress(text)?.description == written) }

    @Test(
        "Text that could end a command or a header field, or is undeliverable, is no e-mail address",
        arguments: [
            "", "@", "ada", "ada@", "@example.com", "ada@example.com\r\nRCPT TO:<eve@example.net>",
            "ada\r\nDATA@example.com", "ada\n@example.com", "ada\u{0}@example.com", "ada @example.com",
            "ada@exam ple.com", "\"ada\"@example.com", "a\\b@example.com", "ada@example..com", "ada@.com",
            "ada@example.com>", "ada@exa<mple.com", "ada@[1.2.3.4", "ada@[x y]", "ada@bücher.example/x", "ada@b:25",
            "åda@example.com", "👩@example.com", String(repeating: "a", count: 65) + "@example.com",
            "a@" + String(repeating: "a", count: 64) + ".com", "ada@%0d%0aexample.com", "ada@é\r\n.com",
        ])
    func bad(text: String) { #expect(MailAddress(text) == nil) }

    @Test("A sender is an e-mail address, optionally preceded by a name")
    func sender() throws {
        #expect(Sender("a@b.example")?.name == nil)
        let named = try #require(Sender("Loom News <no-reply@loom.example>"))
        #expect(named.name == "Loom News")
        #expect(named.address.description == "no-reply@loom.example")
        #expect(Sender("<a@b.example>")?.name == nil)
        for text in [
            "", "Loom", "Loom <>", "Loom <a@b.example", "Lo\r\nom <a@b.example>", "L\"m <a@b.example>", "a@b c",
        ] {
            #expect(Sender(text) == nil, "\(text)")
        }
    }
}
