import Values

// MARK: - Numbers (RFC 8259 §6)

extension JSONReader {
    mutating func number() throws(JSONSyntaxError) -> JSON {
        let start = index
        var isWhole = true
        if next == UInt8(ascii: "-") { index += 1 }
        if next == UInt8(ascii: "0") { index += 1 } else { try digits() }
        if next == UInt8(ascii: ".") {
            isWhole = false
            index += 1
            try digits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            isWhole = false
            index += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
            try digits()
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if isWhole, let number = Int64(text) { return .integer(number) }
        guard let number = Double(text), number.isFinite else { throw .malformed(offset: start) }
        return .number(number)
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = index
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard index > start else { throw fault }
    }
}

// MARK: - Strings (RFC 8259 §7)

extension JSONReader {
    mutating func string() throws(JSONSyntaxError) -> String {
        guard next == UInt8(ascii: "\"") else { throw fault }
        index += 1
        let start = index
        var decoded: [UInt8]?
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw fault }
            if byte == UInt8(ascii: "\\") {
                var text = decoded ?? Array(bytes[start..<index])
                decoded = nil
                index += 1
                text.append(contentsOf: Array(String(try escape()).utf8))
                decoded = text
            } else {
                decoded?.append(byte)
                index += 1
            }
        }
        guard next != nil else { throw fault }
        let text =
            if let decoded { String(validating: decoded, as: UTF8.self) } else {
                String(validating: bytes[start..<index], as: UTF8.self)
            }
        guard let text else { throw .malformed(offset: start) }
        // Checked before the text is hashed or compared.
        guard takesAnyText || text.isStreamSafe else { throw .tooManyMarks(offset: start) }
        index += 1
        return text
    }

    private mutating func escape() throws(JSONSyntaxError) -> Unicode.Scalar {
        guard let letter = next else { throw fault }
        index += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try scalar()
        default: throw fault
        }
    }

    /// One code point from `\uXXXX`, or from two that make a surrogate pair; half a pair is a fault.
    private mutating func scalar() throws(JSONSyntaxError) -> Unicode.Scalar {
        let unit = try codeUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, next == UInt8(ascii: "\\") else { throw fault }
        index += 1
        guard next == UInt8(ascii: "u") else { throw fault }
        index += 1
        let low = try codeUnit()
        guard (0xDC00...0xDFFF).contains(low) else { throw fault }
        let high = UInt32(unit - 0xD800) << 10
        guard let scalar = Unicode.Scalar(0x10000 + high + UInt32(low - 0xDC00)) else { throw fault }
        return scalar
    }

    private mutating func codeUnit() throws(JSONSyntaxError) -> UInt16 {
        guard index + 4 <= bytes.count else { throw fault }
        var unit: UInt16 = 0
        for byte in bytes[index..<index + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else { throw fault }
            unit = unit << 4 | UInt16(digit)
        }
        index += 4
        return unit
    }
}
