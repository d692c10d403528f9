import Cryptography
import Glibc
import Text
public import Values

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

/// A mail to send: plain text, and the same as HTML.
public struct MailMessage: Sendable, Equatable {
    public let recipient: String
    public let subject: String
    public let text: String
    public let html: String

    public init(recipient: String, subject: String, text: String, html: String) {
        self.recipient = recipient
        self.subject = subject
        self.text = text
        self.html = html
    }
}

/// Identifies a mail, the same at each attempt to send it, so that a receiver recognizes a duplicate.
public struct MessageID: Sendable, Hashable {
    /// Letters, digits and hyphens.
    public let id: String
    public let date: Timestamp

    public init(id: String, date: Timestamp) {
        self.id = id
        self.date = date
    }
}

/// Free text in a header field: unchanged, or in encoded words (RFC 2047).
enum HeaderText {
    /// RFC 2047 §2, for lines with an encoded word, including the field's name.
    private static let longestLine = 76
    /// The most that fits on one line with the field's name.
    private static let longestPlain = 60

    /// For `Subject`: ASCII stays unchanged, unless it looks like an encoded word. `field` is the text before it.
    static func unstructured(_ text: String, after field: String) -> String {
        let text = withoutControls(text)
        let isPlain = text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !text.contains("=?")
        return isPlain && text.utf8.count <= longestPlain ? text : words(text, after: field)
    }

    /// A name and an address. The address gets its own line if both are too long for one.
    static func mailbox(_ name: String, _ address: String, after field: String) -> String {
        let phrase = phrase(name, after: field)
        let line = (field + phrase).split(separator: "\r\n").last ?? ""
        let isShort = line.utf8.count + 1 + address.utf8.count <= longestLine
        return phrase + (isShort ? " " : "\r\n ") + address
    }

    /// For the name before an address (RFC 5322 §3.2.5).
    private static func phrase(_ text: String, after field: String) -> String {
        let text = withoutControls(text)
        let isPlain = text.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
        return isPlain && !text.contains("=?") && text.utf8.count <= longestPlain
            ? "\"\(text)\"" : words(text, after: field)
    }

    /// A control character could end the field and begin another.
    private static func withoutControls(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }

    private static func words(_ text: String, after field: String) -> String {
        var words: [[UInt8]] = [[]]
        var room = bytesInWord(after: field)
        // RFC 2047 §5: no character is split between two words.
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if words[words.count - 1].count + bytes.count > room {
                words.append([])
                room = bytesInWord(after: " ")
            }
            words[words.count - 1] += bytes
        }
        return words.map { opening + Base64.encode($0) + closing }.joined(separator: "\r\n ")
    }

    private static let opening = "=?utf-8?B?"
    private static let closing = "?="

    /// How many bytes of text a word may have on a line that begins with `start`: 45 on a line of its own.
    private static func bytesInWord(after start: String) -> Int {
        (longestLine - start.utf8.count - opening.utf8.count - closing.utf8.count) / 4 * 3
    }
}

/// Text in lines of at most 76 ASCII characters (RFC 2045 §6.7).
enum QuotedPrintable {
    private static let longestLine = 76
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Encodes the UTF-8 of `text`; line breaks of every kind become CRLF.
    static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        for line in lines(of: text) {
            append(line, to: &encoded)
            encoded += [0x0D, 0x0A]
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func append(_ line: [UInt8], to encoded: inout [UInt8]) {
        var width = 0
        for (index, byte) in line.enumerated() {
            let isLast = index == line.count - 1
            // Rule 3: white space must not end a line.
            let isPlain = (0x21...0x7E).contains(byte) && byte != 0x3D || (byte == 0x20 || byte == 0x09) && !isLast
            let unit = isPlain ? [byte] : [0x3D, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            // One column stays free for the `=` of a soft line break.
            if width + unit.count > longestLine - (isLast ? 0 : 1) {
                encoded += [0x3D, 0x0D, 0x0A]
                width = 0
            }
            encoded += unit
            width += unit.count
        }
    }

    private static func lines(of text: String) -> [[UInt8]] {
        var lines: [[UInt8]] = [[]]
        var previous: UInt8 = 0
        for byte in text.utf8 {
            switch byte {
            case 0x0A where previous == 0x0D: break
            case 0x0A, 0x0D: lines.append([])
            default: lines[lines.count - 1].append(byte)
            }
            previous = byte
        }
        // A line break at the end does not begin another line.
        if lines.count > 1, lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }
}

/// The sender of our mails: an address, and perhaps a display name.
public struct Sender: Sendable, Hashable, CustomStringConvertible {
    public let name: String?
    public let address: MailAddress

    public init(name: String? = nil, address: MailAddress) {
        self.name = name
        self.address = address
    }

    /// Reads `address`, or `Name <address>`; nil for anything else.
    public init?(_ text: String) {
        guard text.hasSuffix(">") else {
            guard let address = MailAddress(text) else { return nil }
            self.init(address: address)
            return
        }
        guard let start = text.lastIndex(of: "<"),
            let address = MailAddress(String(text[text.index(after: start)...].dropLast()))
        else { return nil }
        let name = String(text[..<start].trimming(while: \.isWhitespace))
        let isName = !name.unicodeScalars.contains {
            $0.value < 0x20 || $0.value == 0x7F || "<>\"\\".unicodeScalars.contains($0)
        }
        guard isName, name.utf8.count <= 100 else { return nil }
        self.init(name: name.isEmpty ? nil : name, address: address)
    }

    public var description: String { name.map { "\($0) <\(address)>" } ?? address.description }
}
