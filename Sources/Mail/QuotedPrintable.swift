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
