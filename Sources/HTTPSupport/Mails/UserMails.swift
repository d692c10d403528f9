import Authentication
import Delivery
public import Directory
import JSON
import Pages
import Storage
import Values

/// The mails that tell a user what happened to them.
public struct UserMails: Sendable {
    private let mail: MailComposer

    public init(mail: MailComposer) { self.mail = mail }

    public var subscriber: UserEvents.Subscriber {
        UserEvents.Subscriber(
            "UserMails",
            [
                .on(.linked, "tells the user by mail") { event, user, announcement, db in
                    guard case .linked(let issuer) = event else { return }
                    let template = MailTemplate.signInLinked(provider: issuer, link: mail.link(PagePath.account))
                    // The key gives one mail for each link, even if the transaction runs twice.
                    try queue(template, to: user, as: "link of \(issuer) to \(user)", at: announcement.now, in: db)
                },
                .on(.deleted, "sends the user a last mail") { _, user, announcement, db in
                    // A user is deleted once, so their id is enough to identify the mail.
                    try queue(.accountDeleted, to: user, as: "deletion of \(user)", at: announcement.now, in: db)
                },
            ])
    }

    /// The language is the profile's, because the browser may be another user's, or there may be none. `name` makes the
    /// mail unique.
    private func queue(
        _ template: MailTemplate, to user: UserID, as name: String, at now: Timestamp, in db: any Transaction
    ) throws {
        guard let user = try User.find(user, in: db), let email = user.email else { return }
        let language = Language.preferred(uiLocales: user.profile["locale"]?.string, acceptLanguage: nil)
        let id = Delivery.ID.ordered(at: now, of: name.utf8)
        let post = mail.notice(
            template, to: email, of: user.id, isVerified: user.emailVerified, Frame(language: language), id: id)
        try post(db)
    }
}
