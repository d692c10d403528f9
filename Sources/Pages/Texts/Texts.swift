import Mustache

/// The texts of one language, by key.
struct Texts: Sendable {
    let language: Language
    private let texts: [String: String]
    private let parsed: [String: MustacheTemplate]

    /// - Parameter file: what the texts were read from, by key.
    init(_ language: Language, _ texts: [String: String], file: (_ key: String) -> String) throws(TemplateFault) {
        self.language = language
        self.texts = texts
        var parsed: [String: MustacheTemplate] = [:]
        for (key, text) in texts { parsed[key] = try .parse(text, of: file(key), key: key) }
        self.parsed = parsed
    }

    var keys: Set<String> { Set(texts.keys) }

    func has(_ key: String) -> Bool { texts[key] != nil }

    /// The text of `key`, which a template writes with the values that it can see at that place.
    ///
    /// The keys that pages ask for are compared with what there is at the start, so the last resort is never needed.
    subscript(key: String) -> Any { parsed[key] ?? key }

    /// Puts `parts` and the texts in where a template says `[[key]]`.
    func fill(
        _ template: String, of file: String, parts: [String: String] = [:]
    ) throws(TemplateFault) -> String {
        var filled = ""
        var rest = template[...]
        while let mark = rest.firstRange(of: "[[") {
            filled += rest[..<mark.lowerBound]
            rest = rest[mark.upperBound...]
            guard let end = rest.firstRange(of: "]]") else {
                throw TemplateFault(file: file, "“[[” without “]]”: \(rest.prefix(40))")
            }
            let key = String(rest[..<end.lowerBound])
            guard let text = parts[key] ?? texts[key] else {
                throw TemplateFault(file: file, key: key, "there is no such text")
            }
            filled += text
            rest = rest[end.upperBound...]
        }
        return filled + rest
    }
}
