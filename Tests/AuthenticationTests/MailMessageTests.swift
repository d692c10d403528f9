import Foundation
import Testing
import Values

@testable import Mail

/// A mail as it is sent.
@Suite struct MailMessageTests {
    private static let messageID = MessageID(id: "0193a", date: Timestamp(milliseconds: 1_800_000_000 * 1000))

    private func message(
        subject: String = "Your code", text: String = "123456", html: String = "<p>123456</p>",
        from: String = "no-reply@example.com", to: String = "ada@example.org"
    ) throws -> String {
        let letter = MailMessage(recipient: to, subject: subject, text: text, html: html)
        return Message(
            letter, from: try #require(Sender(from)), to: try #require(MailAddress(to)), Self.messageID
        ).text
    }

    private func fields(_ message: String) -> [Substring] {
        (message.split(separator: "\r\n\r\n", maxSplits: 1).first ?? "").split(separator: "\r\n")
    }

    @Test("A mail has its required header fields once each, and text and HTML as alternatives")
    func whole() throws {
        #expect(
            try message(from: "Loom <no-reply@example.com>") == """
                Date: Fri, 15 Jan 2027 08:00:00 +0000\r
                From: "Loom" <no-reply@example.com>\r
                To: <ada@example.org>\r
                Subject: Your code\r
                Message-ID: <0193a@example.com>\r
                Auto-Submitted: auto-generated\r
                MIME-Version: 1.0\r
                Content-Type: multipart/alternative; boundary="=_0193a"\r
                \r
                --=_0193a\r
                Content-Type: text/plain; charset=utf-8\r
                Content-Transfer-Encoding: quoted-printable\r
                \r
                123456\r
                --=_0193a\r
                Content-Type: text/html; charset=utf-8\r
                Content-Transfer-Encoding: quoted-printable\r
                \r
                <p>123456</p>\r
                --=_0193a--\r

                """)
    }

    @Test(
        "A mail's lines are short ASCII whatever its text holds, and decode to the same text",
        arguments: [
            String(repeating: "a", count: 5000), String(repeating: "å", count: 999),
            "ends with a space \nand a tab\t\n",
            "=_0193a\n--=_0193a--\n=20", ".\n..\n.hidden\n", "👩‍👩‍👧 مرحبا \u{202E}gnp.exe", "a\rb\r\nc\nd",
            "\u{0}\u{7}\u{1B}[31m", "",
            String(repeating: "x", count: 76), String(repeating: "x", count: 77), String(repeating: "x ", count: 80),
            String(repeating: "x", count: 75) + " ", String(repeating: "x", count: 74) + "= ",
        ])
    func anyText(_ text: String) throws {
        let message = try message(text: text, html: text)
        for line in message.split(separator: "\r\n", omittingEmptySubsequences: false) {
            #expect(line.utf8.count <= 76)
            #expect(line.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 }, "\(line.debugDescription)")
            #expect(line.utf8.last != 0x20 && line.utf8.last != 0x09, "white space at an end gets lost")
        }
        let parts = message.components(separatedBy: "--=_0193a")
        #expect(parts.count == 4, "the text must not make a part of its own")
        let expected = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
        for part in parts[1...2] {
            let body = try #require(part.range(of: "\r\n\r\n")).upperBound
            let decoded = decoded(String(part[body...]))
            #expect(decoded == expected || decoded == expected + "\n")
        }
    }

    @Test(
        "A mail's subject is sent as encoded words unless it is short ASCII",
        arguments: [
            ("Din kode er 123456", "Din kode er 123456"), ("Bekräfta", "=?utf-8?B?QmVrcsOkZnRh?="),
            ("=?utf-8?B?QQ==?=", "=?utf-8?B?PT91dGYtOD9CP1FRPT0/PQ==?="),
        ])
    func subject(_ subject: String, _ expected: String) throws {
        let fields = fields(try message(subject: subject))
        #expect(fields.contains("Subject: \(expected)"))
    }

    @Test(
        "A mail's long subject is folded between characters and decodes whole",
        arguments: [
            String(repeating: "æ", count: 300), String(repeating: "👩‍👩‍👧", count: 40),
            String(repeating: "a ", count: 500),
        ])
    func longSubject(_ subject: String) throws {
        let message = try message(subject: subject)
        let field = try #require(message.components(separatedBy: "\r\nSubject: ").last)
            .components(separatedBy: "\r\nMessage-ID: ")[0]
        for line in "Subject: \(field)".components(separatedBy: "\r\n") { #expect(line.utf8.count <= 76) }
        let lines = field.components(separatedBy: "\r\n ")
        let words = try lines.map { line in
            let base64 = try #require(line.wholeMatch(of: /=\?utf-8\?B\?([A-Za-z0-9+\/=]+)\?=/)).output.1
            // Each encoded word decodes alone: none divides a character.
            return try #require(String(validating: Data(base64Encoded: String(base64)) ?? Data(), as: UTF8.self))
        }
        #expect(words.joined() == subject)
    }

    @Test(
        "A mail's subject cannot add a header field",
        arguments: [
            "a\r\nBcc: eve@example.net", "a\nBcc: eve@example.net", "a\rBcc: eve@example.net", "a\r\n\r\n<b>",
            "\u{85}b",
        ])
    func injection(_ hostile: String) throws {
        let message = try message(subject: hostile)
        #expect(fields(message).count == 8)
        #expect(!message.contains("\nBcc") && !message.contains("\rBcc"))
    }

    @Test("A sender's name is quoted, or encoded if it is not ASCII")
    func senderName() throws {
        let quoted = fields(try message(from: "Ada, Inc. <a@b.example>"))
        #expect(quoted[1] == "From: \"Ada, Inc.\" <a@b.example>")
        let encoded = fields(try message(from: "Väv <a@b.example>"))
        #expect(encoded[1] == "From: =?utf-8?B?VsOkdg==?= <a@b.example>")
    }

    @Test(
        "A header line with encoded words has at most 76 characters, the field's name and address included",
        arguments: ["a@b.example", "a-long-local-part-of-an-address@mail.department.company.example"])
    func headerLines(_ address: String) throws {
        for length in 1...49 {
            let name = String(repeating: "å", count: length)
            let message = try message(subject: name, from: "\(name) <\(address)>")
            let header = message.components(separatedBy: "\r\n\r\n")[0]
            for line in header.components(separatedBy: "\r\n") {
                #expect(line.utf8.count <= 76 || !line.contains("=?"), "\(line)")
            }
            let sender = header.replacing("\r\n ", with: " ").components(separatedBy: "\r\n")[1]
            #expect(sender.hasSuffix("?= <\(address)>"))
        }
    }

    /// RFC 2045 §6.7, read back.
    private func decoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.replacing("=\r\n", with: "").replacing("\r\n", with: "\n").utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "=") else {
                bytes.append(byte)
                continue
            }
            bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
