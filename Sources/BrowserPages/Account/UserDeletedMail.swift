import Authentication
import Delivery
public import Directory
public import HTTPSupport
import JSON
import OAuth
import Pages
public import Storage
public import Values

/// What is said to a person whose account goes: a last mail.
public struct UserDeletedMail: Sendable {
    private let mail: MailComposer

    public init(mail: MailComposer) { self.mail = mail }

    /// Puts it into the post, in the transaction in which the account goes. Nobody's browser is there to say a language:
    /// it is the one of the profile.
    @Sendable public func say(to user: User, at now: Timestamp, in db: any Transaction) throws {
        guard let email = user.email else { return }
        let language = Language.preferred(uiLocales: user.profile["locale"]?.string, acceptLanguage: nil)
        // An account goes once: its number is name enough for the one mail of that.
        let id = Delivery.ID.ordered(at: now, of: "farewell to \(user.id)".utf8)
        try mail.post(.accountDeleted, to: email, Frame(language: language), id: id)(db)
    }
}
