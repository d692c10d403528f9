import Authentication
import BrowserPages
import Cryptography
import Directory
import Federation
import HTTPSupport
import OAuth
import SPiD

extension UserEvents {
    /// Everyone who acts on what happens to users, in the order in which they do.
    static func subscribers(_ callbacks: Callbacks, _ mail: MailComposer) -> [Subscriber] {
        [
            TokenFamilies.subscriber(telling: callbacks) { AppReturn.Address($0)?.client },
            callbacks.subscriber,
            Verifications.subscriber,
            KnownDevices.subscriber,
            IssuerSubjects.subscriber,
            PhoneVerification.subscriber,
            Agreements.subscriber,
            DataObjects.subscriber,
            UserMails(mail: mail).subscriber,
        ]
    }
}
