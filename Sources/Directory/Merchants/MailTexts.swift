import JSON

/// A merchant's own words for the mails that its clients cause: subjects and texts by mail and language.
///
/// They are sent from the platform's address and so believed, whoever writes them. What protects the reader is checked
/// here, when they are written (docs/decisions/mails-of-a-merchant.md).
public struct MailTexts: Sendable {
    public struct Text: Sendable {
        public let subject: String
        public let text: String
    }

    /// The mails that a merchant may word. Not those that warn users of what happened to their account.
    public enum Kind: String, Sendable, CaseIterable {
        case signInCode, signUpCode, signUpExisting, verifyEmail, resetPassword, confirmAddress, choosePassword

        /// Without it in the text, the reader cannot go on.
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

        /// How long they work.
        public var times: [String] {
            switch self {
            case .signInCode, .signUpCode, .verifyEmail: ["minutes"]
            case .resetPassword, .choosePassword: ["hours"]
            case .confirmAddress: ["days"]
            case .signUpExisting: []
            }
        }
    }

    /// What every mail may name: the merchant and the application. A subject may name nothing else, because locked
    /// screens show it.
    public static let names = ["sender", "app"]
    /// Those of the pages.
    public static let languages = ["en", "no", "sv", "de"]
    static let longestSubject = 200
    static let longestText = 4000
    /// In bytes, of all together.
    static let longest = 32_768

    /// The document, as text: it is read when a mail is written, and not for every page.
    let stored: String

    /// - Parameter stored: what was checked once.
    init(stored: String) { self.stored = stored }

    var json: JSON { (try? JSON(parsing: Array(stored.utf8))) ?? .object([]) }

    /// The words for a mail, if the merchant has its own in that language.
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
