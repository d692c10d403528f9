import Mustache

/// A mail in a merchant's own words, with `{{names}}` where mails differ.
///
/// They take the place of our text, its code and its links. What a reader should do who did not ask for the mail, and
/// who sent it, remain ours.
public struct OwnMail: Sendable {
    private let subject: String
    private let text: String
    private let application: String?

    /// - Parameter application: whose user it is, if there is one.
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
