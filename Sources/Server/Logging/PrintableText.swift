import JSON

extension String {
    /// The text on one line that cannot control a terminal: control characters and line separators are escaped.
    var printable: String {
        guard unicodeScalars.contains(where: \.isUnprintable) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isUnprintable {
                text += scalar.escaped
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The text as a word of a line: in quotes, with quotes and backslashes escaped, where it could be confused with
    /// the text around it. Works on scalars, as readers do: to Swift a quote with a combining mark is another
    /// character, but it still ends the text.
    var printableWord: String {
        let isPlain = !isEmpty && !unicodeScalars.contains { $0.isUnprintable || " \"=\\".unicodeScalars.contains($0) }
        guard !isPlain else { return self }
        var text = "\""
        for scalar in unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text += "\\" }
            if scalar.isUnprintable { text += scalar.escaped } else { text.unicodeScalars.append(scalar) }
        }
        return text + "\""
    }
}

extension JSON {
    /// The compact form without anything that could control a terminal. The extra escapes occur in strings only, so the
    /// document stays the same.
    var printableText: String {
        let text = self.text
        guard text.utf8.contains(where: { $0 >= 0x7F }), text.unicodeScalars.contains(where: \.isUnprintable) else {
            return text
        }
        var printable = ""
        for scalar in text.unicodeScalars {
            if scalar.isUnprintable {
                printable += scalar.escapedForJSON
            } else {
                printable.unicodeScalars.append(scalar)
            }
        }
        return printable
    }
}

extension Unicode.Scalar {
    fileprivate var escaped: String { "\\u{\(String(value, radix: 16))}" }

    /// RFC 8259 §7; a pair of surrogates beyond U+FFFF.
    fileprivate var escapedForJSON: String {
        UTF16.encode(self)?.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined() ?? ""
    }

    /// Control characters, line separators and format characters, which include those that reverse the text direction.
    fileprivate var isUnprintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
