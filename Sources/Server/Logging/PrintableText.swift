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
    /// the text around it. It goes by scalars, as readers do: a quote with a combining mark is another character, and
    /// ends the text none the less.
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

extension Unicode.Scalar {
    fileprivate var escaped: String { "\\u{\(String(value, radix: 16))}" }

    /// Control characters, line separators and format characters, which include those that reverse the text direction.
    fileprivate var isUnprintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
