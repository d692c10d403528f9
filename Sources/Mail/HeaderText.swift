import Cryptography

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
