public import Delivery
public import Identity
import JOSE
public import OAuth
import Pages
public import Storage
public import Values

/// What is said when an account goes: a last mail to its person, and word to the clients that knew them.
public struct Farewell: Sendable {
    private let mail: Correspondence
    private let callbacks: Callbacks
    private let outbox: Outbox

    public init(mail: Correspondence, callbacks: Callbacks, outbox: Outbox) {
        self.mail = mail
        self.callbacks = callbacks
        self.outbox = outbox
    }

    /// Puts it into the post, in the transaction in which the account goes. Nobody's browser is there to say a language:
    /// it is the one of the profile.
    @Sendable public func say(to account: Account, at now: Timestamp, in db: any Transaction) throws {
        for callback in try callbacks.deletion(of: account.id, at: now, in: db) {
            let message = Callback(url: callback.uri, body: callback.body, contentType: "text/plain; charset=utf-8")
            try outbox.parcel(message).store(in: db)
        }
        guard let email = account.email else { return }
        let language = Language.preferred(uiLocales: account.profile["locale"]?.string, acceptLanguage: nil)
        try mail.post(.accountDeleted, to: email, Frame(language: language))(db)
    }
}
