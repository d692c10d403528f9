import CCurl

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

extension SMTPFailure {
    /// The failure that libcurl's `code` and the server's last `answer` mean. `isOfSender`: the server refused the
    /// sender; `isOnMessage`: the message had been sent.
    init(_ code: CURLcode, answer: Int, isOfSender: Bool = false, isOnMessage: Bool = false) {
        let isRefusal = (400...599).contains(answer)
        self =
            switch code {
            case CURLE_SEND_ERROR where isRefusal && isOfSender: .refusedSender(answer)
            case CURLE_SEND_ERROR where isRefusal: .refusedEnvelope(answer)
            case CURLE_WEIRD_SERVER_REPLY where isRefusal && isOnMessage: .refusedMessage(answer)
            case CURLE_WEIRD_SERVER_REPLY where answer > 0: .answered(answer)
            case CURLE_COULDNT_RESOLVE_HOST: .unknownHost
            case CURLE_COULDNT_CONNECT: .unreachable
            case CURLE_OPERATION_TIMEDOUT: .timedOut
            case CURLE_USE_SSL_FAILED: .withoutTLS
            case CURLE_PEER_FAILED_VERIFICATION: .untrusted
            case CURLE_SSL_CACERT_BADFILE: .unreadableAuthorities
            case CURLE_LOGIN_DENIED: .badCredentials
            default: .other(CurlFailure.text(of: code))
            }
    }
}
