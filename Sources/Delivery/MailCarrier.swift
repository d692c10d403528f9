import JOSE
public import Mail

/// Carries letters to a mailer.
public struct MailCarrier: Carrier {
    private let mailer: any Mailer

    public init(mailer: any Mailer) { self.mailer = mailer }

    public var kind: Parcel.Kind { .mail }

    public func deliver(_ content: String, _ postmark: Postmark) async throws {
        let letter = try Letter(stored: content)
        do {
            try await mailer.send(letter, postmark)
        } catch MailFailure.refused(let reason) {
            throw Undeliverable.refused(reason)
        } catch MailFailure.temporary(let reason) {
            throw Undeliverable.temporary(reason)
        }
    }
}

extension Letter {
    /// How it is kept.
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
