import InternationalText
import Mustache

/// The texts of every mail, in every language: `templates.mails(.accountDeleted, in: frame)` writes it.
public struct MailTemplates: Sendable {
    private let versions: [Language: Version]
    private let site: String

    private struct Version: Sendable {
        let texts: Texts
        let subject: MustacheTemplate
        let text: MustacheTemplate
        let html: MustacheTemplate

        init(from files: ResourceFiles, texts: Texts) throws(TemplateFault) {
            func template(_ name: String) throws(TemplateFault) -> MustacheTemplate {
                let path = files.path(name)
                return try .parse(try texts.fill(try files.text(name), of: path), of: path)
            }
            self.texts = texts
            subject = try .parse("{{subject}}", of: "mail.txt")
            text = try template("mail.txt")
            html = try template("mail.html")
        }
    }

    init(from files: ResourceFiles, translations: Translations, site: String) throws(TemplateFault) {
        var versions: [Language: Version] = [:]
        for (language, texts) in translations.languages {
            versions[language] = try Version(from: files, texts: texts)
        }
        self.versions = versions
        self.site = site
    }

    /// Writes `mail`, perhaps in a merchant's own text. Its sender is the frame's brand, or else this site.
    public func callAsFunction(_ mail: MailTemplate, in frame: Frame, saying own: OwnMail? = nil) -> MailText {
        guard let version = versions[frame.language] else { return MailText(subject: "", text: "", html: "") }
        var words = mail.words(version.texts)
        words["language"] = frame.language.rawValue
        words["sender"] = frame.brand?.name.nameInMail ?? site.onOneLine
        words["site"] = frame.brand == nil ? nil : site
        own?.replaceTexts(of: mail, in: &words)
        return MailText(
            subject: version.subject.render(words, escaping: .none),
            text: version.text.render(words, escaping: .none), html: version.html.render(words, escaping: .html))
    }
}

extension String {
    /// The name without anything that could end its line and begin a header or a new sentence.
    var onOneLine: String {
        let ends: [Unicode.GeneralCategory] = [.control, .lineSeparator, .paragraphSeparator]
        return String(
            String.UnicodeScalarView(
                unicodeScalars.map { ends.contains($0.properties.generalCategory) ? " " : $0 }))
    }
}

extension String {
    /// The name of a merchant or a client, on one line and in a form that mail programs turn into no link, alone or
    /// with the text beside it: the owner chooses it, and readers trust our mails.
    var nameInMail: String {
        var name = String.UnicodeScalarView()
        for scalar in onOneLine.unicodeScalars {
            let read = scalar.isASCII ? String(scalar) : String(scalar).compatiblyDecomposed
            name.append(read.unicodeScalars.contains(where: Self.partsOfAddresses.contains) ? " " : scalar)
            // It joins words invisibly, so a name looks the same.
            if read.unicodeScalars.contains(where: Self.dots.contains) { name.append("\u{2060}") }
        }
        return String(name)
    }

    private static let partsOfAddresses: Set<Unicode.Scalar> = ["/", "\\", ":", "@", "\u{2044}", "\u{2215}"]
    /// The full stop, and the characters that host names read as one (UTS #46 §2.3).
    private static let dots: Set<Unicode.Scalar> = [".", "\u{3002}"]
}
