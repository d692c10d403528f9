import JSON
public import Mail

/// Delivers mail through a mailer.
public struct MailTransport: Transport {
    private let mailer: any Mailer
    private let domains = RecipientDomains()

    public init(mailer: any Mailer) { self.mailer = mailer }

    public var kind: Delivery.Kind { .mail }

    public func deliver(_ content: String, _ messageID: MessageID, of share: Delivery.Share) async throws {
        let mail = try MailMessage(stored: content)
        do {
            let domain = mail.recipient.split(separator: "@").last ?? ""
            try await domains.send(to: String(domain), of: share.whole) { try await mailer.send(mail, messageID) }
        } catch MailFailure.refused(let reason) {
            throw Undeliverable.refused(reason)
        } catch MailFailure.temporary(let reason) {
            throw Undeliverable.temporary(reason)
        }
    }
}

extension MailMessage {
    /// The stored form.
    var stored: String {
        JSON.members([
            "recipient": .string(recipient), "subject": .string(subject), "text": .string(text), "html": .string(html),
        ]).text
    }

    init(stored: String) throws {
        let members = try StoredMembers(stored)
        self.init(
            recipient: try members.text("recipient"), subject: try members.text("subject"),
            text: try members.text("text"), html: try members.text("html"))
    }
}
