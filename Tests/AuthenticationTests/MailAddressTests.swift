import Mail
import Testing
import Values

/// Which addresses mail is sent to, and how they are written.
@Suite struct MailAddressTests {
    @Test(
        "An e-mail address is written in a form that parses as one address",
        arguments: [
            ("ada@example.com", "ada@example.com"), ("ada+x@a.b-c.example", "ada+x@a.b-c.example"),
            ("o'brien@example.com", "o'brien@example.com"), ("ada@localhost", "ada@localhost"),
            ("ada@[127.0.0.1]", "ada@[127.0.0.1]"), ("ada@[IPv6:::1]", "ada@[IPv6:::1]"),
            ("ada@bücher.example", "ada@xn--bcher-kva.example"), ("ada@例え.jp", "ada@xn--r8jz45g.jp"),
            // A local part that is no dot-string is quoted.
            ("a..b@example.com", "\"a..b\"@example.com"), ("a.@example.com", "\"a.\"@example.com"),
            ("a(b)@example.com", "\"a(b)\"@example.com"), ("a@b@example.com", "\"a@b\"@example.com"),
        ])
    func good(text: String, written: String) { #expect(MailAddress(text)?.description == written) }

    @Test(
        "Text that could end an SMTP command or a header field, or is undeliverable, is no e-mail address",
        arguments: [
            "", "@", "ada", "ada@", "@example.com", "ada@example.com\r\nRCPT TO:<eve@example.net>",
            "ada\r\nDATA@example.com", "ada\n@example.com", "ada\u{0}@example.com", "ada @example.com",
            "ada@exam ple.com", "\"ada\"@example.com", "a\\b@example.com", "ada@example..com", "ada@.com",
            "ada@example.com>", "ada@exa<mple.com", "ada@[1.2.3.4", "ada@[x y]", "ada@bücher.example/x", "ada@b:25",
            "åda@example.com", "👩@example.com", String(repeating: "a", count: 65) + "@example.com",
            "a@" + String(repeating: "a", count: 64) + ".com", "ada@%0d%0aexample.com", "ada@é\r\n.com",
        ])
    func bad(text: String) { #expect(MailAddress(text) == nil) }

    @Test("A mail's sender is given as an e-mail address, optionally preceded by a name")
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

    typealias Address = (text: String, description: String, security: SMTPServer.Security, hasPassword: Bool)

    @Test(
        "A mail server's URL means TLS, unless it has starttls=never-insecure or is an smtp URL of this machine",
        arguments: [
            ("smtp://mail.example", "smtp://mail.example:587", .startTLS, false),
            ("smtps://mail.example/", "smtps://mail.example:465", .tls, false),
            ("SMTP://ada%40x:p%3Aw%2F@mail.example:2525", "smtp://mail.example:2525", .startTLS, true),
            ("smtp://mail.example?starttls=never-insecure", "smtp://mail.example:587", .none, false),
            ("smtp://127.0.0.1:25", "smtp://127.0.0.1:25", .none, false),
            ("smtp://[::1]:25", "smtp://[::1]:25", .none, false),
            ("smtp://localhost:25?starttls=required&ca=/etc/ca.pem", "smtp://localhost:25", .startTLS, false),
            ("smtps://127.0.0.1", "smtps://127.0.0.1:465", .tls, false),
        ] as [Address])
    func goodServer(_ address: Address) throws {
        let server = try #require(SMTPServer(address.text))
        #expect(server.description == address.description)
        #expect(server.security == address.security)
        #expect((server.credentials != nil) == address.hasPassword)
    }

    @Test("A mail server without TLS on another machine is reported as readable by others")
    func readable() {
        #expect(SMTPServer("smtp://mail.example?starttls=never-insecure")?.isReadable == true)
        #expect(SMTPServer("smtp://mail.example")?.isReadable == false)
        #expect(SMTPServer("smtp://127.0.0.1")?.isReadable == false)
    }

    @Test(
        "Text that is no mail server's URL is refused",
        arguments: [
            "", "mail.example", "http://mail.example", "smtp://", "smtp:mail.example", "smtp://mail.example/inbox",
            "smtp://mail.example?starttls=never", "smtp://mail.example?starttls",
            "smtps://mail.example?starttls=required",
            "smtp://mail.example?tls=off", "smtp://mail.example?ca=a&ca=b", "smtp://mail.example#x",
            "smtp://ada@mail.example", "smtp://:p@mail.example", "smtp://ada:p%0d%0aQUIT@mail.example",
            "smtp://ada:p%00@mail.example", "smtp://mail.example:0", "smtp://mail.example:65536",
            "smtp://mail.example:x", "smtp://mail%20.example", "smtp://mail.example\\@evil.example", "smtp://m ail",
        ])
    func badServer(text: String) { #expect(SMTPServer(text) == nil) }

    @Test("Printing or dumping a mail server's settings does not show its password")
    func silent() throws {
        let server = try #require(SMTPServer("smtps://ada:SECRET@mail.example"))
        var dumped = ""
        dump(server, to: &dumped)
        for text in ["\(server)", String(reflecting: server), dumped] { #expect(!text.contains("SECRET")) }
    }
}
