import Mustache

/// The text message with a code, in every language: `templates.texts(code: code, minutes: 10, in: frame)` writes it.
public struct TextTemplate: Sendable {
    private let versions: [Language: MustacheTemplate]
    private let site: String

    init(from translations: Translations, site: String) {
        versions = translations.languages.compactMapValues { $0[Self.key] as? MustacheTemplate }
        self.site = site
    }

    /// Its sender is the frame's brand, or else this site.
    public func callAsFunction(code: String, minutes: Int, in frame: Frame) -> String {
        let words: [String: Any] = [
            "code": code, "minutes": minutes, "sender": frame.brand?.name.nameInMail ?? site.onOneLine,
        ]
        return versions[frame.language]?.render(words, escaping: .none) ?? ""
    }

    private static let key = "text.code"
    /// Every text that it asks for.
    static let keys = [key]
}
