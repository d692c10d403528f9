import Authentication
import Delivery
public import Directory
public import HTTPSupport
import JSON
import OAuth
import Pages
import Storage
import Values

/// The last mail to a user, sent when they are deleted.
public struct UserDeletedMail: Sendable {
    private let mail: MailComposer

    public init(mail: MailComposer) { self.mail = mail }

    public var subscriber: UserEvents.Subscriber {
        UserEvents.Subscriber(
            "UserDeletedMail",
            [
                .on(.deleted, "sends the user a last mail") { _, user, announcement, db in
                    guard let user = try User.find(user, in: db) else { return }
                    try queue(to: user, at: announcement.now, in: db)
                }
            ])
    }

    /// No browser tells a language, so it is the profile's.
    private func queue(to user: User, at now: Timestamp, in db: any Transaction) throws {
        guard let email = user.email else { return }
        let language = Language.preferred(uiLocales: user.profile["locale"]?.string, acceptLanguage: nil)
        // A user is deleted once, so their id is enough to identify the mail.
        let id = Delivery.ID.ordered(at: now, of: "farewell to \(user.id)".utf8)
        try mail.post(.accountDeleted, to: email, Frame(language: language), id: id)(db)
    }
}
