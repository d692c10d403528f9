import InternationalText
import Mustache

/// The content of a mail: its subject, and its body as text and as HTML.
public struct MailText: Sendable {
    public let subject: String
    public let text: String
    public let html: String
}

/// A mail to a user.
public enum MailTemplate: Sendable {
    case signInCode(code: String, minutes: Int)
    case signUpCode(code: String, link: String, minutes: Int)
    case signUpExisting(signInLink: String, resetLink: String)
    case verifyEmail(code: String, minutes: Int)
    case changeEmailCode(code: String, minutes: Int)
    /// To the old address; shows only part of the new one.
    case emailChanged(newAddress: String)
    case resetPassword(link: String, hours: Int)
    case passwordChanged(resetLink: String)
    /// `provider` can sign the user in from now on.
    case signInLinked(provider: String, link: String)
    /// Codes that sign in can be sent to `number` from now on; shows only part of it.
    case phoneVerified(number: String, link: String)
    /// To a user whom an app signed up.
    case confirmAddress(link: String, days: Int)
    /// As above, if no password was chosen.
    case choosePassword(link: String, hours: Int)
    /// The time is in UTC, as `2026-11-21 10:58`.
    case deletionScheduled(dueAt: String, signInLink: String)
    case accountDeleted
}

extension MailTemplate {
    public var name: String {
        switch self {
        case .signInCode: "signInCode"
        case .signUpCode: "signUpCode"
        case .signUpExisting: "signUpExisting"
        case .verifyEmail: "verifyEmail"
        case .changeEmailCode: "changeEmailCode"
        case .emailChanged: "emailChanged"
        case .resetPassword: "resetPassword"
        case .passwordChanged: "passwordChanged"
        case .signInLinked: "signInLinked"
        case .phoneVerified: "phoneVerified"
        case .confirmAddress: "confirmAddress"
        case .choosePassword: "choosePassword"
        case .deletionScheduled: "deletionScheduled"
        case .accountDeleted: "accountDeleted"
        }
    }

    /// The values that its texts use.
    private var values: [String: Any] {
        switch self {
        case .signInCode(let code, let minutes), .signUpCode(let code, _, let minutes),
            .verifyEmail(let code, let minutes), .changeEmailCode(let code, let minutes):
            ["code": code, "minutes": minutes]
        case .emailChanged(let newAddress): ["newAddress": newAddress]
        case .resetPassword(_, let hours), .choosePassword(_, let hours): ["hours": hours]
        case .signInLinked(let provider, _): ["provider": provider.nameInMail]
        case .phoneVerified(let number, _): ["number": number]
        case .confirmAddress(_, let days): ["days": days]
        case .deletionScheduled(let dueAt, _): ["dueAt": dueAt]
        case .signUpExisting, .passwordChanged, .accountDeleted: [:]
        }
    }

    /// The links in it, each with the last part of its label's key.
    private var links: [(label: String, address: String)] {
        switch self {
        case .signUpCode(_, let link, _): [("confirm", link)]
        case .signUpExisting(let signInLink, let resetLink): [("signIn", signInLink), ("reset", resetLink)]
        case .resetPassword(let link, _): [("reset", link)]
        case .passwordChanged(let resetLink): [("reset", resetLink)]
        case .signInLinked(_, let link): [("account", link)]
        case .phoneVerified(_, let link): [("phones", link)]
        case .confirmAddress(let link, _): [("confirm", link)]
        case .choosePassword(let link, _): [("choose", link)]
        case .deletionScheduled(_, let signInLink): [("keep", signInLink)]
        case .signInCode, .verifyEmail, .changeEmailCode, .emailChanged, .accountDeleted: []
        }
    }

    /// What a merchant's own text may name: a single link is `link`, one of several has the name of its label.
    var facts: [String: Any] {
        let names = links.count == 1 ? ["link"] : links.map { "\($0.label)Link" }
        return values.merging(zip(names, links.map { $0.address as Any })) { $1 }
    }

    /// The addresses of its links.
    var addresses: [String] { links.map(\.address) }

    /// What a template sees.
    func words(_ texts: Texts) -> [String: Any] {
        var words = values
        for part in ["subject", "text", "otherwise"] { words[part] = texts["mail.\(name).\(part)"] }
        words["links"] = links.map { link -> [String: Any] in
            ["label": texts["mail.\(name).\(link.label)"], "address": link.address]
        }
        return words
    }

    /// Every text that `words` may ask for.
    static let keys: [String] =
        [
            signInCode(code: "", minutes: 0), signUpCode(code: "", link: "", minutes: 0),
            signUpExisting(signInLink: "", resetLink: ""), verifyEmail(code: "", minutes: 0),
            changeEmailCode(code: "", minutes: 0), emailChanged(newAddress: ""), resetPassword(link: "", hours: 0),
            passwordChanged(resetLink: ""), signInLinked(provider: "", link: ""), phoneVerified(number: "", link: ""),
            confirmAddress(link: "", days: 0),
            choosePassword(link: "", hours: 0),
            deletionScheduled(dueAt: "", signInLink: ""), accountDeleted,
        ].flatMap { template in
            (["subject", "text", "otherwise"] + template.links.map(\.label)).map { "mail.\(template.name).\($0)" }
        }
}

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
