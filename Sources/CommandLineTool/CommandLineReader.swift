/// Passes the words of a command line to their parameters.
struct CommandLineReader {
    private let parameters: [Parameter]
    private let groups: [any CommandArguments]
    private let usage: Usage

    init(_ declarations: Declarations, usage: Usage) {
        parameters = declarations.parameters
        groups = declarations.groups
        self.usage = usage
    }

    /// Fills the parameters that `arguments` name. Throws for unknown names and for missing values.
    func read(_ arguments: [String]) throws(CommandExit) {
        do throws(Misuse) {
            let missing = try fill(arguments)
            if let missing { throw Misuse.missing(missing) }
            for group in groups { try group.validate() }
        } catch {
            throw CommandExit(error, usage: usage)
        }
    }

    /// The first required parameter that got no value.
    private func fill(_ arguments: [String]) throws(Misuse) -> Parameter? {
        guard !arguments.contains(where: { $0.unicodeScalars.contains("\u{FFFD}") }) else { throw .notText }
        var words = arguments[...]
        var given: [Int: String] = [:]
        var unknown: String?
        var unexpected: [String] = []
        var positions = parameters.indices.filter { parameters[$0].form == .argument }[...]
        var isPastOptions = false
        while let word = words.popFirst() {
            if !isPastOptions, word == "--" {
                isPastOptions = true
            } else if !isPastOptions, word.isOption {
                let name = String(word.prefix { $0 != "=" })
                guard let index = parameters.firstIndex(where: { $0.names.contains(name) }) else {
                    unknown = unknown ?? name
                    continue
                }
                let inline = name.count < word.count ? String(word.dropFirst(name.count + 1)) : nil
                try take(parameters[index], name, inline, &words, after: given[index])
                given[index] = name
            } else if let index = positions.popFirst() {
                guard parameters[index].take(word) else { throw .invalid(word, for: parameters[index]) }
                given[index] = word
            } else {
                unexpected.append(word)
            }
        }
        if let unknown { throw .unknownOption(unknown, known: parameters) }
        guard unexpected.isEmpty else { throw .unexpected(unexpected) }
        return parameters.indices.first { parameters[$0].isRequired && given[$0] == nil }.map { parameters[$0] }
    }

    /// Takes a flag, or an option's value: the text after `=` or the next word.
    private func take(
        _ parameter: Parameter, _ name: String, _ inline: String?, _ words: inout ArraySlice<String>,
        after earlier: String?
    ) throws(Misuse) {
        if parameter.form == .flag {
            if let inline { throw .unexpectedValue(inline, of: name) }
            if let earlier, parameter.names.count > 1 { throw .contradiction(name, after: earlier) }
            _ = parameter.take(name)
            return
        }
        let next = words.first.flatMap { $0.isOption || $0 == "--" ? nil : $0 }
        guard let value = inline ?? next else { throw .missingValue(of: parameter) }
        if inline == nil { words.removeFirst() }
        guard parameter.take(value) else { throw .invalid(value, for: parameter) }
    }
}

extension String {
    /// A single dash is a value: in many programs it means standard input.
    fileprivate var isOption: Bool { hasPrefix("-") && count > 1 && !isDigest }

    /// A SHA-256 in base64url, like key ids (RFC 7638 §3): one in 64 begins with a dash, and no option looks like it.
    private var isDigest: Bool {
        utf8.count == 43 && utf8.allSatisfy { UInt8(ascii: "-") == $0 || UInt8(ascii: "_") == $0 || $0.isAlphanumeric }
    }
}

extension UInt8 {
    fileprivate var isAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
