import InternationalText

/// The domain of an e-mail address.
public enum DomainName {
    /// The name in ASCII (RFC 5891), as mail routing uses it, or an address in brackets (RFC 5321 §4.1.3); nil for
    /// anything else. A name that is all ASCII keeps its case.
    public static func ascii(_ text: some StringProtocol) -> String? {
        if text.hasPrefix("["), text.hasSuffix("]") {
            let address = text.dropFirst().dropLast()
            let isAddress =
                !address.isEmpty && address.utf8.allSatisfy { isLetterOrDigit($0) || $0 == 0x2E || $0 == 0x3A }
            return isAddress ? String(text) : nil
        }
        guard !text.contains(where: { $0.isWhitespace || "/?#@:%\\[]".contains($0) }) else { return nil }
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        guard let name = isASCII ? String(text) : HostName.ascii(text) else { return nil }
        // RFC 1035 §2.3.4
        guard name.utf8.count <= 253 else { return nil }
        let isName = name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { isLetterOrDigit($0) || $0 == 0x2D || $0 == 0x5F }
        }
        return isName ? name : nil
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
