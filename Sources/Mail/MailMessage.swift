/// A mail to send: plain text, and the same as HTML.
public struct MailMessage: Sendable, Equatable {
    public let recipient: String
    public let subject: String
    public let text: String
    public let html: String

    public init(recipient: String, subject: String, text: String, html: String) {
        self.recipient = recipient
        self.subject = subject
        self.text = text
        self.html = html
    }
}
