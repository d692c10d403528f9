import JSON
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

/// The texts of every language, all with the same keys.
struct Translations: Sendable {
    let languages: [Language: Texts]

    /// Reads the texts, and compares them with each other and with what the pages will ask for.
    init(from files: ResourceFiles) throws(TemplateFault) {
        var languages: [Language: Texts] = [:]
        for language in Language.allCases { languages[language] = try Self.read(language, from: files) }
        let keys = languages[.english]?.keys ?? []
        for (language, texts) in languages {
            for key in texts.keys.symmetricDifference(keys).sorted() {
                throw TemplateFault(file: "\(language.rawValue).json", key: key, "is not in every language")
            }
        }
        for key in Self.asked where !keys.contains(key) {
            throw TemplateFault(file: "en.json", key: key, "is missing")
        }
        self.languages = languages
    }

    /// The keys that are built from a value's name, and so appear in no template.
    private static let asked =
        PageRefusal.keys + CodePage.keys + ConsentPage.Scope.keys + AccountPage.keys + PhonesPage.keys
        + DeleteAccountPage.keys + MessagePage.keys + DevelopmentSignInPage.keys + MailTemplate.keys + TextTemplate.keys

    /// The texts of the operator's folder, over our own.
    private static func read(_ language: Language, from files: ResourceFiles) throws(TemplateFault) -> Texts {
        let name = "\(language.rawValue).json"
        var texts = try decode(try files.embedded(name), of: name)
        guard let file = try files.overriding(name) else { return try Texts(language, texts) { _ in name } }
        let own = try decode(file.text, of: file.path)
        for (key, text) in own {
            guard texts[key] != nil else { throw TemplateFault(file: file.path, key: key, "no page uses this text") }
            texts[key] = text
        }
        return try Texts(language, texts) { own[$0] == nil ? name : file.path }
    }

    private static func decode(_ text: String, of file: String) throws(TemplateFault) -> [String: String] {
        guard let json = try? JSON(parsing: Array(text.utf8)) else {
            throw TemplateFault(file: file, "is not JSON: one object of keys and texts")
        }
        var texts: [String: String] = [:]
        for member in json.members ?? [JSON.Member("", json)] {
            guard json.members != nil, let text = member.value.string else {
                let key = json.members == nil ? nil : member.name
                throw TemplateFault(file: file, key: key, "must be a text: the file is one object of keys and texts")
            }
            texts[member.name] = text
        }
        return texts
    }
}
