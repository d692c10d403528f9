import Authentication
import Delivery
public import Directory
public import HTTPSupport
import JSON
import OAuth
import Pages
public import Storage
public import Values

/// The last mail to a user, sent when they are deleted.
public struct UserDeletedMail: Sendable {
    private let mail: MailComposer

    public init(mail: MailComposer) { self.mail = mail }

    /// Queues the mail in the transaction that deletes the user. No browser tells a language, so it is the profile's.
    @Sendable public func say(to user: User, at now: Timestamp, in db: any Transaction) throws {
        guard let email = user.email else { return }
        let language = Language.preferred(uiLocales: user.profile["locale"]?.string, acceptLanguage: nil)
        // A user is deleted once, so their id is enough to identify the mail.
        let id = Delivery.ID.ordered(at: now, of: "farewell to \(user.id)".utf8)
        try mail.post(.accountDeleted, to: email, Frame(language: language), id: id)(db)
    }
}
