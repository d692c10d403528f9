import JSON

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
