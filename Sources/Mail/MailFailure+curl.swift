import CCurl

extension MailFailure {
    /// What libcurl's `code` and the server's last `answer` mean for the letter.
    ///
    /// A 5xx to the envelope or to the message is final (RFC 5321 §4.2.1). One that asks for TLS or for other credentials
    /// (RFC 3207 §4, RFC 4954 §6), and one before the envelope, is about us: the operator can mend it.
    init(_ code: CURLcode, answer: Int, isOnMessage: Bool) {
        let isOnEnvelope = code == CURLE_SEND_ERROR
        let isOnLetter = isOnEnvelope || code == CURLE_WEIRD_SERVER_REPLY && isOnMessage
        guard isOnLetter, (400...599).contains(answer) else {
            self = .temporary(Self.reason(code, answer))
            return
        }
        // Its words may hold the address: the number will do.
        let reason = "the mail server answered \(answer) to the \(isOnEnvelope ? "envelope" : "message")"
        let isFinal = answer >= 500 && ![530, 534, 535, 538].contains(answer)
        self = isFinal ? .refused(reason) : .temporary(reason)
    }

    private static func reason(_ code: CURLcode, _ answer: Int) -> String {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: "the mail server's name has no address"
        case CURLE_COULDNT_CONNECT: "the mail server cannot be reached"
        case CURLE_OPERATION_TIMEDOUT: "the mail server does not answer in time"
        case CURLE_USE_SSL_FAILED: "the mail server does not offer STARTTLS"
        case CURLE_PEER_FAILED_VERIFICATION: "the mail server's certificate does not verify"
        case CURLE_SSL_CACERT_BADFILE: "the file of authorities cannot be read"
        case CURLE_LOGIN_DENIED: "the mail server does not take this user and password"
        case CURLE_WEIRD_SERVER_REPLY where answer > 0: "the mail server answered \(answer)"
        default: "no conversation with the mail server: " + String(cString: curl_easy_strerror(code)).lowercased()
        }
    }
}
