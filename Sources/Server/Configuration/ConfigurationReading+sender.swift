import Mail
import Values

extension ConfigurationReading {
    /// The sender of mails; nil when it is faulty. The default is an address at the issuer's host that takes no
    /// replies.
    mutating func sender(under issuer: IssuerURL?) -> Sender? {
        let expected = "an address, or a name and an address as in Example <no-reply@example.com>"
        guard place(of: .mailFrom) == nil else { return value(.mailFrom, expected, Sender.init) }
        guard let issuer else { return nil }
        // RFC 5321 §4.1.3
        let literal = IPAddress(issuer.host).map { $0.description.contains(":") ? "[IPv6:\($0)]" : "[\($0)]" }
        guard let sender = Sender("no-reply@\(literal ?? issuer.host)") else {
            refuse(.mailFrom, "given: the issuer's host is no domain that mail can come from")
            return nil
        }
        return sender
    }
}
