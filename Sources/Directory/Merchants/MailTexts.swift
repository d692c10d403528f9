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
