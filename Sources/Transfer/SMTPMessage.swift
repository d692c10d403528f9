/// A message and its envelope.
public struct SMTPMessage: Sendable {
    public let sender: String
    public let recipient: String
    /// Lines that end in CRLF; dots are doubled on the way (RFC 5321 §4.5.2).
    public let bytes: [UInt8]

    /// Nil for an address that could end its command, and for a message with a bare CR or LF: some servers take that
    /// for the end of the message and read commands after it (RFC 5321 §2.3.8).
    public init?(_ bytes: [UInt8], from sender: String, to recipient: String) {
        guard Self.isAddress(sender), Self.isAddress(recipient), Self.hasWholeLineEnds(bytes) else { return nil }
        self.bytes = bytes
        self.sender = sender
        self.recipient = recipient
    }

    private static func isAddress(_ text: String) -> Bool { isPrintable(text) && !text.contains(where: "<>".contains) }

    /// ASCII without blanks and control bytes, and not empty.
    static func isPrintable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func hasWholeLineEnds(_ bytes: [UInt8]) -> Bool {
        var previous: UInt8 = 0
        for byte in bytes {
            guard (previous == 0x0D) == (byte == 0x0A) else { return false }
            previous = byte
        }
        return previous != 0x0D
    }
}
