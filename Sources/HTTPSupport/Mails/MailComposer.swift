package import Authentication
public import Delivery
package import Directory
import HTTP
import Mail
public import Pages
package import Storage
package import Values

/// Composes mails to users. A mail is stored in the transaction of its cause, or not at all.
public struct MailComposer: Sendable {
    private let templates: Templates
    private let outbox: Outbox
    package let site: Site

    public init(templates: Templates, outbox: Outbox, site: Site) {
        self.templates = templates
        self.outbox = outbox
        self.site = site
    }

    /// Returns what queues a notice, a mail about something that happened, in the caller's transaction. `isVerified`
    /// says whether the recipient has proved to read the address; otherwise they get few. Pass an `id` that no other
    /// mail has, because the transaction may run twice.
    package func notice(
        _ mail: Pages.MailTemplate, to recipient: String, of user: UserID, isVerified: Bool, _ frame: Frame,
        id: Delivery.ID
    ) -> @Sendable (any Transaction) throws -> Void {
        notice(
            delivery(mail, templates.mails(mail, in: frame), recipient, user: "\(user)", id: id), recipient, isVerified)
    }

    /// As above for a notice caused on a page or in a call of a merchant, like `post`.
    package func notice(
        _ mail: Pages.MailTemplate, to recipient: String, isVerified: Bool, _ visit: PageContext
    ) -> @Sendable (any Transaction) throws -> Void {
        notice(delivery(mail, recipient, visit), recipient, isVerified)
    }

    private func notice(
        _ delivery: Delivery, _ recipient: String, _ isVerified: Bool
    ) -> @Sendable (any Transaction) throws -> Void {
        { db in
            guard try isVerified || NoticeThrottle.charge(recipient, at: delivery.createdAt, in: db) else { return }
            try delivery.store(in: db)
        }
    }

    /// Returns what queues `mail` in the caller's transaction. It counts in the share of the merchant on whose page or
    /// in whose call it was caused, so that one merchant's thousands of sign-ups do not delay another's codes.
    package func post(
        _ mail: Pages.MailTemplate, to recipient: String, _ visit: PageContext
    ) -> @Sendable (any Transaction) throws -> Void {
        let delivery = delivery(mail, recipient, visit)
        return { db in try delivery.store(in: db) }
    }

    /// As above for a mail whose requester must not learn whether it is sent: queues it, or a blank delivery instead.
    /// - Parameter user: whom the mail is to, where it is not the user of the page.
    package func reply(
        _ mail: Pages.MailTemplate, to recipient: EmailAddress, of user: UserID? = nil, _ visit: PageContext
    ) -> Verifications.Post {
        visit.posting(delivery(mail, recipient.text, of: user, visit), mail.name)
    }

    private func delivery(
        _ mail: Pages.MailTemplate, _ recipient: String, of user: UserID? = nil, _ visit: PageContext
    ) -> Delivery {
        delivery(
            mail, templates.mails(mail, in: visit.frame, saying: visit.ownWords(for: mail)), recipient,
            of: visit.sender, user: (user ?? visit.request?.whom.user).map { "\($0)" })
    }

    private func delivery(
        _ mail: Pages.MailTemplate, _ text: MailText, _ recipient: String, of merchant: Merchant.ID? = nil,
        user: String?, id: Delivery.ID? = nil
    ) -> Delivery {
        outbox.delivery(
            Mail.MailMessage(recipient: recipient, subject: text.subject, text: text.text, html: text.html),
            usefulFor: mail.usefulness, share: Delivery.Share(merchant?.text ?? ""), id: id,
            about: ["mail": mail.name].merging(user.map { ["user": $0] } ?? [:]) { $1 })
    }

    /// Starts the delivery of what was queued. Call it after the commit.
    package func send() { outbox.nudge() }

    /// The URL of a page of ours.
    package func link(_ path: String) -> String { site.origin + path }
}

extension PageContext {
    /// Queues `delivery`, or a blank one instead, which the log says of the request.
    fileprivate func posting(_ delivery: Delivery, _ kind: String) -> Verifications.Post {
        { [request] heldBack, db in
            if let heldBack { request?.note { $0.heldMail = .init(kind: kind, reason: heldBack.rawValue) } }
            try (heldBack == nil ? delivery : delivery.blank).store(in: db)
        }
    }
}

extension EmailAddress {
    /// An address that mail can be sent to: not every valid user name is one.
    package init?(reachable text: String?) {
        guard let text, let address = EmailAddress(text), MailAddress(address.text) != nil else { return nil }
        self = address
    }
}

extension Pages.MailTemplate {
    /// How long the mail is worth sending: after that, its contents have expired.
    fileprivate var usefulness: Duration {
        switch self {
        case .signInCode: Verification.Purpose.signIn.codeLifetime ?? Outbox.longestUse
        case .verifyEmail: Verification.Purpose.verifyEmail.codeLifetime ?? Outbox.longestUse
        case .changeEmailCode: Verification.Purpose.changeEmail.codeLifetime ?? Outbox.longestUse
        case .signUpCode: Verification.Purpose.signUp.linkLifetime ?? Outbox.longestUse
        case .resetPassword, .choosePassword: Verification.Purpose.resetPassword.linkLifetime ?? Outbox.longestUse
        case .confirmAddress: Verification.Purpose.confirmAddress.linkLifetime ?? Outbox.longestUse
        case .signUpExisting, .emailChanged, .passwordChanged, .signInLinked, .phoneVerified, .deletionScheduled,
            .accountDeleted:
            Outbox.longestUse
        }
    }
}

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
        return visit.posting(delivery, "text")
    }

    /// Starts the delivery of what was queued. Call it after the commit.
    package func send() { outbox.nudge() }
}

extension Timestamp {
    /// The day and the minute in UTC, in a form for every language: 2031-02-03 04:05.
    package var dayText: String {
        let text = iso8601
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    }
}
