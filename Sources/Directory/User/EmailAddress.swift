public import Storage
import Text
import Values

/// An e-mail address as a user name: trimmed, in lower case, its domain in ASCII, the rest unchanged, including `+`
/// aliases. A mailbox has one text, however its domain is typed, and so one user and one throttle.
public struct EmailAddress: Sendable, Hashable {
    public let text: String

    /// Nil unless `input` is `local@domain` of at most 254 bytes without white space or control characters.
    public init?(_ input: String) {
        let trimmed = input.trimmingScalars(while: \.isWhiteSpace)
        let parts = trimmed.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty, trimmed.utf8.count <= 254,
            !trimmed.unicodeScalars.contains(where: {
                $0.isWhiteSpace || $0.value < 0x20 || $0.value == 0x7F || $0 == "<" || $0 == ">" || $0 == ","
            })
        else { return nil }
        let lowered = trimmed.lowercased()
        // U+212A in lower case is the letter k: another mailbox.
        guard parts[0].lowercased().utf8.count(where: { $0 < 0x80 }) == parts[0].utf8.count(where: { $0 < 0x80 }) else {
            return nil
        }
        guard let at = lowered.lastIndex(of: "@") else { return nil }
        let domain = lowered[lowered.index(after: at)...]
        // An invalid domain stays as it is: the text may be a user name of another system, which gets no mail.
        text = lowered[...at] + (DomainName.ascii(domain)?.lowercased() ?? String(domain))
        guard text.utf8.count <= 254 else { return nil }
    }

    /// Whether a user may be given this address. Existing users keep addresses of other systems, with which they sign
    /// in. A new address must be unmistakable and deliverable by every server: before the `@` is a dot-string (RFC 5321
    /// §4.1.2), in ASCII and without quotes.
    public var isOrdinary: Bool { MailAddress(text)?.description == text }

    /// The address, if a user may be given it.
    public var ordinary: EmailAddress? { isOrdinary ? self : nil }

    /// Reads an address for a new user, or a new address. Nil unless a user may be given it.
    public init?(new input: String?) {
        guard let input, let address = EmailAddress(input), address.isOrdinary else { return nil }
        self = address
    }

    /// The text after the `@`.
    public var domain: String { String(text.drop { $0 != "@" }.dropFirst()) }
}

extension EmailAddress: SQLBindable {
    public var sqlValue: SQLValue { .text(text) }
}
