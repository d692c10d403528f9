package import Authentication
public import Delivery
package import Directory
import Mail
public import Pages
package import Storage
import Values

/// Mails to people, in the words of the pages. What is posted is kept with what it tells of, or not at all.
public struct MailComposer: Sendable {
    private let templates: Templates
    private let outbox: Outbox
    package let site: Site

    public init(templates: Templates, outbox: Outbox, site: Site) {
        self.templates = templates
        self.outbox = outbox
        self.site = site
    }

    /// What puts `letter` to `recipient` into the post, in the caller's transaction. An `id` is for who is in it already.
    package func post(
        _ letter: Pages.MailTemplate, to recipient: String, _ frame: Frame, id: Delivery.ID? = nil
    ) -> @Sendable (any Transaction) throws -> Void {
        let parcel = parcel(letter, recipient, frame, id: id)
        return { db in try parcel.store(in: db) }
    }

    /// The same for a letter that whoever asked for it must not know to be sent: it, or a blank one in its place.
    package func reply(_ letter: Pages.MailTemplate, to recipient: EmailAddress, _ frame: Frame) -> Verifications.Post {
        let parcel = parcel(letter, recipient.text, frame)
        return { isSent, db in try (isSent ? parcel : parcel.blank).store(in: db) }
    }

    private func parcel(
        _ letter: Pages.MailTemplate, _ recipient: String, _ frame: Frame, id: Delivery.ID? = nil
    ) -> Delivery {
        let text = templates.mails(letter, in: frame)
        return outbox.parcel(
            Mail.MailMessage(recipient: recipient, subject: text.subject, text: text.text, html: text.html),
            usefulFor: letter.usefulness, id: id)
    }

    /// Has what was posted sent at once. Said after the commit.
    package func send() { outbox.nudge() }

    /// The address of a page of ours.
    package func link(_ path: String) -> String { site.origin + path }
}

extension EmailAddress {
    /// An address that mail can be sent to: not every text that may be a user name is one.
    package init?(reachable text: String?) {
        guard let text, let address = EmailAddress(text), MailAddress(address.text) != nil else { return nil }
        self = address
    }
}

extension Pages.MailTemplate {
    /// After this nobody needs it any more: what is in it has expired.
    fileprivate var usefulness: Duration {
        switch self {
        case .signInCode: Verification.Purpose.signIn.codeLifetime ?? Outbox.longestUse
        case .verifyEmail: Verification.Purpose.verifyEmail.codeLifetime ?? Outbox.longestUse
        case .changeEmailCode: Verification.Purpose.changeEmail.codeLifetime ?? Outbox.longestUse
        case .signUpCode: Verification.Purpose.signUp.linkLifetime ?? Outbox.longestUse
        case .resetPassword, .choosePassword: Verification.Purpose.resetPassword.linkLifetime ?? Outbox.longestUse
        case .confirmAddress: Verification.Purpose.confirmAddress.linkLifetime ?? Outbox.longestUse
        case .signUpExisting, .emailChanged, .passwordChanged, .signInLinked, .deletionScheduled, .accountDeleted:
            Outbox.longestUse
        }
    }
}
