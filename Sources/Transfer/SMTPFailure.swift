/// Why a mail server has not taken a message.
public enum SMTPFailure: Error, Sendable, Equatable {
    /// It replied 400 to 599 to `MAIL`.
    case refusedSender(Int)
    /// It replied 400 to 599 to `RCPT` or `DATA`.
    case refusedEnvelope(Int)
    /// It replied 400 to 599 to the message itself.
    case refusedMessage(Int)
    case unknownHost
    /// Too many look-ups are running.
    case nameServiceBusy
    case unreachable
    case timedOut
    /// It does not offer STARTTLS.
    case withoutTLS
    /// Its certificate does not verify.
    case untrusted
    /// The file of authorities cannot be read.
    case unreadableAuthorities
    /// It rejects user and password.
    case badCredentials
    /// It gave this reply at another time.
    case answered(Int)
    /// Anything else, in libcurl's words.
    case other(String)
}
