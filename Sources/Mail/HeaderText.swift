import Cryptography

/// Free text in a header field: unchanged, or in encoded words (RFC 2047).
enum HeaderText {
    /// RFC 2047 §2: a word has at most 75 characters, which is 45 bytes of text.
    private static let bytesInWord = 45
    /// The most that fits on one line with the field's name.
    private static let longestPlain = 60

    /// For `Subject`: ASCII stays unchanged, unless it looks like an encoded word.
    static func unstructured(_ text: String) -> String {
        let text = withoutControls(text)
        let isPlain = text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !text.contains("=?")
        return isPlain && text.utf8.count <= longestPlain ? text : words(text)
    }

    /// For the name before an address (RFC 5322 §3.2.5).
    static func phrase(_ text: String) -> String {
        let text = withoutControls(text)
        let isPlain = text.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
        return isPlain && !text.contains("=?") && text.utf8.count <= longestPlain ? "\"\(text)\"" : words(text)
    }

    /// A control character could end the field and begin another.
    private static func withoutControls(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }

    private static func words(_ text: String) -> String {
        var words: [[UInt8]] = [[]]
        // RFC 2047 §5: no character is split between two words.
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if words[words.count - 1].count + bytes.count > bytesInWord { words.append([]) }
            words[words.count - 1] += bytes
        }
        return words.map { "=?utf-8?B?\(Base64.encode($0))?=" }.joined(separator: "\r\n ")
    }
}
