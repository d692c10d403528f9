/// A language of the pages and mails. Its raw value is the code in `lang` and in the name of its text file.
public enum Language: String, CaseIterable, Sendable {
    case english = "en"
    case norwegian = "no"
    case swedish = "sv"
    case german = "de"

    /// The language that a user prefers: the first known one of `ui_locales`, else the most wanted known one of
    /// `Accept-Language`, else English.
    public static func preferred(uiLocales: String?, acceptLanguage: String?) -> Language {
        // OpenID Connect Core §3.1.2.1: separated by spaces, the most preferred first.
        let asked = (uiLocales ?? "").split(separator: " ").prefix(20).lazy.compactMap { Language(tag: $0) }
        return asked.first ?? accepted(acceptLanguage ?? "") ?? .english
    }

    /// The language of a tag such as `nb-NO`, by its first part (RFC 5646 §2.1); nil if it is not one of ours.
    public init?(tag: some StringProtocol) {
        switch tag.prefix(while: { $0 != "-" && $0 != "_" }).lowercased() {
        case "en": self = .english
        case "no", "nb", "nn": self = .norwegian
        case "sv": self = .swedish
        case "de": self = .german
        default: return nil
        }
    }

    /// RFC 9110 §12.5.4: a tag's weight is 1 unless given, and 0 means "not this one". The first of equals wins.
    private static func accepted(_ header: String) -> Language? {
        var best: (language: Language, weight: Double)?
        // Only the beginning: a client may send 32 KiB with each request.
        let header = Substring(header.utf8.prefix(1000))
        for range in header.split(separator: ",").prefix(50) {
            let parts = range.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            guard let tag = parts.first, let language = Language(tag: tag) else { continue }
            let weight = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }.map {
                Double($0.dropFirst(2)) ?? 0
            }
            if weight ?? 1 > best?.weight ?? 0 { best = (language, weight ?? 1) }
        }
        return best?.language
    }
}
