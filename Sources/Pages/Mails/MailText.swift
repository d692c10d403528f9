/// The content of a mail: its subject, and its body as text and as HTML.
public struct MailText: Sendable {
    public let subject: String
    public let text: String
    public let html: String
}
