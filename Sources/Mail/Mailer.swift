import Glibc
import System
import Threads
import Values

/// Sends mail: to a folder, or to a mail server.
public protocol Mailer: Sendable {
    /// Returns when the mail is on disk or the next server has accepted it. Throws `MailFailure`.
    func send(_ mail: MailMessage, _ messageID: MessageID) async throws
}

/// Why a mail was not sent. For the log: a reason contains neither the recipient nor anything in the mail.
public enum MailFailure: Error, Sendable, Equatable {
    /// A later attempt will fail too.
    case refused(String)
    /// A later attempt may succeed.
    case temporary(String)
}

/// Writes each mail as a file into a folder: for development, and for programs that send it from there.
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
        try await OutboxFolder(path: folder).write(Array(message.text.utf8), as: "eml", named: messageID.id)
    }
}

extension MailFailure {
    static let noAddress = MailFailure.refused("the recipient's address is not one that mail can be sent to")
}

/// A folder of messages, one per file.
///
/// The file name begins with the time, so that files sort, and is the same at each attempt, so that a message is there
/// once. A file under its final name is always complete.
public struct OutboxFolder: Sendable {
    private let path: String

    public init(path: String) { self.path = path }

    /// Throws `MailFailure.temporary`.
    public func write(_ bytes: [UInt8], as kind: String, named name: String) async throws {
        do {
            try await SystemThread.run(named: "spindle-mail") {
                try store(bytes, as: "\(path)/\(name).\(kind)", by: "\(path)/.\(name).part")
            }
        } catch let error as SystemThread.Unavailable {
            throw MailFailure.temporary("\(error)")
        }
    }

    private func store(_ bytes: [UInt8], as final: String, by unfinished: String) throws {
        // The messages can sign users in, so only our user may read them.
        Files.makeFolder(path)
        let file = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.systemError() }
        defer { close(file) }
        guard Files.write(bytes, to: file) else { throw Self.systemError() }
        guard fsync(file) == 0, rename(unfinished, final) == 0 else { throw Self.systemError() }
        // Puts the new name on disk too.
        let directory = open(path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { throw Self.systemError() }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw Self.systemError() }
    }

    private static func systemError() -> MailFailure {
        .temporary("the folder cannot be written: \(String(cString: strerror(errno)))")
    }
}
