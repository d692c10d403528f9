import Authentication
import Delivery
public import Directory
public import HTTPSupport
import JSON
import Pages
import Storage
import Values

/// The mail that tells a user that an issuer was linked to them.
public struct UserLinkedMail: Sendable {
    private let mail: MailComposer

    public init(mail: MailComposer) { self.mail = mail }

    public var subscriber: UserEvents.Subscriber {
        UserEvents.Subscriber(
            "UserLinkedMail",
            [
                .on(.linked, "tells the user by mail") { event, user, announcement, db in
                    guard case .linked(let issuer) = event, let user = try User.find(user, in: db) else { return }
                    try queue(to: user, of: issuer, at: announcement.now, in: db)
                }
            ])
    }

    /// The browser may be anyone's, so the language is the profile's.
    private func queue(to owner: User, of issuer: String, at now: Timestamp, in db: any Transaction) throws {
        guard let email = owner.email else { return }
        let language = Language.preferred(uiLocales: owner.profile["locale"]?.string, acceptLanguage: nil)
        let template = MailTemplate.signInLinked(provider: issuer, link: mail.link(AccountEndpoint.path))
        // One mail for each link, also when the transaction runs twice.
        let id = Delivery.ID.ordered(at: now, of: "link of \(issuer) to \(owner.id)".utf8)
        try mail.post(template, to: email, Frame(language: language), id: id)(db)
    }
}
