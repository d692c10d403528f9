import Mustache

/// The texts of one language, by key.
struct Texts: Sendable {
    let language: Language
    private let texts: [String: String]
    private let parsed: [String: MustacheTemplate]

    /// - Parameter file: the file that the text of a key was read from.
    init(_ language: Language, _ texts: [String: String], file: (_ key: String) -> String) throws(TemplateFault) {
        self.language = language
        self.texts = texts
        var parsed: [String: MustacheTemplate] = [:]
        for (key, text) in texts { parsed[key] = try .parse(text, of: file(key), key: key) }
        self.parsed = parsed
    }

    var keys: Set<String> { Set(texts.keys) }

    func has(_ key: String) -> Bool { texts[key] != nil }

    /// The text of `key`, which a template fills with the values that it can see there.
    ///
    /// The keys that pages ask for are checked at the start, so the fallback is never needed.
    subscript(key: String) -> Any { parsed[key] ?? key }

    /// Replaces `[[key]]` in a template by `parts` and the texts.
    func fill(
        _ template: String, of file: String, parts: [String: String] = [:]
    ) throws(TemplateFault) -> String {
        let template = Markup(template)
        var filled: [UInt8] = []
        filled.reserveCapacity(4 * template.bytes.count)
        var start = 0
        while let mark = template.firstIndex(of: "[[", from: start) {
            filled += template.bytes[start..<mark]
            guard let end = template.firstIndex(of: "]]", from: mark + 2) else {
                let rest = template.text(mark + 2..<template.bytes.count)
                throw TemplateFault(file: file, "“[[” without “]]”: \(rest.prefix(40))")
            }
            let key = template.text(mark + 2..<end)
            guard let text = parts[key] ?? texts[key] else {
                throw TemplateFault(file: file, key: key, "there is no such text")
            }
            filled += text.utf8
            start = end + 2
        }
        return String(decoding: filled + template.bytes[start...], as: UTF8.self)
    }
}
