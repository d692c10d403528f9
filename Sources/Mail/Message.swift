import Glibc
import Values

/// A mail as it is sent (RFC 5322), with text and HTML as alternatives (RFC 2046 §5.1.4).
///
/// All ASCII in short lines, so that no server on the way has a reason to change it. It is byte for byte the same at
/// each attempt.
struct Message: Sendable {
    let text: String

    /// Composes `mail`. `recipient` is its checked recipient.
    init(_ mail: MailMessage, from sender: Sender, to recipient: MailAddress, _ messageID: MessageID) {
        let address = "<\(sender.address)>"
        let from = sender.name.map { HeaderText.mailbox($0, address, after: "From: ") } ?? address
        // `=_` occurs neither in quoted-printable text nor in our headers.
        let boundary = "=_\(messageID.id)"
        let fields = [
            "Date: \(messageID.date.rfc5322)",
            "From: \(from)",
            "To: <\(recipient)>",
            "Subject: \(HeaderText.unstructured(mail.subject, after: "Subject: "))",
            "Message-ID: <\(messageID.id)@\(sender.address.domain)>",
            // RFC 3834 §5: keeps automatic replies away.
            "Auto-Submitted: auto-generated",
            "MIME-Version: 1.0",
            "Content-Type: multipart/alternative; boundary=\"\(boundary)\"",
        ]
        // Clients prefer the last alternative.
        let parts = [("plain", mail.text), ("html", mail.html)].map { kind, text in
            """
            --\(boundary)\r
            Content-Type: text/\(kind); charset=utf-8\r
            Content-Transfer-Encoding: quoted-printable\r
            \r
            \(QuotedPrintable.encode(text))
            """
        }
        text = fields.joined(separator: "\r\n") + "\r\n\r\n" + parts.joined() + "--\(boundary)--\r\n"
    }
}

extension Timestamp {
    /// RFC 5322 §3.3, in UTC.
    var rfc5322: String {
        var seconds = time_t(self.seconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }
            .joined(separator: ":")
        let day = "\(days[Int(parts.tm_wday)]), \(parts.tm_mday) \(months[Int(parts.tm_mon)])"
        return "\(day) \(Int(parts.tm_year) + 1900) \(time) +0000"
    }
}
