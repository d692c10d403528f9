import InternationalText
import JSON

/// A merchant's own text for the mails that its clients cause: subjects and texts by mail and language.
///
/// They are sent from the platform's address, and so users trust them. What protects the reader is checked here, when
/// they are written (docs/decisions/mails-of-a-merchant.md).
public struct MailTexts: Sendable {
    public struct Text: Sendable {
        public let subject: String
        public let text: String
    }

    /// The mails that a merchant may word. Mails that warn users of changes to their account are not among them.
    public enum Kind: String, Sendable, CaseIterable {
        case signInCode, signUpCode, signUpExisting, verifyEmail, resetPassword, confirmAddress, choosePassword

        /// The placeholders that the text must contain, because the reader cannot continue without them.
        public var codes: [String] {
            switch self {
            case .signInCode, .signUpCode, .verifyEmail: ["code"]
            case .signUpExisting, .resetPassword, .confirmAddress, .choosePassword: []
            }
        }

        public var links: [String] {
            switch self {
            case .signInCode, .verifyEmail: []
            case .signUpCode, .resetPassword, .confirmAddress, .choosePassword: ["link"]
            case .signUpExisting: ["signInLink", "resetLink"]
            }
        }

        /// The placeholders for how long the code or link works.
        public var times: [String] {
            switch self {
            case .signInCode, .signUpCode, .verifyEmail: ["minutes"]
            case .resetPassword, .choosePassword: ["hours"]
            case .confirmAddress: ["days"]
            case .signUpExisting: []
            }
        }
    }

    /// The placeholders that every mail may use: the merchant and the application. A subject may use no others, because
    /// locked screens show it.
    public static let names = ["sender", "app"]
    /// The languages of the pages.
    public static let languages = ["en", "no", "sv", "de"]
    static let longestSubject = 200
    static let longestText = 4000
    /// In bytes, all texts together.
    static let longest = 32_768

    /// The document as text: it is parsed when a mail is written, and not for every page.
    let stored: String

    /// - Parameter stored: a document that was checked when it was stored.
    init(stored: String) { self.stored = stored }

    var json: JSON { (try? JSON(parsing: Array(stored.utf8))) ?? .object([]) }

    /// The text for a mail, if the merchant has one in that language.
    public subscript(mail: String, language: String) -> Text? {
        let found = json[mail]?[language]
        guard let subject = found?["subject"]?.string, let text = found?["text"]?.string else { return nil }
        return Text(subject: subject, text: text)
    }
}

extension Merchant {
    /// Null removes them all.
    static func mailTexts(_ members: JSONMembers) throws(JSONFault) -> MailTexts? {
        guard let json = members.any("mail_templates") else { return nil }
        return try MailTexts(checking: json)
    }
}

extension MailTexts {
    /// Reads `{"resetPassword": {"en": {"subject": "…", "text": "…"}}}`.
    init(checking json: JSON) throws(JSONFault) {
        let place = "mail_templates"
        for mail in try Self.members(json, place, of: Kind.allCases.map(\.rawValue)) {
            guard let kind = Kind(rawValue: mail.name) else { continue }
            let place = "\(place).\(kind.rawValue)"
            for language in try Self.members(mail.value, place, of: Self.languages) {
                let place = "\(place).\(language.name)"
                _ = try Self.members(language.value, place, of: ["subject", "text"])
                do {
                    try Self.check(try JSONMembers(language.value), as: kind)
                } catch {
                    throw JSONFault("\(place).\(error.member)", error.expected)
                }
            }
        }
        stored = json.text
        guard stored.utf8.count <= Self.longest else {
            throw JSONFault(place, "of \(Self.longest) bytes at most, all together")
        }
    }

    private static func members(
        _ json: JSON, _ place: String, of names: [String]
    ) throws(JSONFault) -> [JSON.Member] {
        guard let members = json.members, members.allSatisfy({ names.contains($0.name) }) else {
            throw JSONFault(place, "an object with members of \(names.joined(separator: ", "))")
        }
        return members
    }

    private static func check(_ members: JSONMembers, as kind: Kind) throws(JSONFault) {
        let subject = try members.requiredName("subject", most: longestSubject)
        try check(subject, in: "subject", names: names)
        guard let text = try members.lines("text", most: longestText) else { throw JSONFault("text", "given") }
        try check(text, in: "text", names: names + kind.codes + kind.links + kind.times)
        for code in kind.codes where !text.contains("{{\(code)}}") {
            throw JSONFault("text", "with {{\(code)}} in it, which the reader needs to continue")
        }
        for link in kind.links {
            // The rest of the line must not become part of the address.
            let lines = text.split(separator: "\n").filter { $0.contains("{{\(link)}}") }
            guard !lines.isEmpty, lines.allSatisfy({ $0 == "{{\(link)}}" }) else {
                throw JSONFault("text", "with {{\(link)}} in it, alone on its line")
            }
        }
    }

    private static func check(_ text: String, in member: String, names: [String]) throws(JSONFault) {
        // Two letters stand in for each placeholder's value: no address may be formed with them, nor a scheme before
        // it.
        let plain = names.reduce(text) { $0.replacing("{{\($1)}}", with: "xx") }
        guard !plain.contains(where: { $0 == "{" || $0 == "}" }) else {
            let known = names.map { "{{\($0)}}" }.joined(separator: ", ")
            throw JSONFault(member, "without braces, except of \(known)")
        }
        guard !hasAddress(plain), !hasScheme(text), !Self.names.contains(where: { text.contains(":{{\($0)}}") }) else {
            throw JSONFault(
                member, "without addresses, also such as example.com: only the mail's own links lead on")
        }
    }

    /// Whether a mail program would turn a part of `text` into a link: what follows `//` or `\\`, a name with a dot in
    /// it, or four numbers with dots between them (a date has three).
    private static func hasAddress(_ text: String) -> Bool {
        // An invisible character does not separate a name, and some characters count as a full stop in host names (UTS
        // #46 §2.3), as wide letters and slashes count as ordinary ones.
        let text = text.compatiblyDecomposed
        let scalars = text.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }
            .map { $0 == "\u{3002}" ? "." : $0 }
        let numbers = scalars.split { !($0 == "." || $0.isDigit) }
        return text.contains("//") || text.contains("\\\\")
            || numbers.contains { $0.split(separator: ".").count >= 4 }
            || scalars.indices.dropFirst().dropLast(2).contains { index in
                scalars[index] == "." && scalars[index - 1].isPartOfName
                    && scalars[index + 1].isPartOfName && scalars[index + 2].isPartOfName
                    && !(scalars[index + 1].isDigit && scalars[index + 2].isDigit)
            }
    }

    /// Whether it would because of a scheme, as in `tel:1`. A time of day has digits on both sides, and text in braces
    /// is no address.
    private static func hasScheme(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint })
        return scalars.indices.dropFirst().dropLast().contains { index in
            let (before, after) = (scalars[index - 1], scalars[index + 1])
            return scalars[index] == ":" && before.isPartOfName && after != "{"
                && !after.properties.isWhitespace && !(before.isDigit && after.isDigit)
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
    /// Marks and pictures may be in the name of a host too.
    fileprivate var isPartOfName: Bool {
        isASCII ? properties.isAlphabetic || isDigit : !properties.isWhitespace
    }
}
