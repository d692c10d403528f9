import Foundation
import Testing
import Values

@testable import Mail

/// Mail through a mail server, as far as the conversation goes without TLS; with it, Tests/Interop/test_mail.py.
@Suite struct MailServerTests {
    private let letter = MailMessage(
        recipient: "ada@example.org", subject: "Hei", text: ".\n..two\nlast", html: "<p>.\n.</p>")
    private let messageID = MessageID(id: "0a", date: Timestamp(milliseconds: 1 * 1000))

    private func mailer(_ server: MailServerStandIn) throws -> SMTPMailer {
        SMTPMailer(
            server: try #require(SMTPServer("smtp://127.0.0.1:\(server.port)")),
            from: try #require(Sender("Loom <no-reply@loom.example>")))
    }

    @Test("A mail arrives as it was written, including lines that begin with a dot")
    func arrives() async throws {
        let server = try MailServerStandIn()
        defer { server.stop() }
        try await mailer(server).send(letter, messageID)
        #expect(
            server.lines.prefix(4) == [
                "EHLO loom.example", "MAIL FROM:<no-reply@loom.example>", "RCPT TO:<ada@example.org>", "DATA",
            ])
        // RFC 5321 §4.5.2: on the wire a line that begins with a dot has one more.
        #expect(server.message.contains("\r\n..\r\n...two\r\nlast\r\n"))
        #expect(server.message.contains("\r\n<p>.\r\n..</p>\r\n"))
        let sent = Message(
            letter, from: try #require(Sender("Loom <no-reply@loom.example>")),
            to: try #require(MailAddress("ada@example.org")), messageID)
        #expect(server.message.replacing("\r\n..", with: "\r\n.") == sent.text)
    }

    @Test(
        "If the sender's domain is an address literal, the mail server is greeted with that literal",
        arguments: ["[127.0.0.1]", "[IPv6:::1]"])
    func literal(_ domain: String) async throws {
        let server = try MailServerStandIn()
        defer { server.stop() }
        let mailer = SMTPMailer(
            server: try #require(SMTPServer("smtp://127.0.0.1:\(server.port)")),
            from: try #require(Sender("no-reply@\(domain)")))
        try await mailer.send(letter, messageID)
        #expect(server.lines.prefix(2) == ["EHLO \(domain)", "MAIL FROM:<no-reply@\(domain)>"])
    }

    @Test("A long mail arrives whole")
    func long() async throws {
        let server = try MailServerStandIn()
        defer { server.stop() }
        let text = String(repeating: "line of a long letter\n.\n", count: 20_000)
        try await mailer(server).send(
            MailMessage(recipient: "ada@example.org", subject: "", text: text, html: "<p>"), messageID)
        #expect(server.message.components(separatedBy: "\r\nline of a long letter\r\n..\r\n").count > 9_000)
        #expect(server.message.utf8.count > 480_000)
    }

    typealias Refusal = (script: MailServerStandIn.Script, failure: MailFailure)

    @Test(
        "A mail is given up if the server refuses its recipient or content for good, and retried otherwise",
        arguments: [
            ([.recipient: "550 <ada@example.org>: unknown"], .refused("the mail server answered 550 to the envelope")),
            ([.mail: "553 not you"], .temporary("the mail server answered 553 to the sender")),
            ([.message: "554 <ada@example.org> no"], .refused("the mail server answered 554 to the message")),
            ([.data: "554 no"], .refused("the mail server answered 554 to the envelope")),
            ([.recipient: "450 busy"], .temporary("the mail server answered 450 to the envelope")),
            ([.message: "452 full"], .temporary("the mail server answered 452 to the message")),
            // This refusal concerns the server, not the mail.
            ([.mail: "530 STARTTLS first"], .temporary("the mail server answered 530 to the sender")),
            ([.recipient: "535 who are you"], .temporary("the mail server answered 535 to the envelope")),
        ] as [Refusal])
    func refusals(_ refusal: Refusal) async throws {
        let server = try MailServerStandIn(refusal.script)
        defer { server.stop() }
        await #expect(throws: refusal.failure) { try await mailer(server).send(letter, messageID) }
    }

    @Test(
        "A refusal at RCPT that concerns the mail's sender is retried, and one of the recipient is final",
        arguments: [
            (
                [.recipient: "550 5.1.8 <no-reply@loom.example>: no such domain"],
                .temporary("the mail server answered 550 to the sender")
            ),
            ([.recipient: "553 5.1.7 what sender?"], .temporary("the mail server answered 553 to the sender")),
            (
                [.recipient: "550 5.1.1 <ada@example.org>: unknown"],
                .refused("the mail server answered 550 to the envelope")
            ),
        ] as [Refusal])
    func sender(_ refusal: Refusal) async throws {
        let server = try MailServerStandIn(refusal.script)
        defer { server.stop() }
        await #expect(throws: refusal.failure) { try await mailer(server).send(letter, messageID) }
        #expect(server.lines.contains { $0.hasPrefix("RCPT") })
    }

    @Test(
        "A mail is retried after a refused greeting or a lost connection; the reason omits the server's text",
        arguments: [
            [.greeting: "554 <ada@example.org> go away"], [.greeting: ""], [.hello: ""], [.mail: ""], [.data: ""],
            // The mail may have been accepted: it is sent again rather than lost.
            [.message: ""],
        ] as [MailServerStandIn.Script])
    func unwell(_ script: MailServerStandIn.Script) async throws {
        let server = try MailServerStandIn(script)
        defer { server.stop() }
        do {
            try await mailer(server).send(letter, messageID)
            Issue.record("it was taken")
        } catch MailFailure.temporary(let reason) {
            #expect(!reason.isEmpty && !reason.contains("example"))
        }
    }

    @Test("A mail that was accepted counts as sent even if QUIT is not answered", .timeLimit(.minutes(1)))
    func noFarewell() async throws {
        let server = try MailServerStandIn([.quit: ""])
        defer { server.stop() }
        try await mailer(server).send(letter, messageID)
        #expect(!server.message.isEmpty)
        // The connection is closed.
        await server.isLeft()
        #expect(server.lines.last == "QUIT")
    }

    @Test("An unreachable mail server is a temporary failure")
    func nobody() async throws {
        let server = try MailServerStandIn()
        let mailer = try mailer(server)
        server.stop()
        await #expect(throws: MailFailure.self) { try await mailer.send(letter, messageID) }
        await #expect(throws: MailFailure.self) { try await mailer.check() }
    }

    @Test("A mail server without STARTTLS, where it is required, gets no mail and no password")
    func stripped() async throws {
        let server = try MailServerStandIn()
        defer { server.stop() }
        let url = "smtp://ada:SECRET@127.0.0.1:\(server.port)?starttls=required"
        let mailer = SMTPMailer(
            server: try #require(SMTPServer(url)), from: try #require(Sender("no-reply@loom.example")))
        do {
            try await mailer.send(letter, messageID)
            Issue.record("it was sent in the clear")
        } catch MailFailure.temporary {}
        #expect(!server.lines.contains { $0.hasPrefix("AUTH") || $0.hasPrefix("MAIL") || $0.hasPrefix("RCPT") })
    }

    @Test("A check of the mail server says EHLO and NOOP, and sends no mail")
    func check() async throws {
        let server = try MailServerStandIn()
        defer { server.stop() }
        try await mailer(server).check()
        #expect(server.lines.prefix(2) == ["EHLO loom.example", "NOOP"])
        #expect(!server.lines.contains { $0.hasPrefix("MAIL") })
    }

    @Test("A recipient's address cannot add an SMTP command")
    func injection() async throws {
        let server = try MailServerStandIn()
        defer { server.stop() }
        for recipient in ["a@b.example>\r\nRCPT TO:<eve@c.example", "a@b.example\r\nDATA\r\n", "a b@c.example"] {
            let letter = MailMessage(recipient: recipient, subject: "", text: "", html: "")
            await #expect(throws: MailFailure.noAddress) { try await mailer(server).send(letter, messageID) }
        }
        #expect(server.lines.isEmpty)
    }

    @Test("Sending a mail that is cancelled does not wait for a mail server that hangs")
    func cancelled() async throws {
        // The stand-in's one thread waits for the first client, which sends nothing: the second waits.
        let server = try MailServerStandIn([.hello: "250-never ends"])
        defer { server.stop() }
        let sending = Task { try await mailer(server).send(letter, messageID) }
        sending.cancel()
        await #expect(throws: CancellationError.self) { try await sending.value }
    }
}
