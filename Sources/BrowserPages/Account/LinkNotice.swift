import Authentication
import Delivery
public import Directory
public import HTTPSupport
import JSON
import Pages
public import Storage
public import Values

/// What is said to an account's owner when an issuer's word led to it by their address: a mail.
public struct LinkNotice: Sendable {
    private let mail: MailComposer

    public init(mail: MailComposer) { self.mail = mail }

    /// Puts it into the post, in the transaction that links. Whoever is signing in may be anybody: the language is that of
    /// the profile.
    @Sendable public func say(
        to owner: User, of issuer: String, at now: Timestamp, in db: any Transaction
    ) throws {
        guard let email = owner.email else { return }
        let language = Language.preferred(uiLocales: owner.profile["locale"]?.string, acceptLanguage: nil)
        let letter = MailTemplate.signInLinked(provider: issuer, link: mail.link(AccountEndpoint.path))
        // One for each link, also when the transaction runs twice.
        let id = Delivery.ID.ordered(at: now, of: "link of \(issuer) to \(owner.id)".utf8)
        try mail.post(letter, to: email, Frame(language: language), id: id)(db)
    }
}
