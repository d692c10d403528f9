import Testing
import Transfer
import Values

@Suite("Limits of an SMTP conversation") struct SMTPMessageTests {
    private func message(_ text: String, from: String = "a@b.example", to: String = "c@d.example") -> SMTPMessage? {
        SMTPMessage(Array(text.utf8), from: from, to: to)
    }

    @Test(
        "A text is accepted as an SMTP message if it has no bare CR or LF",
        arguments: ["", "a\r\n", "a\r\n.\r\n..b\r\n", "\r\n\r\n", "æ"])
    func good(_ text: String) { #expect(message(text) != nil) }

    @Test(
        "An SMTP message with a bare CR or LF, where some servers could see its end, is refused",
        arguments: ["a\nb", "a\n.\nb", "\n", "a\r", "a\rb", "a\r\r\n", "a\r\n.\n", "\n\r\n", "a\r\n\n"])
    func bareLineEnd(_ text: String) { #expect(message(text) == nil) }

    @Test(
        "An address that could end its SMTP command is refused",
        arguments: ["", "a@b>\r\nDATA", "a@b\n", "a@b\r", "a@b\u{0}", "a b@c", "<a@b>", "a@b>", "æ@b", "a@b SIZE=1"])
    func address(_ address: String) {
        #expect(message("x\r\n", to: address) == nil)
        #expect(message("x\r\n", from: address) == nil)
    }

    @Test(
        "An SMTP destination with a line break, NUL or invalid client name is refused",
        arguments: [
            ("mail.example\r\nQUIT", "me.example", "ada", "secret"),
            ("mail.example", "me.example\r\n", "ada", "secret"),
            ("mail.example", "me example", "ada", "secret"), ("mail.example", "", "ada", "secret"),
            ("mail.example", "me.example", "a\r\nda", "secret"), ("mail.example", "me.example", "ada", "sec\u{0}ret"),
        ])
    func destination(_ host: String, _ name: String, _ user: String, _ password: String) async throws {
        let destination = SMTPDestination(
            host: host, port: 25, security: .none, credentials: (user, Secret(password)), name: name)
        let client = SMTPClient(destination, time: .seconds(60), connecting: .seconds(60))
        await #expect(throws: SMTPFailure.self) { try await client.check() }
    }
}
