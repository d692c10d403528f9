extension String {
    /// `newKeyFile` and `NewKeyFile` as `new-key-file`; consecutive capitals are one word, as in `logo-uri`.
    var kebabCased: String {
        let letters = Array(self)
        var text = ""
        for (index, letter) in letters.enumerated() {
            if letter.isUppercase, index > 0 {
                let endsWord = !letters[index - 1].isUppercase
                let beginsWord = index + 1 < letters.count && letters[index + 1].isLowercase
                if endsWord || beginsWord { text += "-" }
            }
            text += letter.lowercased()
        }
        return text
    }

    /// Lines of at most `width` columns, `indent` of them blank; a longer word gets its own line.
    func wrapped(to width: Int, indent: Int = 0) -> String {
        let margin = String(repeating: " ", count: indent)
        return split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { $0.lines(of: width - indent) }
            .map { $0.isEmpty ? "" : margin + $0 }
            .joined(separator: "\n")
    }
}

extension Substring {
    fileprivate func lines(of width: Int) -> [Substring] {
        var lines: [Substring] = []
        var rest = self
        while rest.count > width, let space = rest.prefix(width).lastIndex(of: " ") ?? rest.firstIndex(of: " ") {
            lines.append(rest[..<space])
            rest = rest[rest.index(after: space)...]
        }
        return lines + [rest]
    }
}
