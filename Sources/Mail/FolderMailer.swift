import Glibc
import System
import Threads
import Values

/// Writes each mail as a file into a folder: for development, and for programs that send it from there.
///
/// The file name begins with the time, so that files sort, and is the same at each attempt, so that a mail is there
/// once. A file under its final name is always complete.
public struct FolderMailer: Mailer {
    public let folder: String
    private let sender: Sender

    public init(folder: String, from sender: Sender) {
        self.folder = folder
        self.sender = sender
    }

    public func send(_ mail: MailMessage, _ messageID: MessageID) async throws {
        guard let recipient = MailAddress(mail.recipient) else { throw MailFailure.noAddress }
        let message = Message(mail, from: sender, to: recipient, messageID)
        do {
            try await SystemThread.run(named: "spindle-mail") {
                try write(Array(message.text.utf8), named: messageID.id)
            }
        } catch let error as SystemThread.Unavailable {
            throw MailFailure.temporary("\(error)")
        }
    }

    private func write(_ bytes: [UInt8], named name: String) throws {
        // The mails can sign users in, so only our user may read them.
        Files.makeFolder(folder)
        let path = "\(folder)/\(name).eml"
        let unfinished = "\(folder)/.\(name).part"
        let file = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.systemError() }
        defer { close(file) }
        guard Files.write(bytes, to: file) else { throw Self.systemError() }
        guard fsync(file) == 0, rename(unfinished, path) == 0 else { throw Self.systemError() }
        // Puts the new name on disk too.
        let directory = open(folder, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { throw Self.systemError() }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw Self.systemError() }
    }

    private static func systemError() -> MailFailure {
        .temporary("the folder cannot be written: \(String(cString: strerror(errno)))")
    }
}

extension MailFailure {
    static let noAddress = MailFailure.refused("the recipient's address is not one that mail can be sent to")
}
