/// An address for SMTP commands and header fields: ASCII, without anything that could end either.
///
/// A domain with other letters is written in its ASCII form (RFC 5891). Other letters before the `@` are refused: they
/// require SMTPUTF8 (RFC 6531) on every server on the way, which few support.
public struct MailAddress: Sendable, Hashable, CustomStringConvertible {
    public let local: String
    /// A name, or an address in brackets (RFC 5321 §4.1.3).
    public let domain: String

    /// Nil if mail cannot be sent to `text`.
    public init?(_ text: String) {
        guard let at = text.lastIndex(of: "@"), let local = Self.local(text[..<at]),
            let domain = DomainName.ascii(text[text.index(after: at)...])
        else { return nil }
        self.local = local
        self.domain = domain
    }

    public var description: String { "\(local)@\(domain)" }

    /// RFC 5321 §4.1.2: a dot-string as it is; anything else in quotes.
    private static func local(_ text: Substring) -> String? {
        // RFC 5321 §4.5.3.1.1
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let isDotString = text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty && atom.utf8.allSatisfy(isOfAtom)
        }
        if isDotString { return String(text) }
        // No real address is already quoted, or needs quoting inside the quotes.
        return text.contains("\"") || text.contains("\\") ? nil : "\"\(text)\""
    }

    /// RFC 5322 §3.2.3
    static func isOfAtom(_ byte: UInt8) -> Bool { isLetterOrDigit(byte) || "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte) }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
