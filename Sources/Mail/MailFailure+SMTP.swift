import Transfer

extension MailFailure {
    /// The meaning of `failure` for the mail.
    ///
    /// A 5xx to the envelope or to the message is final (RFC 5321 §4.2.1). A demand for TLS or other credentials (RFC
    /// 3207 §4, RFC 4954 §6), a 5xx before the envelope and one to its sender concern our settings, which the operator
    /// can correct.
    init(_ failure: SMTPFailure) {
        switch failure {
        case .refusedEnvelope(let answer): self.init(answer, to: "envelope")
        case .refusedMessage(let answer): self.init(answer, to: "message")
        case .refusedSender(let answer): self = .temporary("the mail server answered \(answer) to the sender")
        default: self = .temporary(Self.reason(failure))
        }
    }

    /// The server's text may contain the address, so the log gets only the number.
    private init(_ answer: Int, to step: String) {
        let reason = "the mail server answered \(answer) to the \(step)"
        let isFinal = answer >= 500 && ![530, 534, 535, 538].contains(answer)
        self = isFinal ? .refused(reason) : .temporary(reason)
    }

    private static func reason(_ failure: SMTPFailure) -> String {
        switch failure {
        case .refusedSender(let answer), .refusedEnvelope(let answer), .refusedMessage(let answer),
            .answered(let answer):
            "the mail server answered \(answer)"
        case .unknownHost: "the mail server's name has no address"
        case .nameServiceBusy: "the name service does not answer"
        case .unreachable: "the mail server cannot be reached"
        case .timedOut: "the mail server does not answer in time"
        case .withoutTLS: "the mail server does not offer STARTTLS"
        case .untrusted: "the mail server's certificate does not verify"
        case .unreadableAuthorities: "the file of authorities cannot be read"
        case .badCredentials: "the mail server rejects this user and password"
        case .other(let words): "no conversation with the mail server: " + words.lowercased()
        }
    }
}
