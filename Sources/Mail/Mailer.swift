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
