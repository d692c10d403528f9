/// Why a mail server has not taken a message.
public enum SMTPFailure: Error, Sendable, Equatable {
    /// It answered so, 400 to 599, to `MAIL`, `RCPT` or `DATA`.
    case refusedEnvelope(Int)
    /// It answered so, 400 to 599, to the message itself.
    case refusedMessage(Int)
    case unknownHost
    /// As many questions to the name service hang as may.
    case nameServiceBusy
    case unreachable
    case timedOut
    /// It does not offer STARTTLS.
    case withoutTLS
    /// Its certificate does not verify.
    case untrusted
    /// The file of authorities cannot be read.
    case unreadableAuthorities
    /// It does not take user and password.
    case badCredentials
    /// It answered so at another time.
    case answered(Int)
    /// Anything else, in libcurl's words.
    case other(String)
}
