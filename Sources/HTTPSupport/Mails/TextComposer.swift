package import Authentication
public import Delivery
package import Directory
public import Pages
import Values

/// Composes text messages to users. Each is stored in the transaction of its cause, or not at all.
public struct TextComposer: Sendable {
    private let templates: Templates
    private let outbox: Outbox

    public init(templates: Templates, outbox: Outbox) {
        self.templates = templates
        self.outbox = outbox
    }

    /// Returns what queues the code of `draft`, or a blank delivery instead, so that the requester does not learn
    /// which. It counts in the share of the merchant on whose page or in whose call it was asked for, as mails do.
    package func reply(
        _ draft: Verifications.Draft, to phone: PhoneNumber, _ visit: PageContext
    ) -> Verifications.Post {
        let lifetime = draft.verification.purpose.codeLifetime ?? .zero
        let text = templates.texts(code: draft.code ?? "", minutes: Int(lifetime.seconds / 60), in: visit.frame)
        let delivery = outbox.delivery(
            TextMessage(recipient: phone.text, text: text), usefulFor: lifetime,
            share: Delivery.Share(visit.sender?.text ?? ""))
        return { isSent, db in try (isSent ? delivery : delivery.blank).store(in: db) }
    }

    /// Starts the delivery of what was queued. Call it after the commit.
    package func send() { outbox.nudge() }
}
