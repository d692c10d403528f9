/// The way out for mail: a folder, or a mail server.
public protocol Mailer: Sendable {
    /// Returns when the letter is somebody else's to keep: on disk, or taken by the next server. Throws `MailFailure`.
    func send(_ letter: MailMessage, _ postmark: MessageID) async throws
}

/// Why a letter did not leave. For the log: a reason names neither the recipient nor anything the letter says.
public enum MailFailure: Error, Sendable, Equatable {
    /// It will not do better another time.
    case refused(String)
    /// It may do better later.
    case temporary(String)
}
