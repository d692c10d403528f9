extension String {
    /// The text on one line that cannot control a terminal: control characters and line separators are escaped.
    var printable: String {
        guard unicodeScalars.contains(where: \.isUnprintable) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isUnprintable {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// `printable`, in quotes where it could be confused with the text around it.
    var printableWord: String {
        let printable = self.printable
        let isPlain = !printable.isEmpty && !printable.contains { " \"=\\".contains($0) }
        guard !isPlain else { return printable }
        return "\"" + printable.map { $0 == "\"" ? "\\\"" : String($0) }.joined() + "\""
    }
}

extension Unicode.Scalar {
    /// Control characters, line separators and format characters, which include those that reverse the text direction.
    fileprivate var isUnprintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
