import Mail
import Testing

/// What an operator may write for a mail server.
@Suite struct MailServerAddressTests {
    typealias Address = (text: String, description: String, security: SMTPServer.Security, hasPassword: Bool)

    @Test(
        "A mail server's URL means TLS unless its scheme says otherwise",
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
    func good(_ address: Address) throws {
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
    func bad(text: String) { #expect(SMTPServer(text) == nil) }

    @Test("A mail server's password does not print")
    func silent() throws {
        let server = try #require(SMTPServer("smtps://ada:SECRET@mail.example"))
        var dumped = ""
        dump(server, to: &dumped)
        for text in ["\(server)", String(reflecting: server), dumped] { #expect(!text.contains("SECRET")) }
    }
}
