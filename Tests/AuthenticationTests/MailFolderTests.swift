import Foundation
import Mail
import Testing
import Values

/// Mail as files of a folder.
@Suite struct MailFolderTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "spindle-mail-\(UUID().uuidString)/a/b")
        .path(percentEncoded: false)
    private let letter = MailMessage(recipient: "ada@example.com", subject: "Hei", text: "Hei", html: "<p>Hei</p>")

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    private func mailer() throws -> FolderMailer {
        FolderMailer(folder: folder, from: try #require(Sender("no-reply@example.com")))
    }

    @Test("Each mail written to a folder is a file that only its owner can read; a missing folder is created")
    func files() async throws {
        let mailer = try mailer()
        let early = MessageID(id: "0a", date: Timestamp(milliseconds: 1 * 1000))
        let late = MessageID(id: "0b", date: Timestamp(milliseconds: 2 * 1000))
        for messageID in [late, early, early] { try await mailer.send(letter, messageID) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(names == ["0a.eml", "0b.eml"], "a letter that is sent again is there once")
        #expect(try mode(folder) == 0o700)
        #expect(try mode(folder + "/0a.eml") == 0o600)
        let text = try String(contentsOfFile: folder + "/0a.eml", encoding: .utf8)
        #expect(text.hasPrefix("Date: Thu, 1 Jan 1970 00:00:01 +0000\r\n") && text.hasSuffix("--=_0a--\r\n"))
    }

    @Test("A mail folder that cannot be written is a temporary failure whose message omits the recipient")
    func unwritable() async throws {
        let mailer = FolderMailer(folder: "/dev/null/outbox", from: try #require(Sender("no-reply@example.com")))
        do {
            try await mailer.send(letter, MessageID(id: "0a", date: Timestamp(milliseconds: 1 * 1000)))
            Issue.record("it was written")
        } catch MailFailure.temporary(let reason) {
            #expect(reason.contains("cannot be written") && !reason.contains("ada"))
        }
    }

    @Test("A mail to a recipient that is no e-mail address is refused, and no file is written")
    func hostile() async throws {
        let hostile = MailMessage(recipient: "a@b.example\r\nBcc: eve@c.example", subject: "", text: "", html: "")
        await #expect(throws: MailFailure.self) {
            try await mailer().send(hostile, MessageID(id: "0a", date: Timestamp(milliseconds: 1 * 1000)))
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }
}
