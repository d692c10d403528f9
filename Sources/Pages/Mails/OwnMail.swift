import Mustache

/// A mail in a merchant's own text, with `{{names}}` where mails differ.
///
/// It replaces our text, its code and its links. Our text remains for who sent it, and for readers who did not ask for
/// the mail.
public struct OwnMail: Sendable {
    private let subject: String
    private let text: String
    private let application: String?

    /// - Parameter application: the application that the mail is for, if any.
    public init(subject: String, text: String, application: String?) {
        self.subject = subject
        self.text = text
        self.application = application
    }

    func replaceTexts(of mail: MailTemplate, in words: inout [String: Any]) {
        guard let subject = try? MustacheTemplate(parsing: subject), let text = try? MustacheTemplate(parsing: text)
        else { return }
        var facts = mail.facts
        facts["sender"] = words["sender"]
        facts["app"] = application?.nameInMail ?? words["sender"]
        let rendered = text.render(facts, escaping: .none)
        words["subject"] = subject.render(facts, escaping: .none).onOneLine
        words["text"] = rendered
        words["lines"] = rendered.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            [mail.addresses.contains(String(line)) ? "address" : "line": String(line)]
        }
        words["code"] = nil
        words["links"] = nil
    }
}
