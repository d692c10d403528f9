import Glibc
import System
import Threads

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
